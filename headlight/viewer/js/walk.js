// One query through one head: the board, what stands above it (head, query, switches) and what it says below.
//
// Header: kind "encoder" | "decoder" | "cross", layer, head, heads, query (from 0), d_model, d_head, keys [K],
//   queries, writes (labels; null in the encoder), first (the block reads the embedding), cross, pre (norm before),
//   positions ("sinusoidal", "learned", "stored" or "none"), scaled (embeddings, by √d_model), rms (norms have no
//   mean), relative (positions are a bias on the scores), adjusts ("divide", "bias" or "nothing": what stage 4 does),
//   biased, output_biased, hides (whether the decoder masks later tokens), agreement { pattern, output },
//   moved [variant] = [weights, output],
//   start { stage from 1, key from 0 or null, unscaled, unmasked }.
// Arrays, float32: tokens, positions (where the block reads them), embedded (their sum, where it is normed), stream,
//   normed (where the norm comes before) [K, M], x, x_normed, bias [M], q [D], k, v [K, D], scores, distance (the bias
//   of stage 4, where there is one) [K]; visible uint8 [K];
//   and for each variant (2 * unscaled + unmasked): adjusted, weights [K], heads [H, D], moved [H, M], added, total,
//   after [M].
// Emits "pick" { head } or { query }, from 0, and "shown", the same fields as start.

const STAGE_MS = 1800,
  WALK_REPORT_DELAY_MS = 350;
const SWITCHES = ["unscaled", "unmasked"];

class Walk {
  /** @type {Emit} */ emit;
  unscaled;
  unmasked;
  stage;

  constructor(root) {
    this.root = root;
    this.heads = new Chips("Head", head => this.pick({ head }));
    this.queries = new Chips("Query token", query => this.pick({ query }));
    this.switches = SWITCHES.map(name =>
      clickButton({ role: "switch", class: "switch" }, () => this.change({ [name]: !this[name] }), el("i"), el("span")),
    );
    this.note = el("div", { class: "note", role: "status" });
    this.board = new Board(this);
    this.math = el("div", { class: "worked" });
    this.words = el("div", { class: "words", "aria-live": "polite" });
    this.legend = el("div", { class: "legend" });
    const controls = el(
      "div",
      { class: "controls" },
      labelled("Head", this.heads.node),
      labelled("Query token", this.queries.node),
      el("div", { class: "switches" }, ...this.switches),
    );
    root.replaceChildren(
      controls,
      this.note,
      this.board.node,
      this.foot(),
      el("div", { class: "say" }, this.math, this.words),
      this.legend,
    );
    this.tip = new Tooltip(root);
    tellNumbers(root, this.tip);
    // The keys work on the board, and left and right anywhere on the page that has no use for them itself.
    this.onKey = event => onNothing(event) && keyOf(event).startsWith("Arrow") && this.pressed(event, false);
    window.addEventListener("keydown", this.onKey);
    this.board.node.onkeydown = event => event.target === this.board.node && this.pressed(event, true);
    this.stop = onWidth(root, () => this.draw());
  }

  dispose() {
    this.pause();
    clearTimeout(this.telling);
    window.removeEventListener("keydown", this.onKey);
    this.stop();
  }

  foot() {
    const button = (label, path, by) =>
      clickButton({ class: "press", "aria-label": label }, () => this.step(by), icon(path));
    this.player = clickButton({ class: "press wide" }, () => (this.timer ? this.pause() : this.play()));
    this.where = el("span", { class: "muted where" });
    this.check = el("span", { class: "check" });
    return el(
      "div",
      { class: "foot" },
      button("Previous stage", "back", -1),
      button("Next stage", "forward", 1),
      this.player,
      this.where,
      this.check,
    );
  }

  // ---- what is shown -------------------------------------------------------------------------------

  update({ header, arrays }) {
    const start = JSON.stringify(header.start),
      other = String(this.header?.keys) !== String(header.keys);
    this.header = header;
    this.arrays = arrays;
    this.theme = themeOf(this.root);
    if (start !== this.start) Object.assign(this, header.start);
    else if (other) this.key = null;
    this.start = start;
    this.masks = arrays.visible.includes(0);
    this.key = this.key === null || this.key >= header.keys.length ? this.strongest() : this.key;
    this.limits = this.measure();
    this.board.node.classList.remove("waiting");
    this.draw();
    if (other) this.board.reveal();
  }

  // Where nothing is followed yet: the key that gets most.
  strongest() {
    const weights = this.real("weights");
    return weights.indexOf(Math.max(...weights));
  }

  // The colours of vectors that are added up share one scale.
  measure() {
    const {
      arrays: a,
      header: { cross },
    } = this;
    const product = a.k.map((value, i) => value * a.q[i % a.q.length]);
    const x = limitOf(cross ? a.x : a.stream, this.real("total"), a.embedded ?? []),
      normed = limitOf(a.normed ?? a.x_normed ?? a.x),
      qk = limitOf(a.q, a.k);
    return {
      x,
      stream: cross ? limitOf(a.stream) : x,
      tokens: x,
      positions: x,
      embedded: x,
      normed,
      x_normed: normed,
      q: qk,
      k: qk,
      v: limitOf(a.v),
      product: limitOf(product),
      z: limitOf(this.real("heads")),
      moved: limitOf(this.real("moved"), this.real("added")),
      after: limitOf(this.real("after")),
    };
  }

  // A value times its weight is as full as the value where the weight is the largest.
  limit(name) {
    return name === "weighted" ? this.limits.v * Math.max(...this.of("weights")) : this.limits[name];
  }

  row(name, j) {
    const values = this.arrays[name],
      size = values.length / this.header.keys.length;
    return values.subarray(j * size, (j + 1) * size);
  }

  // What stage 4 does to the scores: "divide", "bias" or "nothing".
  get adjusts() {
    return this.header.adjusts;
  }

  get unadjusted() {
    return this.unscaled && this.adjusts !== "nothing";
  }

  get variant() {
    return (this.unadjusted ? 2 : 0) + (this.masks && this.unmasked ? 1 : 0);
  }

  of(name, variant = this.variant) {
    const values = this.arrays[name],
      size = values.length / 4;
    return values.subarray(variant * size, (variant + 1) * size);
  }

  // What the model computed.
  real(name) {
    return this.of(name, 0);
  }

  // What this head gives.
  get z() {
    const { head, d_head: size } = this.header;
    return this.of("heads").subarray(head * size, (head + 1) * size);
  }

  get asks() {
    return this.header.queries[this.header.query];
  }

  get follows() {
    return this.header.keys[this.key];
  }

  largest(values) {
    return Math.max(...[...values].map(Math.abs), 1e-9);
  }

  hidden(j) {
    return !this.arrays.visible[j] && !this.unmasked;
  }

  // ---- what the reader does ------------------------------------------------------------------------

  change(what) {
    Object.assign(this, what);
    this.draw();
    if ("key" in what) this.board.reveal();
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      const { stage, key, unscaled, unmasked } = this;
      this.emit("shown", { stage, key, unscaled, unmasked });
    }, WALK_REPORT_DELAY_MS);
  }

  // The page computes another head or query; until it answers, the choice is shown and the numbers are pale.
  pick(what) {
    this.chips({ ...this.header, ...what });
    this.board.node.classList.add("waiting");
    this.emit("pick", what);
  }

  jump(stage) {
    this.pause();
    this.change({ stage: clamp(stage, 1, STAGES.length) });
  }

  step(by) {
    this.jump(this.stage + by);
  }

  play() {
    if (this.stage === STAGES.length) this.change({ stage: 1 });
    this.timer = setInterval(() => {
      this.change({ stage: this.stage + 1 });
      if (this.stage === STAGES.length) this.pause();
    }, STAGE_MS);
    this.labelPlayer();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.labelPlayer();
  }

  labelPlayer() {
    this.player.replaceChildren(icon(this.timer ? "pause" : "play"), this.timer ? "Pause" : "Play");
  }

  pressed(event, onBoard) {
    const follow = by => onBoard && this.change({ key: clamp(this.key + by, 0, this.header.keys.length - 1) });
    const acts = {
      ArrowLeft: () => this.step(-1),
      ArrowRight: () => this.step(1),
      ArrowUp: () => follow(-1),
      ArrowDown: () => follow(1),
      Home: () => this.jump(1),
      End: () => this.jump(STAGES.length),
      " ": () => this.player.click(),
    };
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
    const key = keyOf(event);
    if (!plain || !acts[key]) return;
    if (onBoard || key === "ArrowLeft" || key === "ArrowRight") event.preventDefault();
    acts[key]();
  }

  // ---- drawing -------------------------------------------------------------------------------------

  draw() {
    if (!this.header || !this.root.clientWidth) return;
    const stage = STAGES[this.stage - 1];
    this.chips(this.header);
    const idle = [
      this.adjusts === "nothing" ? "This model leaves these scores as they are" : "",
      this.masks ? "" : "Nothing is masked for this query",
    ];
    const without = { divide: ["Without √d", el("sub", {}, "head")], bias: ["Without the position bias"] };
    const labels = [without[this.adjusts] ?? ["Without scaling"], ["Without the mask"]];
    this.switches.forEach((button, i) => {
      button.setAttribute("aria-checked", Boolean(this[SWITCHES[i]]) && !idle[i]);
      button.disabled = Boolean(idle[i]);
      button.title = idle[i];
      button.lastChild.replaceChildren(...labels[i]);
    });
    this.board.draw();
    this.labelPlayer();
    this.where.textContent = `Stage ${this.stage} of ${STAGES.length}. Arrow keys step, a click on a row follows it.`;
    this.math.replaceChildren(...stage.worked(this).map(line => formula(...line)));
    this.words.replaceChildren(...stage.words(this));
    this.verdict();
    this.explain();
  }

  chips({ heads, head, queries, query }) {
    this.heads.show(
      Array.from({ length: heads }, (_, h) => String(h + 1)),
      head,
      this.theme.heads,
    );
    this.queries.show(queries, query);
  }

  // Whether the numbers are the model's, and by how much they may differ.
  verdict() {
    const { agreement, moved, d_head } = this.header,
      shown = this.variant;
    const { pattern, output } = agreement;
    const own = `Equal to the model's own: weights within ${scientific(pattern)}, output within ${scientific(output)}`;
    const other = () => `Not what the model computed: a weight differs by up to ${compact(moved[shown][0], 3)}`;
    this.check.replaceChildren(icon(shown ? "off" : "check"), shown ? other() : own);
    this.check.title = shown
      ? ""
      : "Weights: the largest difference from the recorded pattern. Output: the vector of stage 9 sent through the " +
        "rest of the layer, and the largest difference from what the layer left, as a share of its largest number.";
    this.check.classList.toggle("off", shown > 0);
    const adjustment = this.adjusts === "bias" ? "the position bias" : `the division by √${d_head}`;
    const left = [...(this.unadjusted ? [adjustment] : []), ...(shown % 2 ? ["the mask"] : [])];
    const without = left.join(" and ");
    this.note.hidden = !shown;
    this.note.textContent =
      `From stage ${this.unadjusted ? 4 : 5} on this is what this head would do without ${without}. ` +
      "The model did not compute it; its other heads are as they were.";
  }

  explain() {
    const bar = (stops, low, high) => {
      const node = el("i", { class: "scale" });
      node.style.background = `linear-gradient(90deg,${stops.join(",")})`;
      return el("span", {}, low, node, high);
    };
    const signed = bar(PALETTE[this.theme.name].signed, "below zero", "above zero");
    const masked = el("span", {}, el("i", { class: "hatched small" }), "masked, which is not zero");
    const closed = el("span", {}, "Closed columns show the first numbers only; open one to see them all.");
    const limits = STAGES[this.stage - 1].scale?.(this) ?? [];
    const full = limits.length
      ? [el("span", {}, `Full colour here: ${limits.map(([name, at]) => `${name} ±${compact(at)}`).join(", ")}.`)]
      : [];
    this.legend.replaceChildren(
      signed,
      ...(this.masks ? [masked] : []),
      bar(this.theme.stops, "weight 0", "1"),
      ...full,
      closed,
    );
  }
}

const mountWalk = (root, payload, emit) => mounted(Walk, root, payload, emit);
