// One head as a map of exact weights: any size, with zoom and pan.
//
// Header: rows, columns, rows_read (or null), scale, peak.
// Arrays: weights float32 [rows, columns], masked uint8 [rows, columns].
// Emits nothing; tells other views which cell is under the pointer.

const TALLEST_MAP = 560,
  SHORTEST_SIDE = 220,
  LARGEST_GAP = 48,
  LABELLED_FROM = 12,
  HEADROOM = 78,
  COLOUR_BAR = 52;

class Head {
  constructor(root) {
    this.root = root;
    this.canvas = el("canvas", { tabindex: 0, role: "img" });
    this.map = el("div", { class: "map" }, this.canvas);
    this.tip = new Tooltip(this.map);
    this.spoken = el("div", { class: "unseen", "aria-live": "polite" });
    this.where = el("span", { class: "where" });
    const button = (text, name, act, style = "") => {
      const node = el("button", { type: "button", class: style, "aria-label": name, title: name }, text);
      node.onclick = act;
      return node;
    };
    this.tools = el(
      "div",
      { class: "tools" },
      button("+", "Zoom in", () => this.zoom(1.6)),
      button("\u2212", "Zoom out", () => this.zoom(1 / 1.6)),
      button("Whole map", "Show the whole map", () => this.reset(), "wide"),
      this.where,
    );
    this.notes = el("div", { class: "notes" });
    root.replaceChildren(this.map, this.tools, this.notes, this.spoken);
    this.pointers = new Map();
    this.stops = [onWidth(root, () => this.resize()), onCell("head", cell => this.point(cell, false))];
    this.listen();
  }

  listen() {
    const { canvas } = this;
    canvas.onpointerdown = event => this.press(event);
    canvas.onpointermove = event => this.move(event);
    canvas.onpointerup = canvas.onpointercancel = event => this.release(event);
    canvas.onpointerleave = () => !this.pointers.size && this.point(null, true);
    canvas.ondblclick = () => this.reset();
    canvas.onkeydown = event => this.key(event);
    canvas.onblur = () => this.point(null, true);
    // A passive listener could not keep the page from scrolling.
    canvas.addEventListener("wheel", event => this.wheel(event), { passive: false });
  }

  dispose() {
    this.stops.forEach(stop => stop());
    cancelAnimationFrame(this.frame);
  }

  update({ header, arrays }) {
    const shape = `${header.rows.length} ${header.columns.length}`;
    this.header = header;
    this.weights = arrays.weights;
    this.masked = arrays.masked;
    this.theme = themeOf(this.root);
    this.shade = this.shades();
    this.images = new Map();
    this.anyMasked = this.masked.includes(1);
    this.canvas.setAttribute("aria-label", this.label());
    this.notes.textContent = scaleNote(header.scale, header.peak);
    this.notes.hidden = !this.notes.textContent;
    if (shape !== this.shape) this.cell = this.view = null;
    this.shape = shape;
    this.resize();
  }

  label() {
    const { rows, columns } = this.header;
    return (
      `Weights of one head, ${rows.length} rows that look at ${columns.length} columns. ` +
      "Arrow keys move over the cells, with Shift ten at a time; plus and minus zoom, 0 shows all."
    );
  }

  shades() {
    const { rows, columns, scale, peak } = this.header,
      K = columns.length,
      shade = new Uint16Array(rows.length * K);
    for (let i = 0; i < rows.length; i++) {
      const row = this.weights.subarray(i * K, (i + 1) * K);
      const largest = scale === "row" ? row.reduce((a, b) => Math.max(a, b), 0) : 0;
      for (let j = 0; j < K; j++) shade[i * K + j] = Math.round(STEPS * shadeOf(row[j], scale, peak, largest));
    }
    return shade;
  }

  // ---- where things stand: pixels of the canvas, cells of the map ----------------------------------

  resize() {
    const { rows, columns, rows_read: read } = this.header,
      width = this.root.clientWidth;
    if (!width) return;
    pixel.font = `650 14px ${this.theme.font}`;
    const widest = labels => Math.min(110, Math.max(24, ...labels.map(label => pixel.measureText(label).width)));
    this.strong = Math.ceil(widest(rows)) + 26;
    this.muted = read ? Math.ceil(Math.min(90, Math.max(36, widest(read) * 0.93))) + 4 : -14;
    const x = Math.min(24 + this.strong + this.muted, Math.round(width * 0.45));
    const room = width - x - COLOUR_BAR;
    let gap = Math.min(room / columns.length, TALLEST_MAP / rows.length, LARGEST_GAP);
    if (gap >= 6) gap = Math.floor(gap);
    const fitted = this.box?.gap;
    // A few rows that look at hundreds of columns, or the reverse: the short side keeps a size that can be read.
    const along = (count, side) => Math.max(gap, Math.min(side / count, LARGEST_GAP));
    const across = along(columns.length, Math.min(SHORTEST_SIDE, room)),
      down = along(rows.length, SHORTEST_SIDE);
    this.box = { x, y: HEADROOM, w: across * columns.length, h: down * rows.length, gap, across, down, width };
    if (!this.view || this.view.gap <= fitted) this.view = { x: 0, y: 0, gap };
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${HEADROOM + this.box.h + 6}px`;
    this.canvas.dataset.cells = `${x} ${HEADROOM} ${across} ${down}`;
    this.tools.hidden = Math.min(across, down) >= LABELLED_FROM + 3;
    this.look(this.view);
  }

  geometry() {
    return { top: this.box.y, row: this.box.down };
  }

  // Moves the view, kept inside the map and between the whole map and very large cells.
  look({ x, y, gap }) {
    const { box } = this,
      { rows, columns } = this.header;
    gap = clamp(gap, box.gap, Math.max(box.gap, LARGEST_GAP));
    const { across, down } = this.cellSize(gap);
    this.view = {
      gap,
      across,
      down,
      x: clamp(x, 0, columns.length - box.w / across),
      y: clamp(y, 0, rows.length - box.h / down),
    };
    this.map.classList.toggle("zoomed", gap > box.gap * 1.001);
    this.soon();
  }

  // A cell's width and height at a zoom.
  cellSize(gap) {
    return { across: Math.max(gap, this.box.across), down: Math.max(gap, this.box.down) };
  }

  zoom(factor, at = { x: this.box.x + this.box.w / 2, y: this.box.y + this.box.h / 2 }) {
    const { view, box } = this,
      gap = clamp(view.gap * factor, box.gap, Math.max(box.gap, LARGEST_GAP));
    const dx = at.x - box.x,
      dy = at.y - box.y,
      { across, down } = this.cellSize(gap);
    this.look({ gap, x: view.x + dx / view.across - dx / across, y: view.y + dy / view.down - dy / down });
  }

  reset() {
    this.look({ x: 0, y: 0, gap: this.box.gap });
  }

  cellAt({ x, y }) {
    const { box, view } = this;
    if (x < box.x || y < box.y || x >= box.x + box.w || y >= box.y + box.h) return null;
    const row = Math.floor(view.y + (y - box.y) / view.down),
      column = Math.floor(view.x + (x - box.x) / view.across);
    return {
      row: clamp(row, 0, this.header.rows.length - 1),
      column: clamp(column, 0, this.header.columns.length - 1),
    };
  }

  // ---- pointers and keys -----------------------------------------------------------------------------

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  wheel(event) {
    const factor = Math.exp(-clamp(event.deltaY * (event.deltaMode ? 24 : 1), -200, 200) / 300);
    // At its widest the map lets the page scroll on.
    if (factor < 1 && this.view.gap <= this.box.gap * 1.001 && !event.ctrlKey) return;
    if (this.tools.hidden || !this.cellAt(this.at(event))) return;
    event.preventDefault();
    this.zoom(factor, this.at(event));
  }

  press(event) {
    this.pointers.set(event.pointerId, this.at(event));
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    const before = this.pointers.get(event.pointerId),
      now = this.at(event);
    if (!before) return this.point(this.cellAt(now), true);
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
      this.look({
        gap: view.gap,
        x: view.x - (now.x - before.x) / view.across,
        y: view.y - (now.y - before.y) / view.down,
      });
    } else this.point(this.cellAt(now), true);
  }

  release(event) {
    this.pointers.delete(event.pointerId);
    this.map.classList.remove("dragging");
    this.point(this.cellAt(this.at(event)), true);
  }

  key(event) {
    const { rows, columns } = this.header,
      from = this.cell || { row: 0, column: 0 },
      step = event.shiftKey ? 10 : 1;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowLeft: [0, -step], ArrowRight: [0, step], ArrowUp: [-step, 0], ArrowDown: [step, 0] };
    const acts = {
      "+": () => this.zoom(1.6, this.centre()),
      "=": () => this.zoom(1.6, this.centre()),
      "-": () => this.zoom(1 / 1.6, this.centre()),
      0: () => this.reset(),
      Escape: () => this.point(null, true),
    };
    if (moves[event.key]) {
      const [down, right] = this.cell ? moves[event.key] : [0, 0];
      const row = clamp(from.row + down, 0, rows.length - 1),
        column = clamp(from.column + right, 0, columns.length - 1);
      this.point({ row, column }, true);
      this.reveal();
      this.spoken.textContent = this.tip.node.textContent;
    } else if (acts[event.key]) acts[event.key]();
    else return;
    event.preventDefault();
  }

  // Where a key zooms: around the cell that is pointed at, if any.
  centre() {
    const { box, view, cell } = this;
    if (!cell || cell.row === null || cell.column === null) return undefined;
    return { x: box.x + (cell.column + 0.5 - view.x) * view.across, y: box.y + (cell.row + 0.5 - view.y) * view.down };
  }

  reveal() {
    const { view, box, cell } = this,
      wide = box.w / view.across,
      high = box.h / view.down;
    const x = clamp(view.x, cell.column + 1 - wide, cell.column),
      y = clamp(view.y, cell.row + 1 - high, cell.row);
    this.look({ gap: view.gap, x, y });
    this.tell();
  }

  // ---- one cell --------------------------------------------------------------------------------------

  point(cell, own) {
    const nothing = !cell || (cell.row === null && cell.column === null);
    const next = nothing ? null : { row: cell.row, column: cell.column };
    const same = JSON.stringify(next) === JSON.stringify(this.cell);
    if (same && (nothing || own === this.own)) return;
    this.cell = next;
    this.own = own;
    if (own) tellCell(next ? next.row : null, next ? next.column : null, "head");
    this.tell();
    this.soon();
  }

  tell() {
    const { cell, box, view } = this;
    if (!cell || !this.own) return this.tip.hide();
    const { rows, columns } = this.header,
      K = columns.length,
      value = this.weights[cell.row * K + cell.column];
    const names = [bold(rows[cell.row]), " looks at ", bold(columns[cell.column])];
    const place = {
      x: box.x + (cell.column - view.x) * view.across,
      y: box.y + (cell.row - view.y) * view.down,
      w: view.across,
    };
    if (this.masked[cell.row * K + cell.column]) {
      names[1] = " may not look at ";
      return this.tip.show(place, names, [el("span", { class: "muted" }, "masked, which is not a weight of zero")]);
    }
    let rank = 1;
    for (let j = 0; j < K; j++) if (this.weights[cell.row * K + j] > value) rank++;
    const number = el("b", { class: "value" }, weightText(value));
    this.tip.show(place, names, [number, " ", el("span", { class: "muted" }, `${ordinal(rank)} in its row`)]);
  }

  // ---- drawing ---------------------------------------------------------------------------------------

  soon() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  draw() {
    const { box, view, theme } = this,
      { rows, columns } = this.header;
    const context = sized(this.canvas, box.width, box.y + box.h + 6);
    if (this.anyMasked) {
      context.fillStyle = this.hatch(context);
      context.fillRect(box.x, box.y, box.w, box.h);
    }
    const { image, perRow, perColumn } = this.image();
    context.imageSmoothingEnabled = false;
    const wide = box.w / view.across,
      high = box.h / view.down;
    context.drawImage(
      image,
      view.x * perColumn,
      view.y * perRow,
      wide * perColumn,
      high * perRow,
      box.x,
      box.y,
      box.w,
      box.h,
    );
    context.strokeStyle = theme.frame;
    context.lineWidth = 1;
    context.strokeRect(box.x - 0.5, box.y - 0.5, box.w + 1, box.h + 1);
    context.font = `13px ${theme.font}`;
    context.fillStyle = theme.muted;
    this.axes(context);
    this.labels(context);
    this.outline(context);
    this.colourBar(context);
    const span = (from, size, count) => `${Math.floor(from) + 1} to ${Math.min(count, Math.ceil(from + size))}`;
    const pooled =
      Math.min(view.across, view.down) * (window.devicePixelRatio || 1) < 0.999
        ? " Max-pooled to the screen; zoom in for every cell."
        : "";
    const seen = (name, from, size, count) => `${name} ${span(from, size, count)} of ${count}`;
    this.where.textContent =
      view.gap > box.gap * 1.001
        ? `${seen("Rows", view.y, high, rows.length)}, ${seen("columns", view.x, wide, columns.length)}`
        : `${rows.length} × ${columns.length} tokens. Scroll to zoom, drag to move, double click to show all.${pooled}`;
  }

  hatch(context) {
    return this.images.get("hatch") || this.images.set("hatch", hatched(context, this.theme)).get("hatch");
  }

  // One pixel a cell, or fewer where the screen has fewer: then the largest of each bin, so that no cell is lost.
  image() {
    const { rows, columns } = this.header,
      { across, down } = this.view,
      ratio = window.devicePixelRatio || 1;
    const h = Math.ceil(rows.length * Math.min(1, down * ratio)),
      w = Math.ceil(columns.length * Math.min(1, across * ratio)),
      key = `${h} ${w}`;
    if (!this.images.has(key)) {
      const pooled = maxPooled(this.shade, this.masked, rows.length, columns.length, h, w);
      const image = imageOf(pooled.shade, pooled.masked, pooled.rows, pooled.columns, this.theme);
      this.images.set(key, { image, perRow: pooled.rows / rows.length, perColumn: pooled.columns / columns.length });
    }
    return this.images.get(key);
  }

  axes(context) {
    const { box } = this;
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    context.fillText("looks at (key)", box.x + box.w / 2, 13);
    context.save();
    context.translate(11, box.y + box.h / 2);
    context.rotate(-Math.PI / 2);
    context.fillText("looks from (query)", 0, 0);
    context.restore();
    if (!this.header.rows_read) return;
    context.textAlign = "right";
    context.fillText("reads", box.x - this.strong, box.y - 10);
    context.fillText("writes", box.x - 10, box.y - 10);
  }

  // Tokens where the cells are large enough for text, else the positions at round numbers.
  labels(context) {
    const { rows, columns, rows_read: read } = this.header,
      { box, view, theme } = this;
    const textSize = gap => (gap >= 18 ? 14 : gap >= LABELLED_FROM ? 12 : 13);
    const style = (on, gap) => {
      context.font = `${on ? 650 : 400} ${textSize(gap)}px ${theme.font}`;
      context.fillStyle = on ? theme.accent : gap >= LABELLED_FROM ? theme.text : theme.muted;
    };
    context.textBaseline = "middle";
    let named = view.down >= LABELLED_FROM;
    for (const i of this.marks(view.y, box.h / view.down, rows.length, view.down, this.cell?.row)) {
      const y = box.y + (i + 0.5 - view.y) * view.down + 1,
        on = this.cell?.row === i;
      context.textAlign = "right";
      style(on, view.down);
      context.fillText(named ? this.cut(context, rows[i], this.strong - 24) : i + 1, box.x - 10, y);
      if (!named || !read) continue;
      context.font = `${Math.min(13, textSize(view.down))}px ${theme.font}`;
      context.fillStyle = theme.muted;
      context.fillText(this.cut(context, read[i], this.muted - 4), box.x - this.strong, y);
    }
    named = view.across >= LABELLED_FROM;
    for (const j of this.marks(view.x, box.w / view.across, columns.length, view.across, this.cell?.column)) {
      const x = box.x + (j + 0.5 - view.x) * view.across,
        on = this.cell?.column === j;
      style(on, view.across);
      context.save();
      context.translate(x + 3, box.y - 8);
      if (named) context.rotate(((view.across >= 21 ? -42 : -62) * Math.PI) / 180);
      context.textAlign = named ? "left" : "center";
      context.fillText(named ? this.cut(context, columns[j], 78) : j + 1, named ? 0 : -3, named ? 0 : -2);
      context.restore();
    }
  }

  // The places of one axis that are labelled, where `size` of `count` are seen. The one that is pointed at has its
  // number too, and its neighbours make room.
  marks(from, size, count, gap, pointed) {
    const first = Math.max(0, Math.ceil(from - 0.5)),
      last = Math.min(count - 1, Math.floor(from + size - 0.5));
    const all = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n);
    if (gap >= LABELLED_FROM) return all;
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find(n => n * gap >= 40) || 2000;
    const round = all.filter(i => i === 0 || (i + 1) % step === 0);
    return all.includes(pointed) ? [...round.filter(i => Math.abs(i - pointed) * gap >= 30), pointed] : round;
  }

  cut(context, text, width) {
    if (context.measureText(text).width <= width) return text;
    const short = [...text];
    while (short.length > 1 && context.measureText(short.join("") + "…").width > width) short.pop();
    return short.join("") + "…";
  }

  outline(context) {
    const { box, view, cell, theme } = this;
    if (!cell) return;
    context.save();
    context.beginPath();
    context.rect(box.x - 2, box.y - 2, box.w + 4, box.h + 4);
    context.clip();
    context.strokeStyle = theme.accent;
    context.lineWidth = Math.min(view.across, view.down) >= 8 ? 2.5 : 1.5;
    // From a cell of one pixel only its outline is seen: it is never drawn smaller than 4.
    const span = (at, from, start, count, gap) => {
      const size = Math.max(gap, 4);
      return at === null ? [start - from * gap, count * gap] : [start + (at - from) * gap + (gap - size) / 2, size];
    };
    const [x, w] = span(cell.column, view.x, box.x, this.header.columns.length, view.across);
    const [y, h] = span(cell.row, view.y, box.y, this.header.rows.length, view.down);
    context.beginPath();
    context.roundRect(x, y, w, h, 2);
    context.stroke();
    context.restore();
  }

  colourBar(context) {
    const { box, theme } = this,
      { scale, peak } = this.header,
      x = box.x + box.w + 14;
    const ramp = context.createLinearGradient(0, box.y + box.h, 0, box.y);
    theme.stops.forEach((stop, i) => ramp.addColorStop(i / (theme.stops.length - 1), stop));
    context.fillStyle = ramp;
    context.strokeStyle = theme.frame;
    context.lineWidth = 0.8;
    context.beginPath();
    context.roundRect(x, box.y, 8, box.h, 2);
    context.fill();
    context.stroke();
    const marks =
      scale === "row"
        ? [
            [0, "0"],
            [1, "max"],
          ]
        : [0, 0.5, 1].map(v => [v, `${+(v * peak).toPrecision(2)}`]);
    context.font = `13px ${theme.font}`;
    context.fillStyle = theme.muted;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    for (const [value, text] of marks) {
      const y = box.y + box.h * (1 - shadeOf(value, scale, 1, 1));
      context.fillText(text, x + 13, y + (value === 1 ? 10 : value === 0 ? 0 : 4));
    }
  }
}

const mountHead = (root, payload, emit) => mounted(Head, root, payload, emit);
