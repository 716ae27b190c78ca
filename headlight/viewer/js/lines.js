// Tokens left and right, joined by lines as wide as the weights; several heads of one layer at once.
//
// Header: rows, columns, rows_read and given (either may be null) as head.js has them, heads, shown { heads, mass }, peak, title, held as head.js has it.
// Arrays: weights float32 [heads, rows, columns].
// The rows stand level with those of the map of one head, where that is beside us and shows them all.
// Emits "shown" { heads, mass } and "held" [row, column] or null.

const MAX_LINE_WIDTH = 7,
  MIN_ROW_HEIGHT = 16, // pixels: no label is left out, a long text scrolls
  MAX_LINES_HEIGHT = 640;

class Lines {
  /** @type {Emit} */ emit;
  /** What a pointer is on: { own, row, column }, and of our own also { side, at }. @type {any} */ pointed = null;

  constructor(root) {
    this.root = root;
    this.wishes = new Wishes();
    this.title = el("span", { class: "title" });
    const heads = gettext("Heads. Shift and click shows one alone.");
    this.chips = el("div", { class: "chips", role: "group", "aria-label": heads });
    this.bar = el("div", { class: "bar" }, this.title, this.chips);
    this.titles = el("div", { class: "titles", "aria-hidden": "true" }, el("span"), el("span"));
    this.base = el("canvas", { "aria-hidden": "true" });
    this.over = el("canvas", { class: "over", "aria-hidden": "true" });
    this.sides = ["left", "right"].map(name => el("div", { class: `side ${name}`, role: "listbox", tabindex: 0 }));
    this.tall = el("div", { class: "tall" }, el("div", { class: "pinned" }, this.base, this.over), ...this.sides);
    this.stage = el("div", { class: "stage" }, this.tall);
    const sliderName = gettext("Share of each row that is drawn, in percent");
    this.slider = el("input", { type: "range", min: 50, max: 100, step: 1, "aria-label": sliderName });
    this.sentence = el("output");
    this.spoken = el("div", { class: "unseen", "aria-live": "polite" });
    const share = el("div", { class: "share" }, this.slider, this.sentence);
    root.replaceChildren(this.bar, this.titles, this.stage, share, this.spoken);
    this.send = paced(shown => this.emit("shown", shown), 250);
    this.holding = new Holding(this, held => this.hold(held));
    this.stops = [
      onWidth(root, () => this.draw()),
      onFonts(() => this.header && this.draw()),
      onCell("lines", cell => this.follow(cell)),
      onShared("map", () => this.header && this.placed()),
    ];
    this.listen();
  }

  listen() {
    this.slider.oninput = () => this.show({ ...this.shown, mass: this.slider.value / 100 });
    this.stage.onscroll = () => this.scrolled();
    this.sides.forEach((side, s) => {
      const at = event =>
        clamp(Math.floor((pointerOf(event).y - boxOf(side).top) / this.row), 0, side.childElementCount - 1);
      side.onpointermove = event => this.isolate(s, at(event));
      side.onclick = event => this.holding.toggle(cellOn(s, at(event)));
      side.onpointerleave = side.onblur = () => this.isolate(s, null);
      side.onkeydown = event => this.key(event, s);
    });
  }

  dispose() {
    this.stops.forEach(stop => stop());
    this.unwatch?.();
    this.holding.dispose();
    cancelAnimationFrame(this.frame);
  }

  update({ header, arrays }) {
    this.header = header;
    this.weights = arrays.weights;
    this.theme = themeOf(this.root);
    this.ranked = [];
    this.pointed = null;
    const { heads, mass } = this.wishes.answered(header.shown),
      known = heads.filter(h => h < header.heads);
    this.shown = { heads: known.length ? known : header.shown.heads, mass };
    this.slider.value = Math.round(this.shown.mass * 100);
    this.holding.answered(header.held, header.rows.length, header.columns.length);
    this.build();
    this.choose();
    this.watch();
    if (this.holding.held) this.hold(this.holding.held);
  }

  build() {
    const { rows, columns, rows_read: read, heads, title } = this.header;
    this.title.textContent = title || "";
    this.title.hidden = !title;
    // Translators: above two columns of tokens, which lines connect: who looks (or is written), and what is looked at.
    this.titles.firstChild.textContent = read ? pgettext("column", "writes") : pgettext("column", "from");
    this.titles.lastChild.textContent = pgettext("column", "looks at");
    const asking = read ? gettext("Tokens being written") : gettext("Tokens that look");
    [rows, columns].forEach((labels, s) => {
      const rtl = rightToLeft(labels),
        side = this.sides[s],
        name = s ? "right" : "left";
      side.setAttribute("aria-label", s ? gettext("Tokens looked at") : asking);
      side.replaceChildren(
        ...labels.map((label, i) =>
          el(
            "div",
            {
              class: "token",
              role: "option",
              id: `${name}-${i}`,
              "aria-selected": "false",
              dir: direction(label, rtl),
              title: !s && read?.[i] ? readsAndWrites(read[i], label) : label,
            },
            label,
          ),
        ),
      );
    });
    this.header.given?.forEach((count, s) => count && this.sides[s].children[count]?.classList.add("written"));
    if (this.chips.childElementCount !== heads) {
      this.chips.replaceChildren(...[...Array(heads).keys()].map(h => this.chip(h)));
    }
    [...this.chips.children].forEach((chip, h) => this.paintDot(chip.firstChild, h));
  }

  chip(head) {
    const chip = clickButton(
      {
        class: "chip",
        "aria-label": gettext("Head {head}", { head: head + 1 }),
        title: gettext("Click shows or hides this head, double click shows it alone"),
      },
      event => (event.shiftKey ? this.solo(head) : this.toggle(head)),
      el("i"),
      `${head + 1}`,
    );
    chip.ondblclick = () => this.solo(head);
    return chip;
  }

  // The dot of a dashed head is striped like its lines.
  paintDot(dot, head) {
    const colour = this.theme.heads[head % 8],
      [on, off] = headDash(head).map(length => length / 2);
    const stripes = `${colour} 0 ${on}px, transparent ${on}px ${on + off}px`;
    dot.style.background = on ? `repeating-linear-gradient(90deg, ${stripes})` : colour;
  }

  toggle(head) {
    const others = this.shown.heads.filter(h => h !== head),
      had = others.length < this.shown.heads.length;
    const heads = had ? others : [...others, head].sort((a, b) => a - b);
    if (heads.length) this.show({ ...this.shown, heads });
  }

  solo(head) {
    this.show({ ...this.shown, heads: [head] });
  }

  show(shown) {
    this.shown = shown;
    this.wishes.make(shown);
    this.choose();
    this.send(shown);
  }

  // What the chosen heads and the chosen mass leave to draw, and the share of all weight that they hide.
  choose() {
    const { heads, mass } = this.shown;
    let hidden = 0,
      total = 0;
    this.drawn = new Map();
    for (const head of heads) {
      const part = this.strongest(head, mass);
      this.drawn.set(head, part.cells);
      hidden += part.hidden;
      total += part.total;
    }
    [...this.chips.children].forEach((chip, h) => chip.setAttribute("aria-pressed", heads.includes(h)));
    const share = total > 0 ? hidden / total : 0;
    const shares = { drawn: percent(mass), hidden: percent(share) };
    this.sentence.textContent = gettext("The strongest {drawn} of each row is drawn, {hidden}\u00a0hidden", shares);
    this.draw();
  }

  // For each row of a head the fewest, largest weights that reach the mass.
  strongest(head, mass) {
    const Q = this.header.rows.length,
      K = this.header.columns.length,
      start = head * Q * K;
    const order = (this.ranked[head] ??= this.rank(head)),
      cells = new Uint8Array(Q * K);
    let hidden = 0,
      total = 0;
    for (let i = 0; i < Q; i++) {
      const row = this.weights.subarray(start + i * K, start + (i + 1) * K);
      const sum = row.reduce((a, b) => a + b, 0),
        wanted = mass >= 1 ? Infinity : (mass - 1e-6) * sum;
      let covered = 0;
      for (let n = 0; n < K && covered < wanted; n++) {
        const j = order[i * K + n];
        if (!(row[j] > 0)) break;
        covered += row[j];
        cells[i * K + j] = 1;
      }
      hidden += sum - covered;
      total += sum;
    }
    return { cells, hidden, total };
  }

  rank(head) {
    const Q = this.header.rows.length,
      K = this.header.columns.length,
      order = new Uint16Array(Q * K);
    for (let i = 0; i < Q; i++) {
      const row = this.weights.subarray((head * Q + i) * K, (head * Q + i + 1) * K),
        part = order.subarray(i * K, (i + 1) * K);
      part.forEach((_, j) => (part[j] = j));
      part.sort((a, b) => row[b] - row[a]);
    }
    return order;
  }

  weight(head, i, j) {
    return this.weights[(head * this.header.rows.length + i) * this.header.columns.length + j];
  }

  // ---- where things stand ------------------------------------------------------------------------

  measure() {
    const { header } = this,
      count = Math.max(header.rows.length, header.columns.length);
    const level = (this.level = this.levelWith(shared.values.map, count));
    const own = ownHeight(this.root),
      [room, most, tallest] = own ? [own - 180, 60, own - 180] : [480, 30, MAX_LINES_HEIGHT];
    this.row = level?.row ?? clamp(Math.floor(room / count), MIN_ROW_HEIGHT, most);
    this.top = Math.max(this.bar.offsetHeight + 32, level?.top ?? 0);
    this.total = count * this.row;
    this.scrolls = this.total > tallest;
    this.high = Math.min(tallest, this.total);
    this.wide = this.titles.clientWidth;
    this.size = this.row >= 20 ? 14 : this.row >= 15 ? 13 : 12;
    pixel.font = `650 ${this.size}px ${this.theme.font}`;
    const width = labels =>
      clamp(Math.max(...labels.map(label => pixel.measureText(label).width)) + 14, 44, this.wide * 0.34);
    this.left = Math.ceil(width(header.rows));
    this.right = Math.floor(this.stageWidth() - width(header.columns));
  }

  // The map of one head, { row, top } in our pixels, where it stands beside us and our bar leaves room for it.
  levelWith(map, count) {
    if (
      !map?.element.isConnected ||
      ownHeight(this.root) ||
      map.row < MIN_ROW_HEIGHT - 4 ||
      count * map.row > MAX_LINES_HEIGHT
    )
      return null;
    const box = boxOf(this.root),
      other = boxOf(map.element);
    const beside = other.width && (other.right <= box.left || other.left >= box.right),
      top = other.top + map.top - box.top;
    return beside && top >= this.bar.offsetHeight + 31 && top < 320 ? { row: map.row, top } : null;
  }

  // The map is there, or another one.
  placed() {
    this.draw();
    this.watch();
  }

  // Whatever stands above us or above the map may still get its height, and then the two no longer stand level.
  watch() {
    this.unwatch?.();
    const map = shared.values.map;
    this.unwatch = map && onNeighbours([this.root, map.element], () => this.moved(map));
  }

  moved(map) {
    const level = this.levelWith(map, Math.max(this.header.rows.length, this.header.columns.length));
    if (level?.top !== this.level?.top) this.draw();
  }

  // A scrollbar takes its width from the stage, not from the root.
  stageWidth() {
    return this.scrolls ? this.wide - 12 : this.wide;
  }

  y(i) {
    return (i + 0.5) * this.row - (this.scrolls ? this.stage.scrollTop : 0);
  }

  draw() {
    if (!this.root.clientWidth) return;
    this.measure();
    this.stage.classList.toggle("scrolls", this.scrolls);
    this.stage.style.height = `${this.high}px`;
    this.tall.style.height = `${this.total}px`;
    this.titles.style.height = `${this.top - this.bar.offsetHeight}px`;
    const [from, to] = this.titles.children;
    Object.assign(from.style, { right: `${this.wide - this.left + 8}px` });
    Object.assign(to.style, { left: `${this.right + 8}px` });
    this.sides.forEach((side, s) => {
      side.style.width = `${s ? this.stageWidth() - this.right : this.left}px`;
      side.style.fontSize = `${this.size}px`;
      side.style.right = s ? `${this.wide - this.stageWidth()}px` : "";
      [...side.children].forEach((token, i) => {
        const high = Math.max(this.row, this.size + 2);
        token.style.top = `${(i + 0.5) * this.row - high / 2}px`;
        token.style.height = token.style.lineHeight = `${high}px`;
      });
    });
    this.web();
    this.mark();
  }

  visible() {
    if (!this.scrolls) return [0, this.header.rows.length];
    const first = Math.floor(this.stage.scrollTop / this.row);
    return [first, Math.min(this.header.rows.length, first + Math.ceil(this.high / this.row) + 1)];
  }

  // All lines, once; hovering only draws above them.
  web() {
    const context = sized(this.base, this.stageWidth(), this.high);
    Object.assign(this.base.style, { width: `${this.stageWidth()}px`, height: `${this.high}px` });
    this.base.hidden = !this.paint(context);
  }

  // Returns whether there is any line.
  paint(context) {
    const [first, last] = this.visible(),
      batch = batchFor(context);
    const K = this.header.columns.length,
      inside = (j, y = this.y(j)) => (y < 0 ? -1 : y > this.high ? 1 : 0);
    for (const [head, cells] of this.drawn) {
      for (let i = first; i < last; i++) {
        const leaving = { "-1": 0, 1: 0 };
        for (let j = 0; j < K; j++) {
          if (!cells[i * K + j]) continue;
          const side = inside(j);
          if (side) leaving[side] += this.weight(head, i, j);
          else this.line(batch, head, this.weight(head, i, j), this.y(i), this.y(j));
        }
        for (const side of [-1, 1]) if (leaving[side]) this.stub(batch, head, leaving[side], this.y(i), side);
      }
    }
    this.stroke(context, batch, this.theme.name === "dark" ? 0.42 : 0.3);
    return batch.size > 0;
  }

  line(batch, head, weight, from, to) {
    const path = this.path(batch, head, weight),
      middle = (this.left + this.right) / 2;
    path.moveTo(this.left, from);
    path.bezierCurveTo(middle, from, middle, to, this.right, to);
  }

  // All that a row looks at above or below the window, as one short line: drawn out, the lines that leave
  // would bury those that stay.
  stub(batch, head, weight, from, side) {
    const path = this.path(batch, head, weight),
      end = this.left + Math.min(28, (this.right - this.left) / 3);
    path.moveTo(this.left, from);
    path.quadraticCurveTo((this.left + end) / 2, from, end, from + side * this.row * 0.45);
  }

  // Lines of one head and one width are one path: a canvas strokes ten paths faster than ten thousand.
  path(batch, head, weight) {
    const exact = (weight / this.header.peak) * MAX_LINE_WIDTH,
      width = clamp(Math.round(exact * 2) / 2, 0.6, MAX_LINE_WIDTH);
    const key = `${head} ${width}`;
    if (!batch.has(key)) batch.set(key, { head, width, lines: batch.context.newPath?.() ?? new Path2D() });
    return batch.get(key).lines;
  }

  stroke(context, batch, opacity) {
    for (const { head, width, lines } of batch.values()) {
      const dash = headDash(head);
      context.lineCap = dash.length ? "butt" : "round";
      context.setLineDash(dash);
      context.strokeStyle = this.theme.heads[head % 8];
      context.lineWidth = width;
      context.globalAlpha = opacity * (width < MAX_LINE_WIDTH / 10 ? 0.55 : 1);
      context.stroke(lines);
    }
    context.globalAlpha = 1;
  }

  scrolled() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.web();
      this.mark();
    });
  }

  // ---- one token -----------------------------------------------------------------------------------

  isolate(side, at) {
    const now = this.pointed;
    if (at === null ? !now?.own : now?.own && now.side === side && now.at === at) return;
    this.pointed = at === null ? null : { own: true, side, at, ...cellOn(side, at) };
    tellCell(this.pointed?.row ?? null, this.pointed?.column ?? null, "lines");
    this.mark();
  }

  hold(held) {
    if (held && this.scrolls) this.reveal(held.row ?? held.column);
    this.mark();
  }

  // What is drawn alone: what our own pointer is on, else what is held, else what another view points at.
  get marked() {
    const held = this.holding.held,
      side = held && held.row === null ? 1 : 0;
    if (this.pointed?.own || !held) return this.pointed;
    return { own: true, side, at: held.row ?? held.column, ...held };
  }

  // Another view's cell: its row is drawn strongly, all else stays as it is.
  follow({ row, column }) {
    if (this.pointed?.own) return;
    const { rows, columns } = this.header,
      within = (at, labels) => at === null || (at >= 0 && at < labels.length);
    const nothing = (row === null && column === null) || !within(row, rows) || !within(column, columns);
    this.pointed = nothing ? null : { own: false, row, column };
    this.mark();
  }

  key(event, side) {
    const last = this.sides[side].childElementCount - 1,
      mark = this.marked;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return this.holding.toggle(mark?.own && mark.side === side ? cellOn(side, mark.at) : null);
    }
    if (event.key === "Escape") this.holding.toggle(null);
    const now = mark?.own && mark.side === side ? mark.at : -1;
    const to = { ArrowDown: now + 1, ArrowUp: now < 0 ? last : now - 1, Home: 0, End: last, Escape: null }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.isolate(side, to === null ? null : clamp(to, 0, last));
    if (to !== null) this.announce();
  }

  announce() {
    const { side, at } = this.pointed,
      { rows, columns } = this.header;
    this.sides[side].setAttribute("aria-activedescendant", `${side ? "right" : "left"}-${at}`);
    if (this.scrolls) this.reveal(at);
    const best = this.cellsOf(this.pointed)
      .sort((a, b) => b.weight - a.weight)
      .slice(0, 3);
    const parts = best.map(({ head, i, j, weight }) =>
      side
        ? gettext("head {head} from {token} {weight}", { head: head + 1, token: rows[i], weight: weightText(weight) })
        : gettext("head {head} at {token} {weight}", { head: head + 1, token: columns[j], weight: weightText(weight) }),
    );
    this.spoken.textContent = `${side ? columns[at] : rows[at]}: ${parts.join(", ") || gettext("no line")}`;
  }

  reveal(at) {
    this.stage.scrollTop = clamp(this.stage.scrollTop, (at + 2) * this.row - this.high, (at - 1) * this.row);
  }

  // The drawn cells of a row, of a column, or (a cell was pointed at) of the cell's row.
  cellsOf({ row, column }) {
    const { rows, columns } = this.header,
      linked = [];
    for (const [head, cells] of this.drawn) {
      const add = (i, j) =>
        cells[i * columns.length + j] && linked.push({ head, i, j, weight: this.weight(head, i, j) });
      if (row !== null) for (let j = 0; j < columns.length; j++) add(row, j);
      else for (let i = 0; i < rows.length; i++) add(i, column);
    }
    return linked;
  }

  mark() {
    const mark = this.marked,
      own = !!mark?.own,
      linked = mark ? this.cellsOf(mark) : [];
    this.over.hidden = !mark;
    this.base.style.opacity = own ? 0.14 : 1;
    this.tall.classList.toggle("isolated", own);
    const strong = linked.filter(cell => cell.weight > 0.2 * this.header.peak);
    this.light(mark, new Set(strong.map(cell => (mark.row !== null ? cell.j : cell.i))));
    if (!mark) return;
    const context = sized(this.over, this.stageWidth(), this.high),
      batch = batchFor(context);
    Object.assign(this.over.style, { width: `${this.stageWidth()}px`, height: `${this.high}px` });
    for (const { head, i, j, weight } of linked) this.line(batch, head, weight, this.y(i), this.y(j));
    this.stroke(context, batch, 1);
    if (own) this.numbers(context, linked, mark.side);
  }

  // Only the tokens that change are touched: there may be a thousand.
  light(mark, strong) {
    for (const token of this.lit || []) {
      token.classList.remove("chosen", "strong");
      token.setAttribute("aria-selected", "false");
    }
    this.lit = [];
    if (!mark) return;
    const opposite = this.sides[mark.row !== null ? 1 : 0];
    for (const i of strong) this.lit.push(opposite.children[i]);
    this.lit.forEach(token => token.classList.add("strong"));
    [mark.row, mark.column].forEach((at, s) => {
      if (at === null) return;
      const token = this.sides[s].children[at];
      token.classList.add("chosen");
      token.setAttribute("aria-selected", `${mark.own}`);
      this.lit.push(token);
    });
  }

  // The weights beside the tokens at the other end; with several heads each says whose it is.
  numbers(context, linked, side) {
    const several = this.drawn.size > 1,
      wide = several ? 50 : 34;
    const most = Math.max(1, Math.floor((this.right - this.left - 24) / wide));
    const taken = new Map();
    let count = 0;
    context.font = `600 12px ${this.theme.font}`;
    context.textBaseline = "middle";
    context.setLineDash([]);
    for (const { head, i, j, weight } of [...linked].sort((a, b) => b.weight - a.weight)) {
      const at = side ? i : j,
        y = this.y(at),
        used = taken.get(at) || 0;
      const crowded = [...taken.keys()].some(other => other !== at && Math.abs(other - at) * this.row < 13);
      // Small weights are written while they are few; more would only bury the lines.
      const small = weight < (count < 6 ? 0.01 : 0.05) * this.header.peak;
      if (small || used >= most || crowded || y < 0 || y > this.high) continue;
      taken.set(at, used + 1);
      count++;
      const x = side ? this.left + 6 + used * wide : this.right - 6 - (used + 1) * wide;
      this.number(context, x, y, wide, weight, several ? head : null);
    }
  }

  number(context, x, y, wide, weight, head) {
    context.fillStyle = this.theme.card;
    context.globalAlpha = 0.9;
    context.beginPath();
    context.roundRect(x, y - 8, wide - 2, 16, 4);
    context.fill();
    context.globalAlpha = 1;
    context.fillStyle = this.theme.text;
    context.textAlign = "right";
    context.fillText(fixed(weight, 2), x + wide - 6, y + 1);
    if (head === null) return;
    context.fillStyle = this.theme.heads[head % 8];
    context.beginPath();
    context.roundRect(x + 3, y - 6, 14, 12, 3);
    context.fill();
    context.fillStyle = luminance(parsed(this.theme.heads[head % 8])) > 125 ? "#14171f" : "#ffffff";
    context.textAlign = "center";
    context.fillText(`${head + 1}`, x + 10, y + 1);
  }
}

const readsAndWrites = (read, written) =>
  gettext("reads {read}, writes {written}", { read: isolated(read), written: isolated(written) });

// Lines to be drawn on a context, by head and width.
const batchFor = context => Object.assign(new Map(), { context });

// A token of the left side is a row, one of the right side a column.
const cellOn = (side, at) => (side ? { row: null, column: at } : { row: at, column: null });

const mountLines = (root, payload, emit) => mounted(Lines, root, payload, emit);
