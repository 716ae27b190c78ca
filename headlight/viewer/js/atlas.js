// Every head of one kind of attention, once for each measure: a layer a row, a head a column. A click, or the arrow
// keys and Enter, choose a head. With a training's snapshots, a slider shows them at each of those.
//
// Header: kind, layers, heads, selected [layer, head], measure (chosen, or null), steps [N] (the last may be null: the
//   model as it is), step, note, measures [{ name, label, meaning, range, least, most, signed, values [N][L][H] (null where
//   there is none), texts [N][L][H], named [N] of [layer, head] }].
// Emits "pick" { head, measure } or { step }.

const PANEL = { least: 102, cell: 13, most: 26 };
const PAST = { height: 92, left: 44, right: 8, top: 8, bottom: 22 };

class Atlas {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.wishes = new Wishes();
    this.moments = new Wishes();
    this.rail = el("input", { type: "range", min: 0, step: 1, "aria-label": "Snapshot of the training" });
    this.rail.oninput = () => this.move(+this.rail.value);
    this.stepText = el("output", { "aria-live": "polite" });
    this.scrub = el("div", { class: "scrub" }, el("span", {}, "In training"), this.rail, this.stepText);
    this.panels = el("div", { class: "atlas" });
    this.past = el("figure", { class: "past" });
    this.status = el("div", { class: "status", "aria-live": "polite" });
    root.replaceChildren(this.scrub, this.panels, this.past, this.status);
    this.send = paced((name, value) => this.emit(name, value), 300);
    this.panels.onkeydown = event => this.key(event);
    this.stop = onWidth(root, () => this.header && this.drawPast());
  }

  dispose() {
    this.stop();
  }

  update({ header }) {
    this.header = header;
    this.theme = themeOf(this.root);
    this.diverging = shadesOf(PALETTE[this.theme.name].diverging);
    this.root.style.setProperty("--heads", header.heads);
    this.root.style.setProperty("--panel", `${Math.max(PANEL.least, header.heads * PANEL.cell)}px`);
    this.root.style.setProperty("--high", `${clamp(Math.round(150 / header.layers), PANEL.cell, PANEL.most)}px`);
    const chosen = this.wishes.answered({ head: header.selected, measure: header.measure, kind: header.kind });
    this.selected = chosen.kind === header.kind ? chosen : { head: header.selected, measure: header.measure };
    const step = this.moments.answered(header.step),
      at = header.steps.indexOf(step);
    this.at = at < 0 ? header.steps.length - 1 : at;
    this.scrub.hidden = header.steps.length < 2;
    this.rail.max = header.steps.length - 1;
    this.rail.value = this.at;
    this.build();
  }

  // ---- drawing -------------------------------------------------------------------------------------

  build() {
    const { measures, layers, heads } = this.header,
      focused = this.root.getRootNode().activeElement?.dataset?.place;
    this.cells = new Map();
    this.panels.replaceChildren(
      ...measures.map(measure => {
        const cells = el("div", { class: "cells", role: "group", "aria-label": `${measure.label} ${measure.range}` });
        for (let layer = 0; layer < layers; layer++) {
          for (let head = 0; head < heads; head++) {
            const node = clickButton({ tabindex: -1, "data-place": `${measure.name} ${layer} ${head}` }, () =>
              this.pick(measure.name, layer, head),
            );
            node.onpointerenter = node.onfocus = () => this.say(measure, layer, head);
            node.onpointerleave = node.onblur = () => this.say();
            cells.append(node);
            this.cells.set(node.dataset.place, node);
          }
        }
        const panel = el(
          "section",
          { class: "panel" },
          el("h4", { title: measure.meaning }, bold(measure.label), el("small", {}, measure.range)),
          cells,
        );
        panel.dataset.measure = measure.name;
        return panel;
      }),
    );
    this.past.hidden = this.header.steps.length < 3;
    this.paint();
    if (focused !== undefined) this.cells.get(focused)?.focus({ preventScroll: true });
  }

  paint() {
    const { measures, layers, heads, steps } = this.header,
      {
        head: [atLayer, atHead],
        measure: chosen,
      } = this.selected;
    let reachable = false;
    for (const panel of this.panels.children) panel.classList.toggle("chosen", panel.dataset.measure === chosen);
    for (const measure of measures) {
      const values = measure.values[this.at],
        named = new Set(measure.named[this.at].map(String));
      for (let layer = 0; layer < layers; layer++) {
        for (let head = 0; head < heads; head++) {
          const node = this.cells.get(`${measure.name} ${layer} ${head}`),
            value = values?.[layer][head] ?? null;
          const here = layer === atLayer && head === atHead;
          node.style.background = value === null ? "" : cssColour(this.colour(measure, value));
          node.style.setProperty("--dot", value === null ? "" : inkOn(this.colour(measure, value)));
          node.classList.toggle("absent", value === null);
          node.classList.toggle("named", named.has(`${layer},${head}`));
          node.classList.toggle("selected", here);
          node.setAttribute("aria-pressed", here);
          node.setAttribute("aria-label", this.text(measure, layer, head));
          const first = here && (measure.name === chosen || (!reachable && !measures.some(m => m.name === chosen)));
          node.setAttribute("tabindex", first ? 0 : -1);
          reachable ||= first;
        }
      }
    }
    const step = steps[this.at];
    this.stepText.textContent = step === null || step === undefined ? "the model as it is" : `step ${integer(step)}`;
    this.rail.setAttribute("aria-valuetext", this.stepText.textContent);
    this.drawPast();
    this.say();
  }

  // ---- how it came to be -----------------------------------------------------------------------------

  // A line a head over the snapshots: the chosen one strong, with a dot where it has its name.
  drawPast() {
    if (this.past.hidden) return;
    const { measures, steps, layers, heads } = this.header,
      [atLayer, atHead] = this.selected.head;
    const measure = measures.find(one => one.name === this.selected.measure) ?? measures[0];
    const width = Math.max(240, this.past.clientWidth || this.root.clientWidth || 560),
      { left, right, top, bottom } = PAST;
    const known = steps.map((_, n) => n).filter(n => measure.values[n]);
    const x = n => left + ((width - left - right) * n) / (steps.length - 1);
    const y = value => top + (PAST.height - top - bottom) * (1 - this.share(measure, value));
    const line = (layer, head, cls) =>
      svg("path", {
        class: cls,
        d: known
          .filter(n => measure.values[n][layer][head] !== null)
          .map((n, i) => `${i ? "L" : "M"}${x(n).toFixed(1)} ${y(measure.values[n][layer][head]).toFixed(1)}`)
          .join(""),
      });
    const picture = svg("svg", {
      viewBox: `0 0 ${width} ${PAST.height}`,
      width,
      height: PAST.height,
      "aria-hidden": "true",
    });
    for (const [value, text] of [
      [measure.least, this.end(measure, measure.least)],
      [measure.most, this.end(measure, measure.most)],
    ]) {
      picture.append(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }));
      picture.append(svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, text));
    }
    steps.forEach((step, n) => {
      const text = step === null ? "now" : integer(step);
      const anchor = n === 0 ? "start" : n === steps.length - 1 ? "end" : "middle";
      picture.append(svg("text", { x: x(n), y: PAST.height - 4, "text-anchor": anchor }, text));
    });
    for (let layer = 0; layer < layers; layer++)
      for (let head = 0; head < heads; head++) picture.append(line(layer, head, "other"));
    picture.append(line(atLayer, atHead, "own"));
    for (const n of known) {
      const value = measure.values[n][atLayer][atHead],
        has = measure.named[n].some(([l, h]) => l === atLayer && h === atHead);
      if (value !== null && has) picture.append(svg("circle", { class: "own", cx: x(n), cy: y(value), r: 3.5 }));
    }
    picture.append(svg("line", { class: "now", x1: x(this.at), x2: x(this.at), y1: top, y2: PAST.height - bottom }));
    const text = `${measure.label} over its training: layer ${atLayer + 1}, head ${atHead + 1} among all of this kind`;
    this.past.setAttribute("role", "img");
    this.past.setAttribute(
      "aria-label",
      `${text}. ${known.map(n => `${steps[n] === null ? "now" : `Step ${steps[n]}`}: ${measure.texts[n][atLayer][atHead]}`).join("; ")}`,
    );
    this.past.replaceChildren(
      el(
        "figcaption",
        {},
        bold(measure.label),
        ` over its training: layer ${atLayer + 1}, head ${atHead + 1} among all`,
      ),
      picture,
    );
  }

  end(measure, value) {
    return measure.range === "" ? percent(value) : significant(value, 2);
  }

  share(measure, value) {
    return clamp((value - measure.least) / (measure.most - measure.least || 1), 0, 1);
  }

  colour(measure, value) {
    const shades = measure.signed ? this.diverging : this.theme.shades;
    return rgbOf(shades[Math.round(this.share(measure, value) * STEPS)]);
  }

  text(measure, layer, head) {
    const value = measure.texts[this.at]?.[layer]?.[head] ?? "not measured at this snapshot";
    return `Layer ${layer + 1}, head ${head + 1}: ${measure.label.toLowerCase()} ${value}`;
  }

  say(measure, layer, head) {
    this.status.textContent = measure ? `${this.text(measure, layer, head)}. ${measure.meaning}` : this.header.note;
  }

  // ---- choosing ------------------------------------------------------------------------------------

  pick(measure, layer, head) {
    this.selected = { head: [layer, head], measure, kind: this.header.kind };
    this.wishes.make(this.selected);
    this.paint();
    this.emit("pick", { head: [layer, head], measure });
  }

  move(at) {
    this.at = at;
    const step = this.header.steps[at] ?? null;
    this.moments.make(step);
    this.paint();
    this.send("pick", { step });
  }

  key(event) {
    const [name, layer, head] = (event.target.dataset?.place ?? "").split(" "),
      by = {
        ArrowLeft: [0, -1],
        ArrowRight: [0, 1],
        ArrowUp: [-1, 0],
        ArrowDown: [1, 0],
      }[keyOf(event)];
    if (!name || !by) return;
    const { layers, heads } = this.header;
    const to = this.cells.get(`${name} ${clamp(+layer + by[0], 0, layers - 1)} ${clamp(+head + by[1], 0, heads - 1)}`);
    for (const node of this.cells.values()) node.setAttribute("tabindex", node === to ? 0 : -1);
    to.focus({ preventScroll: true });
    event.preventDefault();
  }
}

const mountAtlas = (root, payload, emit) => mounted(Atlas, root, payload, emit);
