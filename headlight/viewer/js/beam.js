// The tree with its heading, its legend, and what it can be set to show.

const UNDER = {
  total: translatable("cumulative log-probability (nats)"),
  log_prob: translatable("log-probability of the token (nats)"),
  score: translatable("length-normalised score"),
};
const SHOWN = {
  winner: translatable("winner"),
  finished: translatable("finished"),
  live: translatable("live at the end"),
  dropped: translatable("dropped later"),
  pruned: translatable("pruned"),
};

class BeamView {
  pruned;
  under;
  nodes;

  // `choose` is called with a node, `changed` when something else is to be shown of the tree.
  constructor(root, choose, changed) {
    this.changed = changed;
    this.tree = new TreeView(root, choose);
    this.says = el("p", { class: "sub" });
    this.prunedBox = el("input", { type: "checkbox" });
    this.prunedBox.onchange = () => this.set({ pruned: this.prunedBox.checked });
    this.underBox = el(
      "select",
      { "aria-label": gettext("Under each token") },
      ...Object.entries(UNDER).map(([value, name]) => el("option", { value }, gettext(name))),
    );
    this.underBox.onchange = () => this.set({ under: this.underBox.value });
    this.samples = Object.entries(SHOWN).map(([outcome, name]) => this.sample(outcome, gettext(name)));
    const legend = el("div", { class: "legend" }, ...this.samples);
    const settings = el(
      "div",
      { class: "settings" },
      el("label", {}, gettext("Under each token"), this.underBox),
      el("label", {}, this.prunedBox, gettext("Show pruned hypotheses")),
    );
    const top = el("div", { class: "bar" }, el("h2", {}, gettext("The beam")), legend);
    this.node = el(
      "section",
      { class: "searched", "aria-label": gettext("The search as a tree") },
      top,
      el("div", { class: "bar" }, this.says, settings),
      this.tree.node,
    );
  }

  sample(outcome, name) {
    const line = svg("path", { class: `edge ${outcome}`, d: "M1 8h30" }),
      box = svg("rect", { x: 8, y: 2, width: 16, height: 12, rx: 4 });
    const drawing = svg(
      "svg",
      { width: 32, height: 16, class: "sample", "aria-hidden": "true" },
      line,
      svg("g", { class: `node ${outcome}` }, box),
    );
    return el("span", { class: outcome }, drawing, el("span", {}, name));
  }

  open({ pruned, under }) {
    Object.assign(this, { pruned, under });
    this.prunedBox.checked = pruned;
    this.underBox.value = under;
    this.tree.middled = false;
  }

  set(setting) {
    Object.assign(this, setting);
    this.tree.update(this.nodes, this);
    this.changed();
  }

  // A search with one sentence has no tree to show.
  update({ strategy: { searches, size } }, nodes) {
    this.nodes = nodes;
    this.node.hidden = !searches;
    const number = inWords(size);
    this.says.textContent = ngettext(
      "One hypothesis is kept at each step; the next one is shown as pruned. Click a token to see its candidates and its attention.",
      "{Number} hypotheses are kept at each step; the next {number} are shown as pruned. Click a token to see its candidates and its attention.",
      size,
      { number, Number: number[0].toUpperCase() + number.slice(1) },
    );
    this.resize();
  }

  resize() {
    if (this.node.hidden) return;
    this.tree.tree = null;
    this.tree.update(this.nodes, this);
  }

  // Before the search has ended, nobody knows the winner, or who is live then.
  mark(node, path, horizon) {
    if (this.node.hidden) return;
    const [winner, , live, dropped] = this.samples,
      whole = horizon === Infinity;
    winner.hidden = !whole;
    live.lastChild.textContent = whole ? gettext(SHOWN.live) : gettext("live");
    dropped.lastChild.textContent = whole ? gettext(SHOWN.dropped) : gettext("dropped");
    this.tree.mark(node, path, horizon);
  }
}
