// One pair of dimensions as the hand of a clock: a step of k positions turns it by the same angle from everywhere.
//
// Data: { frequencies: [ω of each pair], positions: how many p there are, steps: the largest k, checked: over how
//   many positions the residual is looked for, shown: { at: p, shift: k, pair: i } }.
// Emits "shown", what the sliders say, a moment after they rest.

const CIRCLE_REPORT_DELAY_MS = 250; // without a move, after which the address may follow
const SECOND_STEP_OFFSET = 17; // positions from the first step to the second, grey one
const SLICE_MS = 8; // of work on the largest residual, between which the page may paint
const TAU = 2 * Math.PI;

// An angle in degrees, with so many decimals at most.
const inDegrees = (angle, decimals) =>
  ((angle * 360) / TAU).toLocaleString(MESSAGES.language, { maximumFractionDigits: decimals });
const residualText = value => (value === 0 ? "0" : scientific(value));

// What PE(p + k) and M_k PE(p) are for one pair, as [sine, cosine].
function turned(p, k, w) {
  const here = [Math.sin(p * w), Math.cos(p * w)],
    there = [Math.sin((p + k) * w), Math.cos((p + k) * w)];
  const turn = [
    [Math.cos(k * w), Math.sin(k * w)],
    [-Math.sin(k * w), Math.cos(k * w)],
  ];
  const product = turn.map(row => row[0] * here[0] + row[1] * here[1]);
  const residual = Math.max(...product.map((value, n) => Math.abs(value - there[n])));
  return { here, there, turn, product, residual };
}

// The largest residual of one pair over positions 0 to count - 1.
function largestResidual(k, w, count) {
  const cosine = Math.cos(k * w),
    sine = Math.sin(k * w);
  let largest = 0;
  for (let p = 0; p < count; p++) {
    const a = Math.sin(p * w),
      b = Math.cos(p * w);
    const first = Math.abs(cosine * a + sine * b - Math.sin((p + k) * w));
    const second = Math.abs(-sine * a + cosine * b - Math.cos((p + k) * w));
    if (first > largest) largest = first;
    if (second > largest) largest = second;
  }
  return largest;
}

class Circle {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.wishes = new Wishes();
    this.face = el("div", { class: "face" });
    this.status = el("p", { class: "muted status" });
    this.sliders = { at: this.slider("Position p"), shift: this.slider("Step k"), pair: this.slider("Pair i") };
    this.proof = el("div", { class: "proof" });
    this.here = el("div", { class: "number" });
    this.largest = el("div", { class: "number" });
    this.where = el("div", { class: "muted" });
    this.clocks = el("div", { class: "clocks", role: "group", "aria-label": "The same step on other pairs" });
    const sliders = el("div", { class: "sliders" }, ...Object.values(this.sliders).map(slider => slider.node));
    const residuals = el(
      "div",
      { class: "residuals" },
      el("div", {}, el("div", { class: "muted" }, "Residual here"), this.here),
      el("div", {}, this.where, this.largest),
    );
    const other = el(
      "div",
      { class: "muted" },
      "The same step on other pairs: fast hands turn far, slow hands hardly move",
    );
    root.replaceChildren(
      el(
        "div",
        { class: "circle" },
        el("div", {}, this.face, this.status),
        el("div", {}, sliders, this.proof, residuals, other, this.clocks),
      ),
    );
    this.stop = onWidth(root, () => this.draw());
  }

  dispose() {
    this.stop();
    clearTimeout(this.resting);
    clearTimeout(this.searching);
  }

  slider(label) {
    // Not an <output>: as the first of its kind in the label, it would take the label from the slider.
    const input = el("input", { type: "range", min: 0, step: 1, "aria-label": label }),
      value = el("span", { class: "value" });
    input.oninput = () => this.moved();
    const node = el("label", {}, el("span", {}, el("span", { class: "muted" }, label), value), input);
    return { node, input, value };
  }

  update(data) {
    this.data = data;
    this.theme = themeOf(this.root);
    const shown = this.wishes.answered(data.shown);
    const most = { at: data.positions - 1, shift: data.steps, pair: data.frequencies.length - 1 };
    for (const [name, { input }] of Object.entries(this.sliders)) {
      input.max = most[name];
      if (!this.moving) input.value = shown[name]; // an answer to something else must not pull the slider back
      input.disabled = most[name] < 1;
    }
    this.draw();
  }

  get shown() {
    return Object.fromEntries(Object.entries(this.sliders).map(([name, { input }]) => [name, Number(input.value)]));
  }

  moved() {
    this.draw();
    this.moving = true;
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      this.moving = false;
      this.wishes.make(this.shown);
      this.emit("shown", this.shown);
    }, CIRCLE_REPORT_DELAY_MS);
  }

  draw() {
    const { at, shift, pair } = this.shown,
      { frequencies } = this.data,
      w = frequencies[pair];
    for (const { input, value } of Object.values(this.sliders)) value.textContent = integer(Number(input.value));
    this.drawFace(at, shift, pair, w);
    this.prove(at, shift, w);
    this.drawClocks(at, shift, pair);
    this.search(shift);
  }

  // The plane has the cosine to the right and the sine upwards, so position p stands at the angle pω.
  drawFace(p, k, i, w) {
    const size = 372,
      c = size / 2,
      R = c - 62,
      other = p + SECOND_STEP_OFFSET,
      { theme } = this;
    const x = (angle, r) => c + r * Math.cos(angle),
      y = (angle, r) => c - r * Math.sin(angle);
    const text = (tx, ty, words, more = {}) => svg("text", { x: tx, y: ty, fill: theme.muted, ...more }, words);
    const parts = [
      svg("path", { d: `M${c - R - 10} ${c}H${c + R + 10}M${c} ${c - R - 10}V${c + R + 10}`, stroke: theme.line }),
      svg("circle", { cx: c, cy: c, r: R, fill: "none", stroke: theme.frame, "stroke-width": 1.5 }),
      text(c + R - 8, c + 17, `cos, dim ${2 * i + 1}`, { "text-anchor": "end" }),
      text(c - 9, c - R + 40, `sin, dim ${2 * i}`, { "text-anchor": "end" }),
    ];
    for (let n = 0; n < Math.min(TAU / w, 64); n++) {
      parts.push(svg("circle", { cx: x(n * w, R), cy: y(n * w, R), r: 2.2, fill: theme.faint }));
    }
    const steps = [
      {
        from: other,
        name: "p\u2032",
        pale: theme.faint,
        strong: theme.muted,
        width: 2,
        share: 0.36,
        words: theme.muted,
        weight: 400,
      },
      {
        from: p,
        name: "p",
        pale: theme.accent,
        strong: theme.accent,
        width: 3,
        share: 0.52,
        words: theme.text,
        weight: 600,
      },
    ];
    const labels = [];
    for (const step of steps) {
      const from = step.from * w,
        to = (step.from + k) * w;
      parts.push(...this.wedge(c, R * step.share, from, k * w, step.strong));
      parts.push(this.arrow(c, R - 1, from, step.pale, 2, 0.6), this.arrow(c, R - 1, to, step.strong, step.width, 1));
      const named = [
        [from, `${step.name} = ${integer(step.from)}`],
        [to, `${step.name} + k = ${integer(step.from + k)}`],
      ];
      for (const [angle, words] of k ? named : named.slice(0, 1)) {
        labels.push({
          angle,
          words,
          fill: step.words,
          weight: step.weight,
          x: x(angle, R + 12),
          y: y(angle, R + 16) + 4,
        });
      }
    }
    parts.push(
      ...this.spread(labels).map(label =>
        text(label.x, label.y, label.words, {
          class: "name",
          fill: label.fill,
          style: `font-weight: ${label.weight}`,
          "text-anchor": Math.cos(label.angle) < -0.3 ? "end" : Math.cos(label.angle) > 0.3 ? "start" : "middle",
        }),
      ),
    );
    const turn = inDegrees(k * w, 1);
    const spoken = `Pair ${i} as the hand of a clock: ${k} positions on it has turned by ${turn} degrees, from position ${p} as from ${other}.`;
    this.face.replaceChildren(
      svg("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": spoken }, ...parts),
    );
    this.status.textContent =
      `Dots are positions 0, 1, 2, \u2026 on this hand. Strong: from ${integer(p)} to ${integer(p + k)}. ` +
      `Grey: from ${integer(other)} to ${integer(other + k)}. The angle is the same: k\u03c9 = ${turn}\u00b0.`;
  }

  // Names that would cover each other move apart, the later one down (or up in the upper half).
  spread(labels) {
    const placed = [];
    for (const label of labels.reverse()) {
      const near = other => Math.abs(other.y - label.y) < 15 && Math.abs(other.x - label.x) < 90;
      for (let tries = 0; tries < 8 && placed.some(near); tries++) label.y += label.y < 186 ? -15 : 15;
      placed.push(label);
    }
    return placed;
  }

  // The angle of the step, from `from` on; more than a turn is drawn as the whole circle.
  wedge(c, r, from, by, colour) {
    if (by >= TAU) {
      return [
        svg("circle", { cx: c, cy: c, r, fill: colour, "fill-opacity": 0.1, stroke: colour, "stroke-width": 1.5 }),
      ];
    }
    const at = angle => `${c + r * Math.cos(angle)} ${c - r * Math.sin(angle)}`;
    const arc = `A${r} ${r} 0 ${by > Math.PI ? 1 : 0} 0 ${at(from + by)}`;
    return [
      svg("path", { d: `M${c} ${c}L${at(from)}${arc}Z`, fill: colour, "fill-opacity": 0.1 }),
      svg("path", { d: `M${at(from)}${arc}`, fill: "none", stroke: colour, "stroke-width": 1.5 }),
    ];
  }

  arrow(c, r, angle, colour, width, opacity, head = 9 + width) {
    const x = c + r * Math.cos(angle),
      y = c - r * Math.sin(angle);
    const back = turn => `${x - head * Math.cos(angle + turn)} ${y + head * Math.sin(angle + turn)}`;
    const line = {
      fill: "none",
      stroke: colour,
      "stroke-width": width,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    };
    return svg("path", { d: `M${c} ${c}L${x} ${y}M${back(0.4)}L${x} ${y}L${back(-0.4)}`, opacity, ...line });
  }

  prove(p, k, w) {
    const { here, turn, product, residual } = turned(p, k, w);
    const matrix = (rows, name) =>
      el(
        "span",
        { class: "matrix", style: `--columns: ${rows[0].length}`, "data-name": name },
        ...rows.flat().map(value => el("span", {}, fixed(value, 3))),
      );
    const column = (values, name) =>
      matrix(
        values.map(value => [value]),
        name,
      );
    const listed = values => values.map(value => fixed(value, 3)).join(", ");
    const spoken =
      `The matrix ${listed(turn.flat())} times PE(${p}) = ${listed(here)} ` +
      `is ${listed(product)}, which is PE(${p + k}).`;
    const factor = (node, below) => el("span", { class: "factor" }, node, el("span", { class: "muted" }, below));
    this.proof.replaceChildren(
      el("span", { class: "unseen" }, spoken),
      el(
        "span",
        { class: "product", "aria-hidden": "true" },
        factor(matrix(turn, "turn"), "M\u2096"),
        factor(column(here, "here"), `PE(${integer(p)})`),
        el("span", {}, "="),
        factor(column(product, "product"), `PE(${integer(p + k)})`),
      ),
      el("span", { class: "muted omega" }, `\u03c9 = ${significant(w, 4)}`),
    );
    this.here.textContent = residualText(residual);
  }

  // In slices, so that a slider never waits for it. It depends on the step and the frequencies alone.
  search(k) {
    const { frequencies, checked } = this.data,
      wanted = `${k} ${frequencies.length} ${frequencies.at(-1)}`;
    if (wanted === this.wanted) return;
    this.wanted = wanted;
    clearTimeout(this.searching);
    this.where.textContent = `Largest: ${integer(checked)} positions, ${integer(frequencies.length)} pairs`;
    this.largest.classList.add("pending");
    let pair = 0,
      largest = 0;
    const slice = () => {
      const end = performance.now() + SLICE_MS;
      while (pair < frequencies.length && performance.now() < end) {
        largest = Math.max(largest, largestResidual(k, frequencies[pair++], checked));
      }
      if (pair < frequencies.length) {
        this.searching = setTimeout(slice);
      } else {
        this.largest.textContent = residualText(largest);
        this.largest.classList.remove("pending");
      }
    };
    this.searching = setTimeout(slice, 60);
  }

  drawClocks(p, k, chosen) {
    const { frequencies } = this.data,
      last = frequencies.length - 1,
      { theme } = this;
    const spread = [0, last / 32, last / 6, last / 3, (2 * last) / 3].map(Math.round);
    const pairs = [...new Set([chosen, ...spread])].slice(0, 5).sort((a, b) => a - b);
    const focused = this.root.getRootNode().activeElement?.dataset?.pair;
    this.clocks.replaceChildren(
      ...pairs.map(i => {
        const w = frequencies[i],
          on = i === chosen,
          c = 34;
        const shown = `${inDegrees(k * w, k * w < TAU / 36 ? 1 : 0)}\u00b0`;
        const face = svg(
          "svg",
          { viewBox: "0 0 68 68", "aria-hidden": "true" },
          svg("circle", {
            cx: c,
            cy: c,
            r: 30,
            fill: "none",
            stroke: on ? theme.accent : theme.frame,
            "stroke-width": 1.4,
          }),
          this.arrow(c, 29, p * w, theme.faint, 1.5, 1, 7),
          this.arrow(c, 29, (p + k) * w, on ? theme.accent : theme.text, 2, 1, 8),
        );
        return clickButton(
          { "data-pair": i, "aria-pressed": on, "aria-label": `Pair ${i}: turns by ${shown}. Show it.` },
          () => {
            this.sliders.pair.input.value = i;
            this.moved();
          },
          face,
          el("span", {}, `pair ${i}`),
          el("span", { class: "muted" }, shown),
        );
      }),
    );
    this.clocks.querySelector(`[data-pair="${focused}"]`)?.focus();
  }
}
