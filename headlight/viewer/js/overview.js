// Every head of every layer as a thumbnail; the pick, the caption and the profile of the head under the pointer.
//
// Header: layers, heads, queries, keys, rtl (whether the keys run from right to left), thumb [q, k] (after pooling), scale, peak, selected [layer, head],
//   captions [layer][head] = what the head does, in parts of which those at odd places are tokens,
//   off [layer][head] = "off" or "pruned" where it has no weights, else "",
//   profile null or { names, units, meanings, maxima, values [measure][layer * heads + head] }.
// Arrays: thumbs uint8 [layers, heads, q, k], thumbs_masked uint8 [q, k].
// Emits "pick" [layer, head].

const TALLEST_GRID = 380,
  MANY_HEADS = 64, // from which on there is a filter
  FILTERED_HEADS = 24,
  SMALLEST_CELL = 18,
  LARGEST_CELL = 96;

class Overview {
  /** @type {Emit} */ emit;
  /** @type {Theme} */ theme;
  chose;
  corner;
  header;
  arrays;
  drawnFrom;
  shown; // heads [layer, head] that the filter leaves, or null for all
  rows; // layers of which a head is shown, and the columns that have one
  columns;

  constructor(root) {
    this.root = root;
    this.wishes = new Wishes();
    this.grid = el("div", { class: "grid", role: "grid" });
    // One canvas under all cells: the browser makes a layer of each, and 144 of them are slow to put together.
    this.sheet = el("canvas", { class: "sheet", "aria-hidden": "true" });
    this.frame = el("div", { class: "frame" }, this.grid);
    this.filter = el("select", { class: "filter", "aria-label": gettext("Heads that are shown") });
    this.filter.onchange = () => {
      this.narrow();
      this.draw();
      this.revealed = null;
      if (this.shown?.length && !this.shown.some(at => String(at) === String(this.selected))) this.pick(this.shown[0]);
      else this.mark();
    };
    this.caption = el("div", { class: "caption" });
    this.profile = el("div", { class: "profile" });
    root.replaceChildren(this.filter, this.frame, this.caption, this.profile);
    this.send = paced(pick => this.emit("pick", pick));
    this.grid.onkeydown = event => this.key(event);
    this.grid.onpointerleave = () => this.hover(null);
    const draw = () => this.header && this.draw(); // its patterns may still be on their way
    const stops = [onWidth(root, draw), onShared("marked", draw)];
    this.stop = () => stops.forEach(stop => stop());
  }

  dispose() {
    this.stop();
  }

  update({ header, arrays }) {
    const shape = `${header.layers} ${header.heads}`,
      theme = themeOf(this.root);
    // A pick is answered with all that is shown: what looks as before is not drawn again.
    const drawnFrom = JSON.stringify([{ ...header, selected: null }, theme]);
    const same =
      drawnFrom === this.drawnFrom &&
      equal(arrays.thumbs, this.arrays.thumbs) &&
      equal(arrays.thumbs_masked, this.arrays.thumbs_masked);
    Object.assign(this, { header, arrays, theme, drawnFrom });
    if (shape !== this.shape) {
      this.wishes = new Wishes(); // a pick among other heads
      this.build();
    }
    this.shape = shape;
    this.selected = this.wishes.answered(header.selected);
    if (!same) {
      this.label();
      this.filters();
      this.narrow();
      this.draw();
    }
    this.mark();
  }

  filters() {
    const { layers, heads, profile } = this.header,
      all = layers * heads;
    this.filter.hidden = !profile || all <= MANY_HEADS;
    if (this.filter.hidden) return;
    const option = (value, text) => el("option", { value }, text);
    const highest = (name, m) =>
      option(m, gettext("The {count} highest: {measure}", { count: FILTERED_HEADS, measure: name }));
    const chosen = this.filter.value;
    this.filter.replaceChildren(
      option("", gettext("All {count} heads", { count: all })),
      ...profile.names.map(highest),
    );
    this.filter.value = chosen in profile.names ? chosen : "";
  }

  // Hides the heads that the filter leaves out, and the layers and columns that have no other.
  narrow() {
    const { layers, heads, profile } = this.header,
      values = this.filter.hidden || !this.filter.value ? null : profile.values[this.filter.value];
    const measured = [...(values ?? []).keys()].filter(at => values[at] !== null);
    const highest = measured.sort((a, b) => values[b] - values[a]).slice(0, FILTERED_HEADS);
    this.shown = values && highest.sort((a, b) => a - b).map(at => [Math.floor(at / heads), at % heads]);
    const some = (axis, count) =>
      [...Array(count).keys()].filter(n => !values || this.shown.some(at => at[axis] === n));
    this.rows = some(0, layers);
    this.columns = some(1, heads);
    const kept = new Set(this.shown?.map(String)),
      show = (node, shown) => (node.style.display = shown ? "" : "none");
    this.top.forEach((node, h) => show(node, this.columns.includes(h)));
    this.cells.forEach((row, l) => {
      show(row[0].parentNode, this.rows.includes(l));
      row.forEach((cell, h) => {
        show(cell, this.columns.includes(h));
        cell.style.visibility = !values || kept.has(`${l},${h}`) ? "" : "hidden";
      });
    });
  }

  build() {
    const { layers, heads } = this.header,
      span = n => [...Array(n).keys()];
    // Translators: above the first column of small pictures, one for each head.
    const word = el("span", { class: "word" }, `${gettext("head")} `);
    this.top = span(heads).map(h =>
      el("div", { class: "head", role: "columnheader" }, ...(h ? [] : [word]), `${h + 1}`),
    );
    this.cells = [];
    const rows = span(layers).map(l => {
      const name = gettext("Layer {layer}", { layer: l + 1 }),
        named = { role: "rowheader", "aria-label": name, title: name };
      const label = el("div", { class: "layer", ...named }, `${l + 1}`);
      const cells = span(heads).map(h => {
        const cell = el("div", { class: "thumb", role: "gridcell", tabindex: -1 });
        cell.onclick = () => this.pick([l, h], true);
        cell.onpointerenter = () => this.hover([l, h]);
        return cell;
      });
      this.cells.push(cells);
      return el("div", { role: "row" }, label, ...cells);
    });
    this.grid.replaceChildren(
      this.sheet,
      el("div", { role: "row" }, (this.corner = el("div", { class: "corner", role: "columnheader" })), ...this.top),
      ...rows,
    );
    this.hovered = null;
  }

  label() {
    const { layers, heads, captions, off } = this.header;
    const name = gettext("Every head: {layers} layers of {heads} heads. Arrow keys choose one.", { layers, heads });
    this.grid.setAttribute("aria-label", name);
    this.cells.forEach((row, l) =>
      row.forEach((cell, h) => {
        cell.setAttribute("aria-label", `${headName(l, h)}, ${captions[l][h].join("")}`);
        cell.replaceChildren(...(off[l][h] ? [el("span", { class: "off", "aria-hidden": "true" }, off[l][h])] : []));
      }),
    );
  }

  // The cells take the width there is; where they would become too small, the frame scrolls.
  draw() {
    const { queries, keys } = this.header,
      [layers, heads] = [this.rows.length, this.columns.length],
      width = this.root.clientWidth;
    if (!width) return;
    const gap = heads <= 4 ? 12 : heads <= 8 ? 8 : 5,
      aspect = clamp(keys / queries, 0.625, 1.6);
    const fit = labels => Math.floor((width - 6 - labels - gap * heads) / heads);
    const roomy = fit(14) >= 44,
      labels = roomy ? 14 : 32;
    const byHeight = Math.floor(((TALLEST_GRID - 18) / layers - gap) * aspect);
    const cell = clamp(Math.min(fit(labels), byHeight), SMALLEST_CELL, LARGEST_CELL);
    const high = Math.round(cell / aspect);
    this.grid.classList.toggle("roomy", roomy);
    this.grid.classList.toggle("small", cell < 32);
    this.grid.style.gap = `${gap}px`;
    this.frame.style.maxHeight = `${TALLEST_GRID + 12}px`;
    const sizes = { labels: `${labels}px`, heads, cell: `${cell}px`, high: `${high}px` };
    for (const [name, value] of Object.entries(sizes)) this.grid.style.setProperty(`--${name}`, value);
    this.paint(sized(this.sheet, this.grid.offsetWidth, this.grid.offsetHeight));
    this.measures();
  }

  paint(context) {
    const hatch = hatched(context, this.theme);
    context.imageSmoothingEnabled = false;
    this.cells.forEach((row, l) =>
      row.forEach((node, h) => {
        if (!node.offsetWidth || node.style.visibility) return;
        context.save();
        context.translate(node.offsetLeft, node.offsetTop);
        this.thumb(context, hatch, l, h, node.offsetWidth, node.offsetHeight);
        context.restore();
      }),
    );
  }

  thumb(context, hatch, l, h, width, height) {
    const { thumbs, thumbs_masked: masked } = this.arrays,
      ratio = context.getTransform().a;
    const [rows, columns] = this.header.thumb,
      size = rows * columns,
      at = (l * this.header.heads + h) * size;
    const shade = new Uint16Array(size);
    for (let n = 0; n < size; n++) shade[n] = (thumbs[at + n] * STEPS) / 255;
    const pooled = maxPooled(shade, masked, rows, columns, Math.round(height * ratio), Math.round(width * ratio));
    const image = imageOf(pooled.shade, pooled.masked, pooled.rows, pooled.columns, this.theme, this.header.rtl);
    context.beginPath();
    context.roundRect(0, 0, width, height, 4);
    context.clip();
    context.fillStyle = hatch;
    context.fillRect(0, 0, width, height);
    context.drawImage(image, 0, 0, width, height);
    this.outline(context, width, height);
  }

  // The row, column or cell that is held, as in the large map.
  outline(context, width, height) {
    const { queries, keys, rtl } = this.header,
      { row, column } = shared.values.marked ?? { row: null, column: null };
    if ((row === null && column === null) || row >= queries || column >= keys) return;
    const span = (at, count, size) => (at === null ? [0, size] : [(at * size) / count, Math.max(size / count, 3)]);
    const [x, w] = span(rtl && column !== null ? keys - 1 - column : column, keys, width),
      [y, h] = span(row, queries, height);
    context.strokeStyle = this.theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(x, y, w, h);
  }

  pick(pick, focus) {
    if (focus) this.cells[pick[0]][pick[1]].focus({ preventScroll: true });
    if (String(pick) === String(this.selected)) return;
    this.wishes.make(pick);
    this.selected = pick;
    this.hovered = null;
    this.mark();
    this.chose?.(pick);
    this.send(pick);
  }

  key(event) {
    const { layers, heads } = this.header,
      [l, h] = this.selected,
      all = event.ctrlKey || event.metaKey;
    const moves = {
      ArrowLeft: [l, h - 1],
      ArrowRight: [l, h + 1],
      ArrowUp: [l - 1, h],
      ArrowDown: [l + 1, h],
      Home: [all ? 0 : l, 0],
      End: [all ? layers - 1 : l, heads - 1],
    };
    const to = moves[keyOf(event)];
    if (!to || event.altKey) return;
    event.preventDefault();
    const pick = this.shown ? this.among(to) : [clamp(to[0], 0, layers - 1), clamp(to[1], 0, heads - 1)];
    if (pick) this.pick(pick, true);
  }

  // The nearest head that the filter shows, in the direction of `to`: of the same layer, or of the next layer that has any.
  among([layer, head]) {
    const [l, h] = this.selected,
      towards = layer === l ? Math.sign(head - h) : Math.sign(layer - l);
    const ahead = this.shown.filter(at =>
      layer === l ? at[0] === l && (at[1] - h) * towards > 0 : (at[0] - l) * towards > 0,
    );
    const distance = at => Math.abs(at[0] - l) * this.header.heads + Math.abs(at[1] - h);
    return ahead.sort((a, b) => distance(a) - distance(b))[0];
  }

  hover(at) {
    this.hovered = at;
    this.mark();
  }

  mark() {
    const [layer, head] = this.selected;
    this.cells.forEach((row, l) =>
      row.forEach((cell, h) => {
        const chosen = l === layer && h === head;
        cell.setAttribute("aria-selected", chosen);
        cell.tabIndex = chosen ? 0 : -1;
        cell.classList.toggle("hovered", !chosen && !!this.hovered && l === this.hovered[0] && h === this.hovered[1]);
      }),
    );
    this.reveal(this.cells[layer][head]);
    this.say();
    this.measures();
  }

  // scrollIntoView would move the whole page; only the frame may scroll.
  reveal(cell) {
    const inner = boxOf(cell),
      outer = boxOf(this.frame);
    if (String(this.selected) === this.revealed || !outer.width) return;
    this.revealed = String(this.selected);
    const { offsetWidth: labels, offsetHeight: numbers } = this.corner; // which stay above what scrolls
    const shift = (low, high, from, to) => (low < from + 8 ? low - from - 8 : high > to - 8 ? high - to + 8 : 0);
    this.frame.scrollLeft += shift(inner.left, inner.right, outer.left + labels, outer.right);
    this.frame.scrollTop += shift(inner.top, inner.bottom, outer.top + numbers, outer.bottom);
  }

  say() {
    const [l, h] = this.hovered || this.selected,
      { queries, keys, captions, scale, peak } = this.header;
    const [q, k] = this.header.thumb;
    const says = captions[l][h].map((part, i) => (i % 2 ? bold(part) : part));
    const sentence = [bold(headName(l, h)), " ", ...says];
    const sizes = queries === keys ? [queries, q] : [`${queries} × ${keys}`, `${q} × ${k}`];
    const pooling =
      q < queries || k < keys
        ? gettext("Thumbnails are max-pooled from {before} to {after} tokens.", { before: sizes[0], after: sizes[1] })
        : "";
    const note = [pooling, scaleNote(scale, peak)].filter(Boolean).join(" ");
    this.caption.replaceChildren(...sentence, ...(note ? [el("small", {}, note)] : []));
  }

  measures() {
    const { profile, layers, heads } = this.header,
      [l, h] = this.hovered || this.selected;
    this.profile.hidden = !profile;
    if (!profile) return;
    // Translators: {head} is "Layer 2, head 3", and {all} the number of all heads.
    const sentence = gettext("{head} among the {all}");
    const title = el(
      "div",
      { class: "muted" },
      ...inParts(sentence, { head: bold(headName(l, h)), all: inWords(layers * heads) }),
    );
    if (this.profile.childElementCount !== 1 + 4 * profile.names.length) {
      const strip = meaning => [el("span"), el("canvas", { "aria-hidden": "true" }), el("b"), el("small", {}, meaning)];
      this.profile.replaceChildren(title, ...profile.meanings.flatMap(strip));
    }
    this.profile.firstChild.replaceWith(title);
    profile.names.forEach((name, m) => {
      const [label, canvas, number] = [...this.profile.children].slice(1 + 4 * m, 4 + 4 * m);
      const mine = profile.values[m][l * heads + h];
      label.textContent = name;
      number.textContent = mine === null ? "\u2013" : `${signed(mine)}${profile.units[m]}`;
      this.strip(canvas, profile.values[m], profile.maxima[m], mine);
    });
  }

  // One measure of every head on a line from 0 to its maximum, the shown head's in the accent.
  strip(canvas, values, maximum, mine) {
    const width = canvas.clientWidth;
    if (!width) return;
    const context = sized(canvas, width, 20),
      x = value => 4 + clamp(value / maximum, 0, 1) * (width - 8);
    const tick = (value, w, h, colour) => {
      context.fillStyle = colour;
      context.beginPath();
      context.roundRect(x(value) - w / 2, 10 - h / 2, w, h, w / 3);
      context.fill();
    };
    context.fillStyle = this.theme.line;
    context.fillRect(0, 9.5, width, 1);
    context.globalAlpha = values.length > 64 ? 0.5 : 0.9;
    for (const value of values) if (value !== null) tick(value, 1.5, 8, this.theme.faint);
    context.globalAlpha = 1;
    if (mine !== null) tick(mine, 4, 14, this.theme.accent);
  }
}

const equal = (one, other) => one.length === other.length && one.every((value, i) => value === other[i]);

const mountOverview = (root, payload, emit) => mounted(Overview, root, payload, emit);
