// One head as a map of exact weights: any size, with zoom and pan.
//
// Header: rows, columns, rows_read (or null), given (of these how many rows and columns are a prompt, or null), scale, peak,
//   signed (weights from -peak to peak), bar (what the colours mean), title [strong, grey] or null, shows { kind, place [layer, head] } of a head that may be drawn ahead of the page's
//   answer (or null), held [row, column] (either may be null) or null, beside { rows, columns, rows_read } of another picture
//   whose cells are to be of the same size, or null.
// Arrays: weights float32 [rows, columns], masked uint8 [rows, columns]; of a difference, before float32 [rows, columns]:
//   what was subtracted.
// Emits "held" [row, column] or null; tells other views which cell is under the pointer, and which is held.

const LARGEST_MAP_CELL = 48; // pixels, as far as one can zoom in

class Head {
  /** @type {Emit} */ emit;
  header;
  box;
  view;
  pointed = null;
  own = false;

  constructor(root) {
    this.root = root;
    this.title = el("div", { class: "head-title" });
    const filling = gettext("Fill the screen, or not (F)");
    this.full = clickButton(
      { class: "full", title: filling, "aria-label": filling },
      () => toggleFull(root),
      icon("full", 18),
    );
    this.canvas = el("canvas", { tabindex: 0, role: "img" });
    this.map = el("div", { class: "map" }, this.canvas);
    this.tip = new Tooltip(this.map);
    this.spoken = el("div", { class: "unseen", "aria-live": "polite" });
    this.where = el("span", { class: "where" });
    const button = (text, name, act, style = "") =>
      clickButton({ class: style, "aria-label": name, title: name }, act, text);
    this.tools = el(
      "div",
      { class: "tools" },
      button("+", gettext("Zoom in"), () => this.zoom(1.6)),
      button("\u2212", gettext("Zoom out"), () => this.zoom(1 / 1.6)),
      button(gettext("Whole map"), gettext("Show the whole map"), () => this.reset(), "wide"),
      this.where,
    );
    this.notes = el("div", { class: "notes" });
    root.replaceChildren(this.title, this.map, this.tools, this.notes, this.spoken);
    this.pointers = new Map();
    this.places = new Wishes();
    this.holding = new Holding(this, held => this.hold(held));
    this.stops = [
      onWidth(root, () => this.resize()),
      onFonts(() => this.header && this.resize()),
      onCell("head", cell => this.point(cell, false)),
      onShared("chosen", chosen => this.foresee(chosen)),
    ];
    this.listen();
  }

  get held() {
    return this.holding.held;
  }

  listen() {
    const { canvas } = this;
    canvas.onpointerdown = event => this.press(event);
    canvas.onpointermove = event => this.move(event);
    canvas.onpointerup = event => this.release(event, true);
    canvas.onpointercancel = event => this.release(event, false);
    canvas.onpointerleave = () => !this.pointers.size && this.point(null, true);
    canvas.ondblclick = () => this.reset();
    canvas.onkeydown = event => this.key(event);
    canvas.onblur = () => this.point(null, true);
    // A passive listener could not keep the page from scrolling.
    canvas.addEventListener("wheel", event => this.wheel(event), { passive: false });
  }

  dispose() {
    this.stops.forEach(stop => stop());
    this.holding.dispose();
    if (shared.values.map?.element === this.canvas) share("map", null);
    cancelAnimationFrame(this.frame);
  }

  update({ header, arrays }) {
    const place = header.shows?.place;
    if (place && String(this.places.answered(place)) !== String(place)) return; // an answer to an earlier choice
    this.rtl = rightToLeft(header.columns);
    this.rowsRtl = rightToLeft(header.rows);
    const shape = `${header.rows.length} ${header.columns.length} ${this.rtl}`;
    this.exact = true;
    this.header = header;
    this.weights = arrays.weights;
    this.masked = arrays.masked;
    this.before = arrays.before;
    this.theme = themeOf(this.root);
    this.colours = header.signed ? PALETTE[this.theme.name].diverging : this.theme.stops;
    this.ramp = header.signed ? shadesOf(this.colours) : this.theme.shades;
    this.shade = this.shades();
    this.images = new Map();
    this.anyMasked = this.masked.includes(1);
    this.entitle(...(header.title ?? []));
    this.canvas.setAttribute("aria-label", this.label());
    const notes = [header.given ? gettext(PROMPT_NOTE) : "", header.signed ? "" : scaleNote(header.scale, header.peak)];
    this.notes.textContent = notes.filter(Boolean).join(" ");
    this.notes.hidden = !this.notes.textContent;
    if (shape !== this.shape) this.pointed = this.view = null;
    this.shape = shape;
    this.holding.answered(header.held, header.rows.length, header.columns.length);
    this.resize();
    if (this.box) this.tell(); // under a pointer that rests, the words and the weight are others
  }

  entitle(strong, grey = "") {
    this.title.replaceChildren(
      el("span", {}, ...(strong ? [bold(strong), " ", el("span", { class: "muted" }, grey)] : [])),
    );
    this.title.append(this.full);
  }

  // Another head was chosen: its shades are there before its exact weights, which alone are told.
  foresee(chosen) {
    const shows = this.header?.shows,
      { rows, columns, scale } = this.header ?? {};
    if (!chosen || shows?.kind !== chosen.kind || scale !== chosen.scale) return;
    const { shades } = chosen;
    if (String([rows.length, columns.length]) !== String([shades.length, shades[0].length])) return;
    this.places.make(chosen.place);
    this.exact = false;
    this.entitle(chosen.title);
    this.weights = Float32Array.from(shades.flat(), shade => shade ?? 0);
    this.shade = Uint16Array.from(this.weights, shade => Math.round(STEPS * shade));
    this.images = new Map();
    this.tell();
    this.soon();
  }

  label() {
    const { rows, columns } = this.header;
    const size = { rows: rows.length, columns: columns.length };
    const what = this.rtl
      ? gettext("Weights of one head, {rows} rows that look at {columns} columns, the first at the right.", size)
      : gettext("Weights of one head, {rows} rows that look at {columns} columns.", size);
    const keys = gettext(
      "Arrow keys move over the cells, with Shift ten at a time; Enter holds one, Escape releases it; plus and minus zoom, 0 shows all.",
    );
    return `${what} ${keys}`;
  }

  shades() {
    const { rows, columns, scale, peak, signed } = this.header,
      K = columns.length,
      shade = new Uint16Array(rows.length * K);
    for (let i = 0; i < rows.length; i++) {
      const row = this.weights.subarray(i * K, (i + 1) * K);
      const largest = scale === "row" ? row.reduce((a, b) => Math.max(a, b), 0) : 0;
      const at = value => (signed ? (1 + clamp(value / peak, -1, 1)) / 2 : shadeOf(value, scale, peak, largest));
      for (let j = 0; j < K; j++) shade[i * K + j] = Math.round(STEPS * at(row[j]));
    }
    return shade;
  }

  // ---- where things stand: pixels of the canvas, cells of the map ----------------------------------
  // A view counts from the left: x, and what is drawn of the columns, are seats.

  // Where a column stands, or which column stands there: the same for both.
  seat(column) {
    return this.rtl && column !== null ? this.header.columns.length - 1 - column : column;
  }

  // Of the columns that are seen, in their order.
  firstColumn() {
    const { x, across } = this.view;
    return this.rtl ? this.header.columns.length - x - this.box.w / across : x;
  }

  resize() {
    const { rows, columns, rows_read: read, beside } = this.header,
      width = this.map.clientWidth,
      before = this.box;
    if (!width) return;
    pixel.font = `650 14px ${this.theme.font}`;
    const widest = (own, other = []) =>
      Math.max(24, ...[...own, ...other].map(label => pixel.measureText(label).width));
    const labels = {
      rows: widest(rows, beside?.rows),
      read: read && widest(read, beside?.rows_read ?? []),
      columns: widest(columns, beside?.columns),
    };
    const most = { rows: beside?.rows.length ?? 0, columns: beside?.columns.length ?? 0 };
    this.box = mapBox(rows.length, columns.length, labels, width, ownHeight(this.root), most);
    const { box } = this,
      { start } = box;
    // Another width shows the same part again, unless the reader had not moved from where the map begins.
    const moved =
      before && this.view && (this.view.across !== before.start.across || this.view.down !== before.start.down);
    const first = this.rtl ? columns.length : 0;
    if (!moved) this.view = { x: this.view?.x ?? first, y: this.view?.y ?? 0, ...start };
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${box.high}px`;
    const whole = box.w + 1 > start.across * columns.length;
    this.tools.hidden = Math.min(start.across, start.down) >= LABELLED_FROM && whole;
    this.look(this.view);
    if (this.held) this.reveal(this.held);
    if (this.root.paper) return;
    // The rows of the lines beside stand level with these, if all are seen.
    const level = box.h + 1 > start.down * rows.length;
    share("map", level ? { element: this.canvas, top: box.y, row: start.down } : null);
  }

  // Moves the view, kept inside the map and between the whole map and very large cells.
  look({ x, y, across, down }) {
    const { box } = this,
      { rows, columns } = this.header;
    across = clamp(across, box.whole.across, Math.max(box.whole.across, LARGEST_MAP_CELL));
    down = clamp(down, box.whole.down, Math.max(box.whole.down, LARGEST_MAP_CELL));
    this.view = {
      across,
      down,
      x: clamp(x, 0, columns.length - box.w / across),
      y: clamp(y, 0, rows.length - box.h / down),
    };
    this.canvas.dataset.cells = [box.x - this.view.x * across, box.y - this.view.y * down, across, down].join(" ");
    this.map.classList.toggle("zoomed", this.parted("across") || this.parted("down"));
    this.map.classList.toggle("tall", this.parted("down"));
    this.soon();
  }

  // Whether only a part of an axis is seen.
  parted(axis) {
    return this.view[axis] > this.box.whole[axis] * 1.001;
  }

  // The smaller side of a cell grows first: ten rows of four hundred columns stay in sight while the columns widen.
  zoom(factor, at = { x: this.box.x + this.box.w / 2, y: this.box.y + this.box.h / 2 }) {
    const { view, box } = this,
      { whole } = box,
      least = Math.min(whole.across, whole.down);
    const gap = clamp(Math.min(view.across, view.down) * factor, least, Math.max(least, LARGEST_MAP_CELL));
    const across = Math.max(gap, whole.across),
      down = Math.max(gap, whole.down),
      dx = at.x - box.x,
      dy = at.y - box.y;
    this.look({ across, down, x: view.x + dx / view.across - dx / across, y: view.y + dy / view.down - dy / down });
  }

  reset() {
    this.look({ x: 0, y: 0, ...this.box.whole });
  }

  // What is at a point: a cell, a label's whole row or column, or nothing.
  cellAt({ x, y }) {
    const { box, view } = this,
      { rows, columns } = this.header;
    const inside = (at, from, size) => at >= from && at < from + size;
    const row = inside(y, box.y, box.h)
      ? clamp(Math.floor(view.y + (y - box.y) / view.down), 0, rows.length - 1)
      : null;
    const column = inside(x, box.x, box.w)
      ? this.seat(clamp(Math.floor(view.x + (x - box.x) / view.across), 0, columns.length - 1))
      : null;
    if (row !== null && column !== null) return { row, column };
    if (row !== null && x < box.x) return { row, column: null };
    if (column !== null && y < box.y && y > 18) return { row: null, column };
    return null;
  }

  // ---- pointers and keys -----------------------------------------------------------------------------

  at(event) {
    const box = boxOf(this.canvas);
    return { x: pointerOf(event).x - box.left, y: pointerOf(event).y - box.top };
  }

  wheel(event) {
    const factor = Math.exp(-clamp(event.deltaY * (event.deltaMode ? 24 : 1), -200, 200) / 300);
    if (this.tools.hidden || !this.cellAt(this.at(event))) return;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      if (!this.parted("across")) return;
      event.preventDefault();
      return this.look({ ...this.view, x: this.view.x + event.deltaX / this.view.across });
    }
    // At its widest the map lets the page scroll on.
    if (factor < 1 && !this.map.classList.contains("zoomed") && !event.ctrlKey) return;
    event.preventDefault();
    this.zoom(factor, this.at(event));
  }

  press(event) {
    const at = this.at(event);
    this.pointers.set(event.pointerId, at);
    this.pressed = this.pointers.size === 1 ? at : null;
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    const before = this.pointers.get(event.pointerId),
      now = this.at(event);
    if (!before) return this.point(this.cellAt(now), true);
    if (this.pressed && Math.hypot(now.x - this.pressed.x, now.y - this.pressed.y) > 4) this.pressed = null;
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    this.pointers.set(event.pointerId, now);
    if (others.length) {
      const apart = (a, b) => Math.hypot(a.x - b.x, a.y - b.y) || 1,
        [other] = others;
      this.zoom(apart(now, other) / apart(before, other), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
    } else if (this.map.classList.contains("zoomed")) {
      this.map.classList.add("dragging");
      const { view } = this;
      this.tip.hide();
      const x = view.x - (now.x - before.x) / view.across,
        y = view.y - (now.y - before.y) / view.down;
      this.look({ ...view, x, y });
    } else this.point(this.cellAt(now), true);
  }

  // A press that did not move is a click: it holds the cell, or a label's row or column.
  release(event, lifted) {
    this.pointers.delete(event.pointerId);
    this.map.classList.remove("dragging");
    const cell = this.cellAt(this.at(event));
    this.point(cell, true);
    if (lifted && this.pressed) this.holding.toggle(cell);
    this.pressed = null;
  }

  key(event) {
    const { rows, columns } = this.header,
      from = this.walked() || { row: 0, column: 0 },
      step = event.shiftKey ? 10 : 1,
      across = this.rtl ? -step : step;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowLeft: [0, -across], ArrowRight: [0, across], ArrowUp: [-step, 0], ArrowDown: [step, 0] };
    const acts = {
      "+": () => this.zoom(1.6, this.centre()),
      "=": () => this.zoom(1.6, this.centre()),
      "-": () => this.zoom(1 / 1.6, this.centre()),
      0: () => this.reset(),
      Enter: () => this.holding.toggle(this.pointed),
      " ": () => this.holding.toggle(this.pointed),
      Escape: () => {
        this.point(null, true);
        this.holding.toggle(null);
      },
    };
    if (moves[event.key]) {
      const [down, on] = this.walked() ? moves[event.key] : [0, 0];
      const row = clamp(from.row + down, 0, rows.length - 1),
        column = clamp(from.column + on, 0, columns.length - 1);
      this.point({ row, column }, true);
      this.reveal(this.pointed);
      this.spoken.textContent = this.tip.node.textContent;
    } else if (acts[event.key]) acts[event.key]();
    else return;
    event.preventDefault();
  }

  // The cell that keys walk on from.
  walked() {
    const cell = this.pointed ?? this.held;
    return cell && { row: cell.row ?? 0, column: cell.column ?? 0 };
  }

  // Where a key zooms: around the cell that is pointed at, if any.
  centre() {
    const { box, view } = this,
      cell = this.walked();
    if (!cell) return undefined;
    const x = box.x + (this.seat(cell.column) + 0.5 - view.x) * view.across;
    return { x, y: box.y + (cell.row + 0.5 - view.y) * view.down };
  }

  reveal(cell) {
    const { view, box } = this,
      shown = (at, from, size) => (at === null ? from : clamp(from, at + 1 - size, at));
    const x = shown(this.seat(cell.column), view.x, box.w / view.across),
      y = shown(cell.row, view.y, box.h / view.down);
    this.look({ ...view, x, y });
    this.tell();
  }

  // ---- one cell --------------------------------------------------------------------------------------

  point(cell, own) {
    const nothing = !cell || (cell.row === null && cell.column === null);
    const next = nothing ? null : { row: cell.row, column: cell.column };
    const same = sameCell(next, this.pointed);
    if (same && (nothing || own === this.own)) return;
    this.pointed = next;
    this.own = own;
    if (own) tellCell(next ? next.row : null, next ? next.column : null, "head");
    this.tell();
    this.soon();
  }

  hold(cell) {
    if (!this.view) return;
    if (cell) this.reveal(cell);
    this.tell();
    this.soon();
  }

  // The rows or columns that are pointed at or held.
  marked(axis) {
    return [this.held, this.pointed].map(cell => cell?.[axis] ?? null).filter(at => at !== null);
  }

  // Of the cell under our own pointer, else of the one that is held.
  tell() {
    const { box, view } = this,
      cell = this.pointed ? this.own && this.pointed : this.held;
    if (!cell || cell.row === null || cell.column === null || !this.exact) return this.tip.hide();
    const { rows, columns, signed } = this.header,
      K = columns.length,
      value = this.weights[cell.row * K + cell.column];
    const named = (label, rtl) => el("b", { dir: direction(label, rtl) }, label),
      both = { query: named(rows[cell.row], this.rowsRtl), key: named(columns[cell.column], this.rtl) },
      names = inParts(gettext("{query} looks at {key}"), both);
    const place = {
      x: box.x + (this.seat(cell.column) - view.x) * view.across,
      y: box.y + (cell.row - view.y) * view.down,
      w: view.across,
    };
    if (this.masked[cell.row * K + cell.column]) {
      const muted = el("span", { class: "muted" }, gettext("masked, which is not a weight of zero"));
      return this.tip.show(place, inParts(gettext("{query} may not look at {key}"), both), [muted]);
    }
    if (signed) {
      const change = (value < 0 ? MINUS : "+") + weightText(Math.abs(value)),
        from = this.before?.[cell.row * K + cell.column];
      const values = { before: weightText(from ?? 0), after: weightText((from ?? 0) + value) };
      const changed = this.before ? ` ${gettext("from {before} to {after}", values)}` : "";
      return this.tip.show(place, names, [
        el("b", { class: "value" }, change),
        el("span", { class: "muted" }, changed),
      ]);
    }
    let rank = 1;
    for (let j = 0; j < K; j++) if (this.weights[cell.row * K + j] > value) rank++;
    const number = el("b", { class: "value" }, weightText(value));
    // Translators: {rank} is "2nd": the weight is the second largest of its row.
    const ranked = gettext("{rank} in its row", { rank: ordinal(rank) });
    this.tip.show(place, names, [number, " ", el("span", { class: "muted" }, ranked)]);
  }

  // ---- drawing ---------------------------------------------------------------------------------------

  soon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  draw() {
    const { box, view } = this;
    this.paint(sized(this.canvas, box.width, box.high));
    this.where.textContent = this.seen(box.w / view.across, box.h / view.down);
  }

  paint(context) {
    const { box, view, theme } = this;
    if (this.anyMasked) {
      context.fillStyle = this.hatch(context);
      context.fillRect(box.x, box.y, box.w, box.h);
    }
    const { image, perRow, perColumn } = this.image();
    context.imageSmoothingEnabled = false;
    const wide = box.w / view.across,
      high = box.h / view.down,
      part = [view.x * perColumn, view.y * perRow, wide * perColumn, high * perRow];
    context.drawImage(image, ...part, box.x, box.y, box.w, box.h);
    context.strokeStyle = theme.frame;
    context.lineWidth = 1;
    context.strokeRect(box.x - 0.5, box.y - 0.5, box.w + 1, box.h + 1);
    drawTitles(context, this);
    drawLabels(context, this);
    drawPrompt(context, this);
    drawOutlines(context, this);
    drawScrollBars(context, this);
    drawColourBar(context, this);
  }

  // Which part of the map is seen, and how to see another.
  seen(wide, high) {
    const { view } = this,
      { rows, columns } = this.header;
    const first = from => Math.floor(from) + 1,
      last = (from, size, count) => Math.min(count, Math.ceil(from + size - 1e-6));
    if (this.map.classList.contains("zoomed")) {
      const from = this.firstColumn();
      return gettext(
        "Rows {first_row} to {last_row} of {rows}, columns {first_column} to {last_column} of {columns}. Drag to move.",
        {
          first_row: first(view.y),
          last_row: last(view.y, high, rows.length),
          rows: rows.length,
          first_column: first(from),
          last_column: last(from, wide, columns.length),
          columns: columns.length,
        },
      );
    }
    const size = { rows: rows.length, columns: columns.length },
      how = gettext("{rows} × {columns} tokens. Scroll to zoom, drag to move, double click to show all.", size),
      pooled = Math.min(view.across, view.down) * pixelsOf(this.canvas) < 0.999;
    return pooled ? `${how} ${gettext("Max-pooled to the screen; zoom in for every cell.")}` : how;
  }

  hatch(context) {
    return this.images.get("hatch") || this.images.set("hatch", hatched(context, this.theme)).get("hatch");
  }

  // One pixel a cell, or fewer where the screen has fewer: then the largest of each bin, so that no cell is lost.
  image() {
    const { rows, columns } = this.header,
      { across, down } = this.view,
      ratio = pixelsOf(this.canvas);
    const h = Math.ceil(rows.length * Math.min(1, down * ratio)),
      w = Math.ceil(columns.length * Math.min(1, across * ratio)),
      key = `${h} ${w}`;
    if (!this.images.has(key)) {
      const pooled = maxPooled(this.shade, this.masked, rows.length, columns.length, h, w);
      const image = imageOf(pooled.shade, pooled.masked, pooled.rows, pooled.columns, { shades: this.ramp }, this.rtl);
      this.images.set(key, { image, perRow: pooled.rows / rows.length, perColumn: pooled.columns / columns.length });
    }
    return this.images.get(key);
  }
}

const mountHead = (root, payload, emit) => mounted(Head, root, payload, emit);
