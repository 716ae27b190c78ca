// The views in a cell of a notebook. Two outputs of the cell can draw them, of which one does: `drawSaved`, a script in
// HTML that is saved with the notebook, and `drawWidget`, an anywidget, which tells the kernel and hears of it. Where both
// are in one document, whichever comes first draws, and the widget joins what is drawn to the kernel.
//
// The data (headlight/notebook/payload.py), compressed: header selected [kind, layer, head], words, theme (or null),
// caution, rounding, fonts, and kinds { name: layers, heads, unit, off, note, here (the layers whose weights are in
// it), tokens, and words (null, or the same after merging tokens into words): queries, keys, peak, rows, columns,
// rows_read, captions, thumb, and groups [rows, columns], the indices of the tokens in each word, or null }.
// Arrays of each kind: "high" and "low" uint8 [layers that are here, heads, Q, K], the two bytes of weight / unit;
// "masked" and "masked words" uint8; where not all layers are here, "thumbs", "thumbs_masked" and both of "words".

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The weights that were sent in units, as two bytes each.
function inUnits(high, low, unit) {
  const weights = new Float32Array(low.length);
  for (let i = 0; i < weights.length; i++) weights[i] = (high[i] * 256 + low[i]) * unit;
  return weights;
}

// Patterns [count, Q, K] with the tokens of each group merged, as headlight/analysis/combine.py does: rows are averaged,
// columns summed.
function mergedWeights(weights, count, [rowGroups, columnGroups]) {
  const sizeOf = groups => groups.reduce((sum, group) => sum + group.length, 0),
    queries = sizeOf(rowGroups),
    keys = sizeOf(columnGroups);
  const merged = new Float32Array(count * rowGroups.length * columnGroups.length);
  let at = 0;
  for (let n = 0; n < count; n++) {
    for (const rows of rowGroups) {
      for (const columns of columnGroups) {
        let sum = 0;
        for (const i of rows) for (const j of columns) sum += weights[(n * queries + i) * keys + j];
        merged[at++] = sum / rows.length;
      }
    }
  }
  return merged;
}

// What the cell has: of small traces every weight, of large ones some layers and a thumbnail of each head; and what the
// kernel has sent since.
class CellSource {
  header;
  arrays;
  words;
  sent = new Map(); // layers, by kind and layer
  exact = null; // of one head: { kind, layer, head, weights }
  made = new Map(); // what was computed from these

  constructor({ header, arrays }) {
    Object.assign(this, { header, arrays, words: header.words });
  }

  get kinds() {
    return Object.keys(this.header.kinds);
  }

  get hasWords() {
    return this.kinds.some(kind => this.header.kinds[kind].words);
  }

  // Which tokens a kind is shown with: as they are, or merged into words.
  face(kind) {
    const { tokens, words } = this.header.kinds[kind];
    return (this.words && words) || tokens;
  }

  once(make, ...names) {
    const key = names.join(" ");
    if (!this.made.has(key)) this.made.set(key, make());
    return this.made.get(key);
  }

  of(kind) {
    return this.once(() => this.overview(kind), "of", kind, this.words);
  }

  overview(kind) {
    const { layers, heads, off, here } = this.header.kinds[kind],
      { groups, ...face } = this.face(kind),
      named = name => this.arrays[`${kind} ${name}${groups ? " words" : ""}`];
    const masked = named("masked"),
      sizes = /** @type {[number, number]} */ ([face.queries, face.keys]);
    const { thumb, ...arrays } =
      here.length === layers
        ? thumbsOf(this.merged(this.all(kind), layers * heads, groups), layers * heads, sizes, masked, face.peak)
        : { thumb: face.thumb, thumbs: named("thumbs"), thumbs_masked: named("thumbs_masked") };
    const header = { layers, heads, off, scale: "fixed", ...face, thumb };
    return { header, arrays: { ...arrays, masked } };
  }

  all(kind) {
    const [high, low] = ["high", "low"].map(name => this.arrays[`${kind} ${name}`]);
    return this.once(() => inUnits(high, low, this.header.kinds[kind].unit), "all", kind);
  }

  merged(weights, count, groups) {
    return groups ? mergedWeights(weights, count, groups) : weights;
  }

  // Of one layer, before merging.
  tokens(kind, layer) {
    const { heads, here, tokens } = this.header.kinds[kind],
      size = heads * tokens.queries * tokens.keys,
      at = here.indexOf(layer);
    return at < 0 ? this.sent.get(`${kind} ${layer}`) : this.all(kind).subarray(at * size, (at + 1) * size);
  }

  layer(kind, layer) {
    const weights = this.tokens(kind, layer),
      { heads } = this.header.kinds[kind],
      { groups } = this.face(kind);
    return weights ? this.once(() => this.merged(weights, heads, groups), "layer", kind, layer, !!groups) : null;
  }

  // Exact once the kernel has sent it.
  head(kind, layer, head) {
    const { exact } = this;
    if (exact?.kind === kind && exact.layer === layer && exact.head === head) {
      return this.merged(exact.weights, 1, this.face(kind).groups);
    }
    const { queries, keys } = this.of(kind).header,
      size = queries * keys;
    return this.layer(kind, layer)?.subarray(head * size, (head + 1) * size) ?? null;
  }

  take({ header: { kind, layer, head }, arrays: { weights, high, low } }) {
    this.exact = { kind, layer, head, weights };
    if (high) this.sent.set(`${kind} ${layer}`, inUnits(high, low, this.header.kinds[kind].unit));
  }
}

class Cell {
  model = null; // of the widget that joined us to the kernel

  constructor(host, bytes) {
    const data = unpack(bytes),
      { header, arrays } = data;
    this.host = host;
    this.forced = header.theme;
    this.source = new CellSource(data);
    header.fonts.forEach((family, n) => document.fonts.add(new FontFace(family, arrays[`font ${n}`])));
    this.views = new Views(this.source, this.source.kinds, header.selected, header.caution);
    this.views.chose = (...selected) => {
      this.tell("selected", selected);
      this.follow();
    };
    if (this.source.hasWords) this.views.bar.append(this.wordSwitch());
    this.note = el("p", { class: "cell-note" });
    this.rounding = el("p", { class: "cell-note" }, header.rounding);
    this.root = el("div", { class: "themed cell" }, this.views.bar, this.views.main, this.note, this.rounding);
    // Has the colour of the text around us.
    this.around = el("span");
    // No key that is pressed in here is a command of the notebook.
    host.setAttribute("data-lm-suppress-shortcuts", "true");
    const shadow = host.shadowRoot ?? host.attachShadow({ mode: "open" }),
      sheet = new CSSStyleSheet();
    sheet.replaceSync(CELL_STYLE);
    shadow.adoptedStyleSheets = [sheet];
    shadow.replaceChildren(this.around, this.root);
    this.watch();
  }

  // Another width, another theme. A notebook takes a cell out of its page, and may put it back.
  watch() {
    const look = () => this.dark() !== this.isDark && this.draw(),
      themes = new MutationObserver(look),
      system = matchMedia("(prefers-color-scheme: dark)");
    let width = 0;
    const observer = new ResizeObserver(() => {
      const before = width;
      width = this.root.clientWidth;
      if (!this.host.isConnected) {
        themes.disconnect();
        system.removeEventListener("change", look);
        this.views.dispose();
      } else if (width !== before) {
        // Every notebook says on one of these that it has another theme.
        for (const node of [document.documentElement, document.body]) themes.observe(node, { attributes: true });
        system.addEventListener("change", look);
        this.draw();
      }
    });
    observer.observe(this.root);
  }

  wordSwitch() {
    this.box = el("input", { type: "checkbox" });
    this.box.onchange = () => {
      this.merge(this.box.checked);
      this.tell("words", this.box.checked);
    };
    return el("label", { class: "switch" }, this.box, "Whole words");
  }

  merge(words) {
    if (words !== this.source.words) share("held", null); // other tokens stand there
    this.source.words = words;
    this.draw();
  }

  // Light text stands on a dark ground.
  dark() {
    if (this.forced) return this.forced === "dark";
    return luminance(parsed(getComputedStyle(this.around).color)) > 140;
  }

  draw() {
    this.isDark = this.dark();
    this.root.dataset.theme = this.isDark ? "dark" : "light";
    this.views.draw();
    this.follow();
  }

  // What stands around the views.
  follow() {
    if (this.box) this.box.checked = this.source.words;
    this.note.textContent = this.source.header.kinds[this.views.kind].note;
    this.rounding.hidden = !!this.model;
    this.ask();
  }

  // ---- the kernel --------------------------------------------------------------------------------------

  tell(name, value) {
    this.model?.set(name, value);
    this.model?.save_changes();
  }

  // For the exact weights of the head that is chosen, once.
  ask() {
    const { kind, layer, head } = this.views,
      wish = `${kind} ${layer} ${head}`;
    if (!this.model || wish === this.asked) return;
    this.asked = wish;
    this.model.send({ ask: "weights", kind, layer, head, whole_layer: !this.source.tokens(kind, layer) });
  }

  take(message) {
    this.source.take(message);
    const { kind, layer, head } = this.views,
      { header, arrays } = message;
    if (kind !== header.kind || layer !== header.layer) return;
    if (arrays.high) this.views.draw();
    else if (head === header.head) this.views.drawHead();
  }

  // Selection and words go both ways from now on. Returns what ends that.
  join(model) {
    const chosen = () => {
      this.views.choose(...model.get("selected"));
      this.follow();
    };
    const merged = () => this.merge(model.get("words"));
    const received = (_, buffers) => buffers.length && this.take(unpack(bytesOf(buffers[0])));
    this.model = model;
    this.source.words = model.get("words");
    chosen();
    model.on("change:selected", chosen);
    model.on("change:words", merged);
    model.on("msg:custom", received);
    return () => {
      this.model = null;
      this.asked = null;
      model.off("change:selected", chosen);
      model.off("change:words", merged);
      model.off("msg:custom", received);
    };
  }
}

const bytesOf = view => new Uint8Array(view.buffer ?? view, view.byteOffset ?? 0, view.byteLength);

// The elements of this document in which the views with this id are, or will be, drawn by the other output.
const placesOf = (name, id) => [...document.querySelectorAll(`[data-headlight-${name}="${id}"]`)];

// The script in saved HTML: draws into the element beside it, unless the widget has drawn.
function drawSaved(id, text) {
  const host = placesOf("saved", id).find(place => !place.headlight);
  if (!host) return;
  const widget = placesOf("widget", id).find(place => !place.paired);
  if (widget) {
    widget.paired = true;
    host.headlight = true;
    host.hidden = true;
    return;
  }
  host.attachShadow({ mode: "open" }); // what stands in it for those without scripts is seen no more
  host.headlight = inflated(fromBase64(text)).then(bytes => new Cell(host, bytes));
}

// anywidget's render.
async function drawWidget({ model, el: parent }) {
  const id = model.get("_cell_id");
  const saved = placesOf("saved", id).find(place => place.headlight && !place.joined && !place.hidden);
  if (saved) {
    saved.joined = true;
    const leave = (await saved.headlight).join(model);
    return () => {
      saved.joined = false;
      leave();
    };
  }
  const host = el("div", { "data-headlight-widget": id });
  parent.append(host);
  const cell = new Cell(host, await inflated(bytesOf(await payloadOf(model)))),
    leave = cell.join(model);
  return () => {
    leave();
    host.remove();
  };
}

// It is in the widget's state where no HTML is saved beside, or as soon as it was asked for.
function payloadOf(model) {
  if (model.get("_payload").byteLength) return model.get("_payload");
  return new Promise(resolve => {
    const arrived = () => {
      model.off("change:_payload", arrived);
      resolve(model.get("_payload"));
    };
    model.on("change:_payload", arrived);
    model.send({ ask: "page" });
  });
}
