// The kinds of attention, every head of one, the head that is chosen and its lines, side by side: what the offline file
// and a notebook's cell show alike.
//
// `source` has what is drawn: of(kind) = { header, arrays } of an overview with the labels of both axes and `masked`;
// layer(kind, layer) = its weights [heads, rows, columns] and head(kind, layer, head) = [rows, columns], or null where
// they are not here.

const CLOSED = () => {},
  KIND_TITLES = {
    encoder: translatable("Encoder"),
    decoder: translatable("Decoder"),
    cross: translatable("Cross"),
  };

// Shades from 0 to 255 of patterns [count, Q, K], max-pooled to what a thumbnail can show.
function thumbsOf(weights, count, [queries, keys], masked, peak) {
  const limit = count <= 64 ? 64 : 32,
    pooled = [];
  for (let n = 0; n < count; n++) {
    const part = weights.subarray(n * queries * keys, (n + 1) * queries * keys);
    const shade = Uint16Array.from(part, weight => Math.round(255 * clamp(weight / peak, 0, 1)));
    pooled.push(maxPooled(shade, masked, queries, keys, limit, limit));
  }
  const [{ rows, columns, masked: pooledMask }] = pooled,
    thumbs = new Uint8Array(count * rows * columns);
  pooled.forEach(({ shade }, n) => thumbs.set(shade, n * rows * columns));
  return { thumb: [rows, columns], thumbs, thumbs_masked: pooledMask };
}

class Views {
  source;
  kind;
  layer;
  head;
  chose = (..._) => {};

  constructor(source, kinds, [kind, layer, head], caution) {
    Object.assign(this, { source, kind, layer, head });
    this.buttons = new Map(kinds.map(name => [name, this.button(name)]));
    const group = el(
      "div",
      { class: "kinds", role: "group", "aria-label": gettext("Kind of attention") },
      ...this.buttons.values(),
    );
    this.bar = el("div", { class: "views-bar" }, group);
    this.roots = ["overview", "head", "lines"].map(() => el("div", { class: "hl" }));
    const [overview, map, lines] = this.roots;
    this.name = el("h2");
    this.missing = el(
      "p",
      { class: "missing" },
      gettext("The weights of this layer come from the notebook's kernel. If nothing comes, run the cell again."),
    );
    this.main = el(
      "div",
      { class: "views" },
      el("section", {}, el("h2", {}, gettext("Every head")), overview),
      el("section", {}, this.name, this.missing, map, el("p", { class: "caution" }, caution)),
      el("section", {}, lines),
    );
    this.mounts = new Map();
  }

  button(kind) {
    return clickButton({}, () => this.pick(kind, this.layer, this.head), gettext(KIND_TITLES[kind]));
  }

  // The reader chooses.
  pick(kind, layer, head) {
    this.choose(kind, layer, head);
    this.chose(this.kind, this.layer, this.head);
  }

  // Another kind may have fewer layers or heads.
  choose(kind, layer, head) {
    const { layers, heads } = this.source.of(kind).header;
    if (kind !== this.kind) share("held", null); // its words are others
    Object.assign(this, { kind, layer: Math.min(layer, layers - 1), head: Math.min(head, heads - 1) });
    this.draw();
  }

  draw() {
    const { kind, layer, head } = this,
      [overview, map, lines] = this.roots,
      weights = this.source.layer(kind, layer);
    for (const [name, button] of this.buttons) button.setAttribute("aria-pressed", name === kind);
    this.name.textContent = headName(layer, head);
    this.mounts.set(
      overview,
      mountOverview(overview, this.payload("overview"), (_, [l, h]) => this.pick(kind, l, h)),
    );
    for (const part of [map, lines]) part.hidden = !weights;
    this.missing.hidden = !!weights;
    if (!weights) return;
    this.drawHead();
    this.mounts.set(lines, mountLines(lines, this.payload("lines"), CLOSED));
  }

  // Of the large map alone: its exact weights may come later.
  drawHead() {
    const root = this.roots[1];
    this.mounts.set(root, mountHead(root, this.payload("head"), CLOSED));
  }

  // What is shown, as one of the three views takes it.
  payload(view) {
    const { kind, layer, head } = this,
      { header, arrays } = this.source.of(kind),
      { masked } = arrays;
    if (view === "overview") return { header: { ...header, selected: [layer, head], profile: null }, arrays };
    if (view === "head") {
      const large = { ...header, signed: false, bar: gettext("weight"), title: null, shows: null };
      return { header: large, arrays: { weights: this.source.head(kind, layer, head), masked } };
    }
    const shown = { heads: [head], mass: 0.9 };
    return {
      header: { ...header, shown, title: gettext("Lines") },
      arrays: { weights: this.source.layer(kind, layer) },
    };
  }

  // What the lines show, which the reader may have changed: { heads, mass }.
  lined() {
    return this.roots[2].view.shown;
  }

  dispose() {
    this.mounts.forEach(mount => mount.unmount());
    this.mounts.clear();
  }
}
