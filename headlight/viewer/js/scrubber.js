// The written tokens on a line, one of them chosen; under each the shares of the source and of what was written before.
//
// Header: labels, shares (of the source, 0 to 1), selected (from 0), names [source, so far].
// Emits "pick" { step }.

class Scrubber {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.wishes = new Wishes();
    this.send = paced(step => this.emit("pick", { step }));
    this.pressed = event => this.key(event);
    document.addEventListener("keydown", this.pressed);
  }

  dispose() {
    document.removeEventListener("keydown", this.pressed);
  }

  update({ header }) {
    themeOf(this.root);
    const focused = this.root.getRootNode().activeElement?.matches(".step") && this.focused();
    this.header = header;
    this.selected = this.wishes.answered(header.selected);
    this.rtl = rightToLeft(header.labels);
    const way = { dir: directionOf(header.labels) };
    this.steps = header.labels.map((label, step) => this.step(label, step));
    const track = el(
      "div",
      { class: "tokens", role: "radiogroup", "aria-label": "The written token", ...way },
      ...this.steps,
    );
    const key = (kind, name) => el("span", {}, el("i", { class: `key ${kind}` }), name);
    const names = el("div", { class: "names" }, key("so-far", header.names[1]), key("of-source", header.names[0]));
    this.previous = this.button("Previous token", this.rtl ? "→" : "←", -1);
    this.next = this.button("Next token", this.rtl ? "←" : "→", 1);
    const buttons = el("div", { class: "by-one", ...way }, this.previous, this.next);
    this.root.replaceChildren(el("div", { class: "scrubber" }, el("div", { class: "beside" }, buttons, names), track));
    this.mark();
    if (focused) this.steps[this.selected].focus({ preventScroll: true });
  }

  focused() {
    return this.root.contains(this.root.getRootNode().activeElement);
  }

  button(title, sign, by) {
    return clickButton(
      { "aria-label": title, title: `${title} (arrow key)` },
      () => this.pick(this.selected + by),
      sign,
    );
  }

  step(label, step) {
    const share = percent(this.header.shares[step]),
      fill = el("i");
    fill.style.height = `${100 * this.header.shares[step]}%`;
    const [source, rest] = this.header.names;
    const told = `${isolated(label)}: ${share} ${source}, ${percent(1 - this.header.shares[step])} ${rest}`;
    const node = el(
      "div",
      { class: "step", role: "radio", "aria-label": told, title: told },
      el("span", { class: "word", dir: direction(label, this.rtl) }, label),
      el("span", { class: "rail" }),
      el("span", { class: "knob" }),
      el("span", { class: "bar", "aria-hidden": "true" }, fill),
      el("span", { class: "percent", "aria-hidden": "true" }, String(Math.round(100 * this.header.shares[step]))),
    );
    node.onclick = () => this.pick(step);
    return node;
  }

  mark() {
    this.steps.forEach((node, step) => {
      const at = step - this.selected;
      node.classList.toggle("past", at < 0);
      node.classList.toggle("now", at === 0);
      node.setAttribute("aria-checked", String(at === 0));
      node.tabIndex = at === 0 ? 0 : -1;
    });
    this.previous.disabled = this.selected === 0;
    this.next.disabled = this.selected === this.steps.length - 1;
  }

  pick(step, focus = false) {
    if (step < 0 || step >= this.steps.length || step === this.selected) return;
    this.wishes.make(step);
    this.selected = step;
    this.mark();
    if (focus) this.steps[step].focus({ preventScroll: true });
    this.send(step);
  }

  // The arrow keys step where the focus is here, or on nothing in particular.
  key(event) {
    const by = event.key.startsWith("Arrow") ? stepOf(event, this.rtl) : 0,
      here = this.focused();
    if (!by || event.ctrlKey || event.metaKey || event.altKey || !(here || onNothing(event))) return;
    event.preventDefault();
    this.pick(this.selected + by, here);
  }
}

const mountScrubber = (root, payload, emit) => mounted(Scrubber, root, payload, emit);
