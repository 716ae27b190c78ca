// One head at each snapshot of a training: a strip of pictures, a rail to step along, and a play button.
//
// Header: of (whose), steps [N], step (looked at, or null), rows [Q], columns [K], sure [N] (mean of the rows' largest
//   weights), settled [N] (rows that look where they look in the last snapshot), note.
// Arrays: weights [N, Q, K], masked uint8 [Q, K].
// Emits "pick" { step } some time after the last move.

const FRAME_MS = 800,
  FRAMES = { least: 56, most: 104, gap: 12, edge: 8 };

class Film {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.shared = new SharedStep(() => this.mark());
    this.player = clickButton({ class: "player" }, () => (this.timer ? this.pause() : this.play()));
    this.words = el("div", { class: "words", "aria-live": "polite" });
    this.strip = el("div", { class: "strip" });
    this.knob = el("u");
    this.done = el("b");
    this.rail = el("div", { class: "rail", role: "slider", tabindex: 0, "aria-label": "Snapshot", "aria-valuemin": 1 });
    this.box = el("div", { class: "film" }, this.strip, this.rail);
    this.note = el("div", { class: "note muted" });
    root.replaceChildren(el("div", { class: "telling" }, this.player, this.words), this.box, this.note);
    this.tip = new Tooltip(root);
    this.rail.onkeydown = event => this.key(event);
    this.rail.onpointerdown = event => this.drag(event);
    this.stop = onWidth(root, () => this.draw());
    this.labelPlayer();
  }

  dispose() {
    this.pause();
    this.shared.dispose();
    this.stop();
  }

  update({ header, arrays }) {
    if (this.header && header.of !== this.header.of) this.pause();
    this.header = header;
    this.arrays = arrays;
    this.theme = themeOf(this.root);
    this.rtl = rightToLeft(header.columns);
    this.shared.answered(header.step, header.of);
    this.note.textContent = header.note;
    this.rail.setAttribute("aria-valuemax", header.steps.length);
    this.draw();
  }

  // ---- drawing -------------------------------------------------------------------------------------

  draw() {
    const { steps, rows, columns } = this.header,
      width = this.root.clientWidth,
      count = steps.length;
    if (!width) return;
    const fit = (width - FRAMES.gap * (count - 1)) / count,
      aspect = clamp(columns.length / rows.length, 0.5, 2);
    this.frame = Math.floor(clamp(fit, FRAMES.least, FRAMES.most));
    const high = Math.round(Math.min(this.frame / aspect, 1.3 * this.frame));
    this.strip.style.gap = `${FRAMES.gap}px`;
    this.frames = steps.map((step, n) => {
      const canvas = el("canvas", { "aria-hidden": "true" }),
        picture = el("div", { class: "picture" }, canvas);
      picture.style.height = `${high}px`;
      canvas.style.width = `${this.frame}px`;
      canvas.style.height = `${high}px`;
      const node = el("div", { class: "frame", "data-step": step }, picture, el("span", {}, stepName(step)));
      node.style.width = `${this.frame}px`;
      node.onclick = () => this.go(n);
      picture.onpointermove = event => this.hover(event, n);
      picture.onpointerleave = () => this.tip.hide();
      return { node, canvas };
    });
    this.strip.replaceChildren(...this.frames.map(frame => frame.node));
    this.frames.forEach(({ canvas }, n) => this.picture(canvas, n, this.frame, high));
    const at = n => FRAMES.edge + this.frame / 2 + n * (this.frame + FRAMES.gap);
    this.at = at;
    this.rail.style.width = `${at(count - 1) + this.frame / 2}px`;
    this.rail.style.setProperty("--from", `${at(0)}px`);
    this.rail.style.setProperty("--to", `${this.frame / 2}px`);
    this.dots = steps.map((_, n) => {
      const dot = el("i");
      dot.style.left = `${at(n)}px`;
      return dot;
    });
    this.rail.replaceChildren(this.done, ...this.dots, this.knob);
    this.mark();
  }

  picture(canvas, n, width, height) {
    const { rows, columns } = this.header,
      size = rows.length * columns.length,
      { theme, arrays } = this;
    const context = sized(canvas, width, height),
      ratio = context.getTransform().a,
      shade = new Uint16Array(size);
    for (let i = 0; i < size; i++) shade[i] = Math.round(STEPS * clamp(arrays.weights[n * size + i], 0, 1));
    const pooled = maxPooled(
      shade,
      arrays.masked,
      rows.length,
      columns.length,
      Math.round(height * ratio),
      Math.round(width * ratio),
    );
    context.fillStyle = hatched(context, theme);
    context.fillRect(0, 0, width, height);
    context.imageSmoothingEnabled = false;
    const image = imageOf(pooled.shade, pooled.masked, pooled.rows, pooled.columns, theme, this.rtl);
    context.drawImage(image, 0, 0, width, height);
  }

  // ---- moves ---------------------------------------------------------------------------------------

  // The latest snapshot up to the step that is looked at.
  get now() {
    const { steps } = this.header,
      { value } = this.shared;
    return value === null ? steps.length - 1 : Math.max(0, lastUpTo(steps, value));
  }

  go(n) {
    const to = clamp(n, 0, this.header.steps.length - 1);
    this.shared.choose(this.header.steps[to], pick => this.emit("pick", pick));
    if (this.timer) this.shared.hush();
  }

  play() {
    const last = this.header.steps.length - 1;
    if (this.now === last) this.go(0);
    this.timer = setInterval(() => {
      this.go(this.now + 1);
      if (this.now === last) this.pause();
    }, FRAME_MS);
    this.labelPlayer();
  }

  pause() {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
    this.labelPlayer();
    this.go(this.now);
  }

  labelPlayer() {
    const name = this.timer ? "Pause" : "Play";
    this.player.replaceChildren(icon(name.toLowerCase(), 20));
    this.player.setAttribute("aria-label", `${name} the snapshots`);
    this.player.title = name;
  }

  key(event) {
    const { now } = this,
      last = this.header.steps.length - 1;
    const to = { ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, Home: 0, End: last }[
      keyOf(event)
    ];
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === " ") this.player.click();
    else if (to === undefined) return;
    else this.go(to);
    event.preventDefault();
  }

  drag(event) {
    const follow = moved => {
      const x = pointerOf(moved).x - boxOf(this.rail).left;
      const n = Math.round((x - this.at(0)) / (this.frame + FRAMES.gap));
      if (clamp(n, 0, this.dots.length - 1) !== this.now || moved === event) this.go(n);
    };
    this.rail.setPointerCapture(event.pointerId);
    this.rail.onpointermove = follow;
    this.rail.onpointerup = () => (this.rail.onpointermove = null);
    follow(event);
  }

  // ---- what is said --------------------------------------------------------------------------------

  mark() {
    if (!this.frames) return;
    const { now } = this,
      { steps, rows, sure, settled } = this.header;
    this.frames.forEach(({ node }, n) => {
      node.classList.toggle("on", n === now);
      node.ariaCurrent = n === now ? "step" : null;
    });
    this.dots.forEach((dot, n) => dot.classList.toggle("past", n <= now));
    this.knob.style.left = `${this.at(now)}px`;
    this.done.style.width = `${this.at(now) - this.at(0)}px`;
    this.reveal(this.frames[now].node);
    const named = steps[now] === 0 ? "Before the first step" : `Step ${integer(steps[now])}`;
    const look = `a row gives its strongest key ${percent(sure[now])} on average`;
    const same =
      now === steps.length - 1 ? "" : `; ${settled[now]} of ${rows.length} rows already have their final strongest key`;
    this.words.replaceChildren(bold(`${named}.`), ` ${look[0].toUpperCase()}${look.slice(1)}${same}.`);
    this.rail.setAttribute("aria-valuenow", now + 1);
    this.rail.setAttribute("aria-valuetext", `${named}: ${look}${same}`);
  }

  reveal(node) {
    const { box } = this,
      left = node.offsetLeft,
      right = left + node.offsetWidth;
    if (left < box.scrollLeft + 8) box.scrollLeft = left - 40;
    else if (right > box.scrollLeft + box.clientWidth - 8) box.scrollLeft = right - box.clientWidth + 40;
  }

  hover(event, n) {
    const { rows, columns } = this.header,
      box = boxOf(event.currentTarget);
    const q = clamp(Math.floor(((pointerOf(event).y - box.top) / box.height) * rows.length), 0, rows.length - 1);
    const last = columns.length - 1,
      seat = clamp(Math.floor(((pointerOf(event).x - box.left) / box.width) * columns.length), 0, last),
      k = this.rtl ? last - seat : seat;
    const outer = boxOf(this.root),
      cell = q * columns.length + k;
    const weight = this.arrays.weights[n * rows.length * columns.length + cell];
    const value = this.arrays.masked[cell] ? "may not look there" : weightText(weight);
    const at = { x: box.left - outer.left, y: box.bottom - outer.top + 4, w: box.width, h: 0 };
    this.tip.show(at, [el("span", { class: "value" }, value)], [bold(rows[q]), " looks at ", bold(columns[k])]);
  }
}

const mountFilm = (root, payload, emit) => mounted(Film, root, payload, emit);
