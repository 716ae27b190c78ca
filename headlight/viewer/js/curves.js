// The numbers of a run and its curves, or the curves of several runs over each other.
//
// Header: runs [names], steps (where the axis ends), step (looked at, or null), progress 0..1, tone, saved,
//   facts [{ label, value, small }], charts [{ title, unit, top, cut, lines: [{ name, style, run, key }] }].
// Arrays: x<key> and y<key>, float32, for each line; steps rise.
// Emits "pick" { step } some time after a click.

const RUN_DASHES = ["none", "7 3", "2 3", "9 3 2 3"]; // runs differ by more than their colour
const BESIDE = { light: [0, 2, 3], dark: [1, 2, 3] }; // head colours that are not like the accent
const CHART = { height: 100, left: 42, right: 8, top: 8, bottom: 20 },
  THREE_FROM = 640,
  TWO_FROM = 420;

class Curves {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.shared = new SharedStep(() => this.mark());
    this.progress = el("i");
    this.rail = el(
      "div",
      { class: "progress", role: "progressbar", "aria-label": "Progress", "aria-valuemin": 0, "aria-valuemax": 100 },
      this.progress,
    );
    this.facts = el("dl", { class: "facts" });
    this.legend = el("div", { class: "legend" });
    this.grid = el("div", { class: "charts" });
    this.note = el("span");
    this.saved = el("span", { class: "saved" });
    root.replaceChildren(
      this.rail,
      this.facts,
      this.legend,
      this.grid,
      el("div", { class: "foot" }, this.note, this.saved),
    );
    this.stop = onWidth(root, () => this.draw());
  }

  dispose() {
    this.shared.dispose();
    this.stop();
  }

  update({ header, arrays }) {
    this.header = header;
    this.arrays = arrays;
    this.theme = themeOf(this.root);
    this.shared.answered(header.step, header.runs[0]);
    this.describe();
    this.draw();
  }

  describe() {
    const { progress, tone, facts, runs, saved } = this.header,
      percentage = Math.round(100 * progress);
    this.progress.style.width = `${100 * progress}%`;
    this.rail.className = `progress ${tone}`;
    this.rail.setAttribute("aria-valuenow", percentage);
    this.facts.replaceChildren(
      ...facts.map(({ label, value, small }) =>
        el("div", {}, el("dt", {}, label), el("dd", {}, value, ...(small ? [el("small", {}, ` ${small}`)] : []))),
      ),
    );
    this.legend.hidden = runs.length < 2;
    this.legend.replaceChildren(
      ...runs.map((name, r) => {
        const look = {
          d: "M1 5H25",
          stroke: this.colour(r),
          "stroke-width": 2.5,
          "stroke-dasharray": RUN_DASHES[r],
          fill: "none",
        };
        return el("span", {}, svg("svg", { width: 26, height: 10, "aria-hidden": "true" }, svg("path", look)), name);
      }),
    );
    this.saved.replaceChildren(...(saved ? [icon("check", 16), saved] : []));
  }

  colour(run) {
    return run === 0 ? this.theme.accent : this.theme.heads[BESIDE[this.theme.name][run - 1]];
  }

  // How a line is drawn: [colour, width, dashes, opacity].
  pen({ style, run }) {
    const { theme } = this,
      several = this.header.runs.length > 1,
      mine = this.colour(run);
    const quiet = several ? mine : theme.muted,
      dashes = several ? RUN_DASHES[run] : "none";
    return {
      main: [mine, 2.2, dashes, 1],
      thin: [several ? mine : theme.faint, 1.1, "none", several ? 0.5 : 1],
      second: [quiet, 1.7, dashes, 1],
      third: [theme.muted, 1.5, "5 3", 1],
      ahead: [quiet, 1.7, "0.1 5", 0.8],
      level: [theme.faint, 1, "4 4", 1],
    }[style];
  }

  // ---- drawing -------------------------------------------------------------------------------------

  draw() {
    const width = this.root.clientWidth;
    if (!width || !this.header) return;
    const across = width >= THREE_FROM ? 3 : width >= TWO_FROM ? 2 : 1,
      gap = 24;
    this.grid.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
    this.width = Math.floor((width - gap * (across - 1)) / across);
    this.charts = this.header.charts.map(chart => this.chart(chart));
    this.grid.replaceChildren(...this.charts.map(chart => chart.node));
    this.mark();
  }

  x(step) {
    return CHART.left + ((this.width - CHART.left - CHART.right) * step) / this.header.steps;
  }

  chart(given) {
    const { title, unit, top, cut, lines } = given,
      { width } = this,
      bottom = CHART.height - CHART.bottom;
    const y = value => CHART.top + (bottom - CHART.top) * (1 - value / top);
    const picture = svg("svg", { width, height: CHART.height, viewBox: `0 0 ${width} ${CHART.height}`, role: "img" });
    const text = (at, height, anchor, words) => svg("text", { x: at, y: height, "text-anchor": anchor }, words);
    for (let v = 0, by = tickStep(top, 3); v <= top * 1.0001; v += by) {
      picture.append(
        svg("path", { class: "grid", d: `M${CHART.left} ${y(v)}H${width - CHART.right}` }),
        text(CHART.left - 7, y(v) + 4, "end", tickText(v)),
      );
    }
    const { steps } = this.header,
      by = tickStep(steps, 2.5);
    for (let step = 0; step <= steps; step += by) {
      const last = this.x(step) > width - 24;
      picture.append(
        text(last ? width - CHART.right : this.x(step), CHART.height - 3, last ? "end" : "middle", tickText(step)),
      );
    }
    const frame = svg("svg", { x: 0, y: 0, width, height: bottom + 1, viewBox: `0 0 ${width} ${bottom + 1}` }); // cuts off what is above
    frame.append(...lines.flatMap(line => this.line(line, y)));
    if (lines.every(line => !this.points(line)[0].length))
      picture.append(text((CHART.left + width) / 2, (CHART.top + bottom) / 2, "middle", "nothing yet"));
    const cursor = svg("path", { class: "cursor" });
    picture.append(frame, cursor);
    picture.onpointermove = event => this.hover(event);
    picture.onpointerleave = () => this.hover(null);
    picture.onclick = event => this.choose(event);
    const head = el("h3", {}, title, el("span", {}, cut ? `starts at ${cut}` : unit)),
      values = el("div", { class: "values" });
    return { node: el("figure", { class: "chart" }, head, values, picture), values, picture, cursor, lines, title };
  }

  line(line, y) {
    const [xs, ys] = this.points(line),
      [colour, width, dashes, opacity] = this.pen(line);
    if (!xs.length) return [];
    const parts = [];
    for (let i = 0; i < xs.length; i++)
      parts.push(`${this.x(xs[i]).toFixed(1)} ${Math.max(y(ys[i]), -999).toFixed(1)}`);
    const look = {
      fill: "none",
      stroke: colour,
      "stroke-width": width,
      "stroke-linejoin": "round",
      "stroke-linecap": "round",
      opacity,
    };
    const path = svg("path", { d: `M${parts.join("L")}`, ...look, "stroke-dasharray": dashes });
    const [cx, cy] = parts.at(-1).split(" ");
    const ends = line.style === "main" || (xs.length === 1 && line.style !== "ahead");
    return ends ? [path, svg("circle", { cx, cy, r: 3, fill: colour })] : [path];
  }

  points({ key }) {
    return [this.arrays[`x${key}`], this.arrays[`y${key}`]];
  }

  // ---- the step that is looked at ------------------------------------------------------------------

  at(event) {
    const box = boxOf(event.currentTarget);
    const share = (pointerOf(event).x - box.left - CHART.left) / (this.width - CHART.left - CHART.right);
    return Math.round(clamp(share, 0, 1) * this.header.steps);
  }

  hover(event) {
    this.hovered = event && this.at(event);
    this.mark();
  }

  choose(event) {
    this.shared.choose(this.at(event), pick => this.emit("pick", pick));
  }

  mark() {
    if (!this.charts) return;
    const step = this.hovered ?? this.shared.value;
    for (const chart of this.charts) {
      const line = step === null ? "" : `M${this.x(step)} ${CHART.top - 4}V${CHART.height - CHART.bottom}`;
      chart.cursor.setAttribute("d", line);
      chart.cursor.classList.toggle("hovered", (this.hovered ?? null) !== null);
      this.values(chart, step);
    }
    const where = step === null ? "" : ` It is at ${step ? `step ${integer(step)}` : "the start"}.`;
    this.note.textContent = `Across: steps. The thin line marks the chosen step; a click moves it.${where}`;
  }

  // The numbers at the step, or the latest ones, and the same in words for those who listen.
  values(chart, step) {
    const values = [],
      several = this.header.runs.length > 1;
    for (const line of chart.lines) {
      const [xs, ys] = this.points(line);
      if (line.style === "ahead" || line.style === "level" || !xs.length) continue;
      const i = step === null ? xs.length - 1 : lastUpTo(xs, step);
      if (i < 0 || (several && line.style === "thin")) continue;
      const [colour] = this.pen(line),
        value = el("b", {}, briefly(ys[i]));
      if (line.style === "main" || several) value.style.color = colour;
      const name = several
        ? this.header.runs[line.run]
        : chart.lines.length > 1 && line.name !== "now"
          ? line.name
          : "";
      values.push([several ? "" : name, value, `${name} ${briefly(ys[i])}`]);
    }
    chart.values.replaceChildren(
      ...values.map(([name, value]) => el("span", {}, ...(name ? [`${name} `] : []), value)),
    );
    const when = step === null ? "latest" : `at step ${integer(step)}`;
    chart.picture.setAttribute(
      "aria-label",
      `${chart.title}, ${when}: ${values.map(([, , words]) => words.trim()).join(", ") || "nothing yet"}`,
    );
  }
}

const mountCurves = (root, payload, emit) => mounted(Curves, root, payload, emit);
