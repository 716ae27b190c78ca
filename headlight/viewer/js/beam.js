// The tree with its heading, its legend, and what it can be set to show.

const UNDER = {
  total: "cumulative log-probability (nats)",
  log_prob: "log-probability of the token (nats)",
  score: "length-normalised score",
};
const SHOWN = {
  winner: "winner",
  finished: "finished",
  live: "live at the end",
  dropped: "dropped later",
  pruned: "pruned",
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
      { "aria-label": "Under each token" },
      ...Object.entries(UNDER).map(([value, name]) => el("option", { value }, name)),
    );
    this.underBox.onchange = () => this.set({ under: this.underBox.value });
    this.samples = Object.entries(SHOWN).map(([outcome, name]) => this.sample(outcome, name));
    const legend = el("div", { class: "legend" }, ...this.samples);
    const settings = el(
      "div",
      { class: "settings" },
      el("label", {}, "Under each token", this.underBox),
      el("label", {}, this.prunedBox, "Show pruned hypotheses"),
    );
    const top = el("div", { class: "bar" }, el("h2", {}, "The beam"), legend);
    this.node = el(
      "section",
      { class: "searched", "aria-label": "The search as a tree" },
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
    const kept =
      size === 1 ? "One hypothesis is" : `${inWords(size)[0].toUpperCase()}${inWords(size).slice(1)} hypotheses are`;
    const next = size === 1 ? "one is" : `${inWords(size)} are`;
    this.says.textContent = `${kept} kept at each step; the next ${next} shown as pruned. Click a token to see its candidates and its attention.`;
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
    live.lastChild.textContent = whole ? SHOWN.live : "live";
    dropped.lastChild.textContent = whole ? SHOWN.dropped : "dropped";
    this.tree.mark(node, path, horizon);
  }
}
