// A row of choices of which one is chosen: one stop for the Tab key, arrow keys inside.

class Chips {
  constructor(label, pick) {
    this.node = el("div", { class: "choices", role: "radiogroup", "aria-label": label });
    this.pick = pick;
    this.node.onclick = event => {
      const at = this.buttons.indexOf(event.target.closest("button"));
      if (at >= 0) this.pick(at);
    };
    this.node.onkeydown = event => {
      const step = stepOf(event, this.node.dir === "rtl") || { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      const to = clamp(this.chosen + step, 0, this.buttons.length - 1);
      if (to !== this.chosen) this.pick(to);
      this.buttons[to].focus();
    };
  }

  show(labels, chosen, colours = null) {
    const text = JSON.stringify([labels, colours]);
    if (text !== this.text) {
      const rtl = rightToLeft(labels);
      this.node.dir = directionOf(labels);
      this.buttons = labels.map((label, i) => {
        const button = el("button", { type: "button", role: "radio", dir: direction(label, rtl) }, label);
        if (colours) {
          const dot = el("i", { "aria-hidden": "true" });
          dot.style.background = colours[i % colours.length];
          button.prepend(dot);
        }
        return button;
      });
      this.node.replaceChildren(...this.buttons);
    }
    this.text = text;
    this.chosen = chosen;
    this.buttons.forEach((button, i) => {
      button.setAttribute("aria-checked", i === chosen);
      button.tabIndex = i === chosen ? 0 : -1;
    });
    const box = this.node,
      mine = this.buttons[chosen];
    if (mine.offsetTop < box.scrollTop || mine.offsetTop + mine.offsetHeight > box.scrollTop + box.clientHeight)
      box.scrollTop = mine.offsetTop - 8;
  }
}

function labelled(text, node) {
  return el("div", { class: "labelled" }, el("div", { class: "muted", "aria-hidden": "true" }, text), node);
}
