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
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
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
      this.buttons = labels.map((label, i) => {
        const button = el("button", { type: "button", role: "radio" }, label);
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

const CHECKED = "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0 -18M8 12.2l2.8 2.8L16 9.5";
const OFF = "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0 -18M12 7.5v5.5M12 16v.2";
const LEFT = "M15 6l-6 6 6 6",
  RIGHT = "M9 6l6 6-6 6",
  PLAY = "M8 5.5l10 6.5-10 6.5z",
  PAUSE = "M9 6v12M15 6v12";

function drawn(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function icon(path) {
  return drawn(
    "svg",
    { viewBox: "0 0 24 24", width: 18, height: 18, "aria-hidden": "true", class: "icon" },
    drawn("path", { d: path }),
  );
}
