// The board of a walk: a row a key, a column a stage; the headers are the stepper, the open stage is wide.

const QUERY_TOP = 112,
  ROWS_TOP = 170,
  MAX_VISIBLE_ROWS = 16,
  MIN_BOARD_ROWS = 7,
  NARROW_BOARD = 700,
  GAP = 10,
  STAGE_MARGIN = 14;

class Pen {
  /** @type {Theme} */ theme;
  fade;
  node;

  constructor(node, theme, fade = "") {
    Object.assign(this, { node, theme, fade });
  }

  put(node, x, y, w, h) {
    Object.assign(node.style, { left: `${x}px`, top: `${y}px`, width: `${w}px` });
    if (h) node.style.height = `${h}px`;
    node.classList.add("put");
    if (this.fade) node.classList.add(this.fade);
    this.node.append(node);
    return node;
  }

  strip(x, y, w, values, limit, name, open, height) {
    const count = open ? values.length : Math.max(4, Math.floor(w / 1.6));
    this.put(
      strip(values, limit, this.theme, name, count),
      x,
      open ? y : y + 1,
      w,
      height ?? (open ? ROW - 4 : ROW - 6),
    );
  }

  text(x, y, w, text, look = "") {
    this.put(el("div", { class: `number ${look}` }, text), x, y, w);
  }

  // In a sentence that runs to the left all its tokens stand at the right.
  label(x, y, w, text, look = "", rtl = false) {
    const side = rtl ? "right" : "";
    this.put(el("div", { class: `aside ${look} ${side}`, dir: direction(text, rtl) }, text), x, y, w);
  }

  title(x, y, w, text, side = "") {
    this.put(el("div", { class: `title ${side}`, title: text }, text), x, y, w);
  }

  cell(x, y, w, text, colour) {
    const node = this.put(el("div", { class: "number cell" }, text), x, y + 1, w, ROW - 6);
    Object.assign(node.style, { background: cssColour(colour), color: inkOn(colour) });
  }

  box(x, y, w, h, look, colour) {
    const node = this.put(el("div", { class: `box ${look}` }), x, y, w, h);
    if (colour) node.style.background = colour;
  }

  // In the dark a weight glows; on paper it is ink.
  glow(x, y, w, h, weight) {
    const dark = this.theme.name === "dark",
      shade = at => cssColour(attentionColour(at, this.theme));
    const node = this.put(el("div", { class: "box" }), x, y, w, h);
    node.style.background = dark
      ? `linear-gradient(90deg,${shade(0.18)},${shade(0.2 + 0.8 * weight)})`
      : shade(0.14 + 0.86 * weight);
    if (dark && weight > 0.15) node.style.boxShadow = `0 0 ${Math.round(22 * weight)}px ${shade(0.45)}`;
  }

  hatch(x, y, w) {
    this.put(el("div", { class: "hatched" }), x, y + 1, w, ROW - 6);
  }
}

class Board {
  title;

  constructor(walk) {
    this.walk = walk;
    this.headers = STAGES.map((_, i) => {
      const parts = ["no", "nm", "fm"].map(name => el("span", { class: name }));
      return clickButton({ class: "stage-head put", tabindex: -1 }, () => walk.jump(i + 1), ...parts);
    });
    this.threads = STAGES.slice(1).map(() => el("div", { class: "thread put" }));
    this.frame = el("div", { class: "opened put" });
    this.inner = el("div", { class: "inner" });
    this.rows = el("div", { class: "rows put" }, this.inner);
    this.part = el("div", { class: "part-seen muted put" });
    this.over = el("div", { class: "over" });
    this.rows.onscroll = () => this.drawRows();
    this.inner.onclick = event => {
      const at = Math.floor((pointerOf(event).y - boxOf(this.inner).top) / ROW);
      if (at >= 0 && at < walk.header.keys.length) walk.change({ key: at });
    };
    this.node = el(
      "div",
      { class: "board", tabindex: 0, role: "group" },
      this.frame,
      ...this.threads,
      this.rows,
      this.part,
      this.over,
      ...this.headers,
    );
    this.node.setAttribute(
      "aria-label",
      "Nine stages of one head. Left and right step, up and down follow another key, space plays.",
    );
  }

  // Where each stage stands, [x, w], or null where there is room for the open one only.
  place() {
    const { stage, header } = this.walk,
      width = this.node.clientWidth;
    const scrolls = header.keys.length > MAX_VISIBLE_ROWS,
      right = scrolls ? 14 : 0;
    const label = width < NARROW_BOARD ? 84 : clamp(Math.round(width * 0.1), 84, 110),
      room = width - 2 - label - right;
    this.label = label;
    if (width < NARROW_BOARD) {
      this.places = STAGES.map((_, i) => (i + 1 === stage ? [label + STAGE_MARGIN, room - 2 * STAGE_MARGIN] : null));
    } else {
      const closed = clamp(Math.floor(width * 0.054), 46, 72),
        open = room - 8 * closed - 9 * GAP - 2 * STAGE_MARGIN;
      let x = label + GAP;
      this.places = STAGES.map((_, i) => {
        const mine = i + 1 === stage,
          place = [x + (mine ? STAGE_MARGIN : 0), mine ? open : closed];
        x = place[0] + place[1] + (mine ? STAGE_MARGIN : 0) + GAP;
        return place;
      });
    }
    const shown = Math.min(header.keys.length, MAX_VISIBLE_ROWS);
    this.high = Math.max(shown, MIN_BOARD_ROWS) * ROW;
    this.resultTop = ROWS_TOP + this.high + 20;
    this.node.style.height = `${this.resultTop + ROW + 14}px`;
    Object.assign(this.rows.style, { top: `${ROWS_TOP}px`, width: `${width}px`, height: `${shown * ROW}px` });
    this.rows.classList.toggle("scrolls", scrolls);
    this.rows.tabIndex = scrolls ? 0 : -1; // what scrolls must be reached by keyboard
    this.part.hidden = !scrolls;
    Object.assign(this.part.style, { left: "8px", top: `${ROWS_TOP + this.high + 2}px`, width: `${width - 8}px` });
    this.inner.style.height = `${header.keys.length * ROW}px`;
  }

  fade(i) {
    return i + 1 > this.walk.stage ? "todo" : i + 1 < this.walk.stage ? "done" : "";
  }

  draw() {
    const { walk } = this;
    this.place();
    this.drawHeads();
    this.drawRows();
    const pen = new Pen(this.over, walk.theme),
      { asks } = walk;
    this.over.replaceChildren();
    pen.label(8, QUERY_TOP - 17, this.label, "query", "small muted");
    pen.label(8, QUERY_TOP, this.label - 8, asks, "strong", this.rtl);
    pen.label(8, this.resultTop, this.label, "result", "small muted");
    STAGES.forEach((stage, i) => {
      if (!this.places[i]) return;
      const [x, w] = this.places[i],
        open = i + 1 === walk.stage;
      pen.fade = this.fade(i);
      if (open)
        for (const [left, wide, text, side] of stage.titles(walk, x, w))
          pen.title(left, ROWS_TOP - 18, wide, text, side);
      stage.query?.(walk, pen, x, QUERY_TOP, w, open);
      stage.block?.(walk, pen, x, ROWS_TOP, w, this.high, open);
      stage.result?.(walk, pen, x, this.resultTop, w, open);
    });
  }

  drawHeads() {
    const { walk } = this,
      width = this.node.clientWidth,
      narrow = width < NARROW_BOARD;
    STAGES.forEach((stage, i) => {
      const button = this.headers[i],
        open = i + 1 === walk.stage,
        [no, nm, fm] = button.children;
      const text = typeof stage.short === "function" ? stage.short(walk) : stage.short,
        long = stage.long(walk);
      const [x, w] = this.places[i] && !narrow ? this.places[i] : [(i * width) / 9, width / 9];
      Object.assign(button.style, { left: `${x}px`, width: `${w}px` });
      button.className = `stage-head put ${open ? "open" : i + 1 < walk.stage ? "done" : "todo"}`;
      button.setAttribute("aria-label", `Stage ${i + 1}: ${long}`);
      button.setAttribute("aria-current", open ? "step" : "false");
      no.textContent = i + 1;
      nm.textContent = narrow ? "" : open ? long : text;
      fm.replaceChildren(...(narrow ? [] : [formula(...(open ? stage.general(walk) : stage.brief(walk)))]));
      if (i === 0) return;
      const [before] = narrow ? [((i - 1) * width) / 9] : this.places[i - 1],
        line = this.threads[i - 1];
      Object.assign(line.style, { left: `${before + 28}px`, width: `${Math.max(0, x - before - 32)}px` });
      line.classList.toggle("walked", i < walk.stage);
    });
    const [x, w] = this.places[walk.stage - 1];
    Object.assign(this.frame.style, {
      left: `${x - STAGE_MARGIN}px`,
      width: `${w + 2 * STAGE_MARGIN}px`,
      top: narrow ? "36px" : "-14px",
      bottom: "0",
    });
    this.named(narrow);
  }

  // Where the stages' names find no room, the open one's stands below the numbers.
  named(narrow) {
    this.title ??= this.node.appendChild(el("div", { class: "stage-name put" }));
    const stage = STAGES[this.walk.stage - 1];
    this.title.hidden = !narrow;
    const [x, w] = this.places[this.walk.stage - 1];
    Object.assign(this.title.style, { left: `${x}px`, width: `${w}px` });
    this.title.replaceChildren(bold(stage.long(this.walk)), formula(...stage.general(this.walk)));
  }

  // Which keys are in sight. The sums and shares below them are those of all.
  tellPart() {
    const count = this.walk.header.keys.length,
      first = Math.round(this.rows.scrollTop / ROW) + 1,
      last = Math.min(count, first + MAX_VISIBLE_ROWS - 1);
    this.part.textContent = `Keys ${first} to ${last} of ${count}; scroll for the others. Sums and shares are over all ${count}.`;
  }

  get rtl() {
    return rightToLeft(this.walk.header.keys);
  }

  // Only the rows that are seen, and a few more: a sentence may have hundreds.
  drawRows() {
    const { walk } = this,
      { header } = walk,
      top = this.rows.scrollTop;
    const from = Math.max(0, Math.floor(top / ROW) - 2),
      to = Math.min(header.keys.length, from + MAX_VISIBLE_ROWS + 5);
    const pen = new Pen(this.inner, walk.theme),
      last = this.places[6] ?? this.places[walk.stage - 1];
    this.tellPart();
    this.inner.replaceChildren();
    for (let j = from; j < to; j++) {
      const y = j * ROW;
      pen.fade = "";
      if (j === walk.key) pen.box(0, y - 1, last[0] + last[1] + 5, ROW - 2, "band");
      const look = j === walk.key ? "strong" : walk.hidden(j) ? "faint" : "";
      pen.label(8, y, this.label - 10, header.keys[j], `key ${look}`, this.rtl);
      STAGES.forEach((stage, i) => {
        if (!this.places[i] || !stage.row) return;
        pen.fade = this.fade(i);
        const [x, w] = this.places[i];
        stage.row(walk, pen, j, x, y, w, i + 1 === walk.stage);
      });
    }
  }

  reveal() {
    const y = this.walk.key * ROW,
      { scrollTop: top, clientHeight: high } = this.rows;
    if (y < top) this.rows.scrollTop = y - ROW;
    if (y + ROW > top + high) this.rows.scrollTop = y + 2 * ROW - high;
  }
}
