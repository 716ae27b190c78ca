// The shelf of models: a line each, found by name, one opened, up to two ticked for a comparison.
//
// Header: models [{ id, name, languages, parameters, score, score_detail (its test set), size, origin, date, broken }],
//   selected id or null, ticked [id].
// Emits "pick" { open: id }, { tick: [id] }, { compare: [id, id] } or { import: true }.

const COMPARED_MODELS = 2;
const HEADS = ["Name", "Languages", "Parameters", "Score", "Size", "Origin", "Date"];
const RIGHT_ALIGNED = [2, 3, 4, 6];

class Models {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.opened = new Wishes();
    this.ticks = new Wishes();
    this.wanted = "";
    this.find = el("input", {
      type: "search",
      placeholder: "Find by name, language or origin",
      "aria-label": "Find a model",
    });
    this.find.oninput = () => this.draw();
    this.find.onkeydown = event => {
      if (event.key === "Enter" && this.shown.length) this.open(this.shown[0].id);
    };
    this.count = el("span", { class: "count muted", role: "status" });
    this.compare = this.press("compare", "", () => this.emit("pick", { compare: this.ticked }));
    this.importButton = this.press("upload", "Import a model", () => this.emit("pick", { import: true }));
    this.importButton.classList.add("primary");
    const field = el("label", { class: "find" }, icon("search"), this.find);
    this.list = el("div", { class: "shelf" });
    root.replaceChildren(
      el("div", { class: "over" }, field, this.count, el("span", { class: "gap" }), this.compare, this.importButton),
      this.list,
    );
    this.list.onkeydown = event => this.key(event);
  }

  dispose() {}

  press(drawing, text, act) {
    return clickButton({ class: "press" }, act, icon(drawing), el("span", {}, text));
  }

  update({ header }) {
    themeOf(this.root);
    this.models = header.models;
    this.importButton.hidden = header.closed;
    this.selected = this.opened.answered(header.selected);
    this.ticked = this.ticks.answered(header.ticked);
    this.draw();
  }

  draw() {
    const wanted = this.find.value.trim().toLowerCase().split(/\s+/);
    const searched = ({ name, languages, origin, broken }) =>
      `${name} ${languages} ${origin} ${broken ?? ""}`.toLowerCase();
    this.shown = this.models.filter(model => wanted.every(word => searched(model).includes(word)));
    const all = this.models.length,
      some = this.shown.length;
    this.count.textContent = some < all ? `${some} of ${all} models` : all === 1 ? "1 model" : `${all} models`;
    this.compare.lastChild.textContent = this.ticked.length < COMPARED_MODELS ? "Compare two" : "Compare 2 chosen";
    this.compare.disabled = this.ticked.length < COMPARED_MODELS;
    this.compare.title = this.compare.disabled ? "Tick two models in the list first." : "";
    const focused = this.root.getRootNode().activeElement,
      at = focused?.closest?.(".line")?.dataset.id;
    const scrolled = this.list.scrollTop,
      box = focused?.type === "checkbox";
    const heads = HEADS.map((text, i) =>
      el("span", { role: "columnheader", class: RIGHT_ALIGNED.includes(i) ? "n" : "" }, text),
    );
    const top = el(
      "div",
      { class: "line top", role: "row" },
      el("span", { role: "columnheader" }, el("span", { class: "unseen" }, "Compare")),
      ...heads,
    );
    const table = el(
      "div",
      { role: "table", "aria-label": "Models" },
      top,
      ...this.shown.map(model => this.line(model)),
    );
    const none = el("p", { class: "muted none" }, all ? "No model matches." : "No models yet: import one.");
    this.list.replaceChildren(some ? table : none);
    this.list.scrollTop = scrolled;
    const line = at === undefined ? null : this.node(at);
    if (line) line.querySelector(box ? "input" : "button").focus({ preventScroll: true });
    if (this.selected !== this.revealed) this.reveal();
  }

  node(id) {
    return [...this.list.querySelectorAll(".line[data-id]")].find(line => line.dataset.id === id);
  }

  // Only the list may scroll, not the page.
  reveal() {
    const line = this.node(this.selected);
    if (!line) return;
    this.revealed = this.selected;
    const over = line.offsetTop + line.offsetHeight - this.list.clientHeight;
    if (over > this.list.scrollTop) this.list.scrollTop = over + 8;
    if (line.offsetTop - 36 < this.list.scrollTop) this.list.scrollTop = line.offsetTop - 36;
  }

  line(model) {
    const on = model.id === this.selected,
      ticked = this.ticked.includes(model.id);
    const node = el("div", { class: `line ${on ? "on" : ""}`, role: "row", "data-id": model.id });
    const tick = el("input", { type: "checkbox", "aria-label": `Compare ${model.name}` });
    tick.checked = ticked;
    tick.disabled = !!model.broken;
    tick.onchange = () => this.tick(model.id, tick.checked);
    const name = el("button", { type: "button", class: "name", title: model.name }, model.name);
    if (on) name.setAttribute("aria-current", "true");
    const cell = (text, look = "", title = "") =>
      el("span", { role: "cell", class: look, ...(title && { title }) }, text);
    const box = el("label", { role: "cell", class: "tick" }, tick);
    box.onclick = event => event.stopPropagation();
    const rest = model.broken
      ? [
          el(
            "span",
            { role: "cell", class: "broken", title: model.broken },
            icon("warn", 16),
            el("span", {}, model.broken),
          ),
        ]
      : [
          cell(model.languages, "", model.languages),
          cell(model.parameters, "n"),
          cell(model.score, "n", model.score_detail),
          cell(model.size, "n"),
          cell(model.origin, "muted", model.origin),
          cell(model.date, "n muted"),
        ];
    node.append(box, el("span", { role: "cell", class: "named" }, name), ...rest);
    node.onclick = () => this.open(model.id);
    return node;
  }

  open(id) {
    this.opened.make(id);
    this.selected = this.revealed = id;
    this.draw();
    this.emit("pick", { open: id });
  }

  // A third tick takes the place of the older of the two.
  tick(id, on) {
    const rest = this.ticked.filter(other => other !== id);
    this.ticked = on ? [...rest, id].slice(-COMPARED_MODELS) : rest;
    this.ticks.make(this.ticked);
    this.draw();
    this.emit("pick", { tick: this.ticked });
  }

  key(event) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key],
      kind = event.target.type === "checkbox" ? "input" : "button";
    const nodes = [...this.list.querySelectorAll(`.line[data-id] ${kind}`)],
      at = nodes.indexOf(event.target);
    if (!by || at < 0) return;
    event.preventDefault();
    nodes[clamp(at + by, 0, nodes.length - 1)].focus();
  }
}

const mountModels = (root, payload, emit) => mounted(Models, root, payload, emit);
