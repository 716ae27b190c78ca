// The decoder read at every layer: a column a token, a row a layer, the whole model on top.
//
// Header: reads [T], rows (names, the embedding first), words [row][token][rank], start [row, token] or null,
//   final (text).
// Arrays: shares float32 [rows, T, top].
// Emits "shown" [row, token] or null: the cell that was pinned.

class Lens {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.wishes = new Wishes();
    this.table = el("table", {
      class: "lens",
      role: "grid",
      "aria-label": "What the decoder would predict after each layer. Arrow keys go from cell to cell, Enter pins one.",
    });
    this.frame = el("div", { class: "lens-frame" }, this.table);
    this.most = el("div", { class: "most" });
    this.legend = el("div", { class: "legend" });
    root.replaceChildren(this.frame, this.legend, this.most);
    this.table.onpointerover = event => this.show(event.target.closest(".c"));
    this.table.onpointerleave = () => this.show(null);
    this.table.onfocusin = event => this.show(event.target);
    this.table.onclick = event => this.pin(event.target.closest(".c"));
    this.table.onkeydown = event => this.pressed(event);
    this.send = paced(cell => this.emit("shown", cell));
  }

  dispose() {}

  update({ header, arrays }) {
    this.header = header;
    this.arrays = arrays;
    this.theme = themeOf(this.root);
    this.pinned = this.wishes.answered(header.start);
    const drawn = JSON.stringify([this.theme.name, header.reads, header.words, [...arrays.shares]]);
    if (drawn !== this.drawn) this.build(); // the same table keeps its focus
    this.drawn = drawn;
    this.show(null);
  }

  share(row, token, rank = 0) {
    const { reads, rows } = this.header,
      top = this.arrays.shares.length / reads.length / rows.length;
    return this.arrays.shares[(row * reads.length + token) * top + rank];
  }

  build() {
    const { reads, rows, words, final } = this.header,
      last = rows.length - 1;
    this.rtl = rightToLeft(reads);
    this.frame.dir = directionOf(reads);
    const head = el(
      "tr",
      {},
      el("th", { scope: "col", dir: "ltr" }, this.rtl ? "\u2190 reads" : "reads \u2192"),
      ...reads.map(token => el("th", { scope: "col", title: token, dir: direction(token, this.rtl) }, token)),
    );
    const body = rows.map((name, row) => {
      const cells = reads.map((_, token) => this.cell(row, token, words[row][token][0], words[last][token][0]));
      const note = row === last ? final : row === 0 ? "no layer yet" : "";
      return el("tr", {}, el("th", { scope: "row" }, name, ...(note ? [el("small", {}, note)] : [])), ...cells);
    });
    this.table.replaceChildren(el("thead", {}, head), el("tbody", {}, ...body.reverse()));
    const scale = el("i", { class: "scale" });
    scale.style.background = `linear-gradient(90deg,${this.theme.stops.join(",")})`;
    this.legend.replaceChildren(
      el("span", {}, "probability 0", scale, "1"),
      el("span", {}, "bold: the most probable token of the whole model"),
    );
  }

  cell(row, token, word, final) {
    const { rows, reads } = this.header;
    const share = this.share(row, token),
      colour = attentionColour(share, this.theme),
      [r, t] = this.pinned ?? [this.header.rows.length - 1, 0];
    const node = el(
      "div",
      {
        class: `c${word === final ? " same" : ""}`,
        role: "gridcell",
        tabindex: r === row && t === token ? 0 : -1,
        "data-row": row,
        "data-token": token,
        dir: direction(word, this.rtl),
        "aria-label": `${rows[row]}, after ${isolated(reads[token])}: ${isolated(word)}, probability ${probabilityText(share)}`,
      },
      word,
      el("small", {}, probabilityText(share)),
    );
    Object.assign(node.style, { background: cssColour(colour), color: inkOn(colour) });
    return el("td", { role: "presentation" }, node);
  }

  node(row, token) {
    return this.table.querySelector(`[data-row="${row}"][data-token="${token}"]`);
  }

  pin(node) {
    if (!node) return;
    const cell = [Number(node.dataset.row), Number(node.dataset.token)];
    this.pinned = String(cell) === String(this.pinned) ? null : cell;
    this.wishes.make(this.pinned);
    this.show(null);
    this.send(this.pinned);
  }

  pressed(event) {
    const node = event.target.closest(".c"),
      on = event.key.startsWith("Arrow") && stepOf(event, this.rtl),
      step = on ? [0, on] : { ArrowUp: [1, 0], ArrowDown: [-1, 0] }[event.key];
    if (!node) return;
    if (event.key === "Enter" || event.key === " ") this.pin(node);
    else if (step) {
      const { rows, reads } = this.header;
      const next = this.node(
        clamp(Number(node.dataset.row) + step[0], 0, rows.length - 1),
        clamp(Number(node.dataset.token) + step[1], 0, reads.length - 1),
      );
      node.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
      next.scrollIntoView({ block: "nearest", inline: "nearest" }); // the focus alone is content with a part of it
    } else return;
    event.preventDefault();
  }

  // Where the whole model is least sure: what to show before anybody points anywhere.
  get hardest() {
    const { reads, rows } = this.header,
      last = rows.length - 1;
    return [
      last,
      reads.reduce((least, _, token) => (this.share(last, token) < this.share(last, least) ? token : least), 0),
    ];
  }

  // The likeliest tokens of the cell under the pointer, or of the pinned one.
  show(node) {
    const cell =
      node?.dataset?.row !== undefined
        ? [Number(node.dataset.row), Number(node.dataset.token)]
        : (this.pinned ?? this.hardest);
    this.table.querySelector(".pinned")?.classList.remove("pinned");
    if (this.pinned) this.node(...this.pinned)?.classList.add("pinned");
    const [row, token] = cell,
      { reads, rows, words } = this.header;
    const bars = words[row][token].flatMap((word, rank) => {
      const share = this.share(row, token, rank),
        bar = el("i");
      bar.style.width = `${100 * share}%`;
      return [
        el("span", { class: "word", dir: direction(word) }, word),
        el("span", { class: "track" }, bar),
        el("span", { class: "number" }, weightText(share)),
      ];
    });
    const hint =
      node || this.pinned
        ? ""
        : ", where the whole model is least sure. Point at a cell for its most probable tokens; a click keeps them.";
    this.most.replaceChildren(
      el("div", {}, bold(rows[row]), ", after ", bold(reads[token]), hint),
      el("div", { class: "bars" }, ...bars),
    );
  }
}

const mountLens = (root, payload, emit) => mounted(Lens, root, payload, emit);
