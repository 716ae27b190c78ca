// Which head? Pictures of all heads of one kind of attention, a layer a row.

function askHead(element, posed, onGuess, guess) {
  const { node, cells } = headGrid(element, posed, "button");
  const at = guess && (guess[0] - 1) * posed.heads + guess[1] - 1;
  radios(node, cells, at, i => onGuess([Math.floor(i / posed.heads) + 1, (i % posed.heads) + 1]), {
    across: posed.heads,
  });
  element.replaceChildren(ofHeads(posed), node);
}

function tellHead(element, posed, truth, guess, tally) {
  const { node, cells } = headGrid(element, posed, "div");
  cells.forEach((cell, i) => {
    const is = place => !!place && (place[0] - 1) * posed.heads + place[1] - 1 === i;
    cell.setAttribute("role", "img");
    const measured = truth.values[Math.floor(i / posed.heads)][i % posed.heads],
      notes = [hundredths(measured), ofClass(tally, i)].filter(Boolean);
    cell.append(el("small", {}, notes.join(", ")));
    mark(cell, is(guess), is(truth.answer));
  });
  element.replaceChildren(ofHeads(posed), node);
}

function ofHeads(posed) {
  const { asked, rows, columns } = posed;
  const about = asked
    ? gettext("outlined: the row of \u201c{row}\u201d and the column of \u201c{column}\u201d", {
        row: isolated(rows[asked.row]),
        column: isolated(columns[asked.column]),
      })
    : posed.kind === "cross"
      ? gettext("rows are what is written, columns what is read")
      : gettext("rows look at columns");
  return el(
    "div",
    { class: "of-which" },
    bold(gettext(EVERY_HEAD_OF[posed.kind])),
    el("span", { class: "muted" }, about),
  );
}

function headGrid(element, posed, tag) {
  const node = el("div", { class: "heads-of", "aria-label": gettext("Heads") }),
    theme = themeOf(element.closest(".hl")),
    cells = [];
  node.style.setProperty("--heads", posed.heads);
  node.append(el("span"));
  for (let head = 1; head <= posed.heads; head++)
    node.append(el("span", { class: "muted" }, head === 1 ? gettext("head {head}", { head }) : `${head}`));
  posed.thumbnails.forEach((row, layer) => {
    node.append(el("span", { class: "muted layer" }, `${layer + 1}`));
    row.forEach((weights, head) => {
      const cell = el(
        tag,
        { "aria-label": headName(layer, head) },
        withAsked(
          painted(
            weights.map((one, i) => one.map((value, j) => (posed.masked[i][j] ? null : value))),
            theme,
            rightToLeft(posed.columns),
          ),
          posed,
        ),
      );
      if (tag === "button") {
        cell.type = "button";
        cell.append(el("small", { "aria-hidden": "true" })); // the place of what is said of it then
      }
      cells.push(cell);
      node.append(cell);
    });
  });
  return { node, cells };
}

// A picture with the row and the column that are asked about, where a question is about one cell of every head.
function withAsked(picture, { asked, rows, columns }) {
  if (!asked) return picture;
  const node = el("span", { class: "picture-of" }, picture),
    row = el("i", { class: "asked-of" }),
    column = el("i", { class: "asked-of" }),
    share = (at, count) => `${(100 * at) / count}%`;
  row.style.cssText = `inset: ${share(asked.row, rows.length)} 0 auto 0; height: ${share(1, rows.length)}`;
  const from = rightToLeft(columns) ? columns.length - 1 - asked.column : asked.column;
  column.style.cssText = `inset: 0 auto 0 ${share(from, columns.length)}; width: ${share(1, columns.length)}`;
  node.append(row, column);
  return node;
}

// What there is to look at beside a slider or a list, if anything: a head without the row that is asked for, or all heads.
function seen(element, posed, row) {
  if (posed.picture) return [matrix(posed, row)];
  if (!posed.thumbnails) return [];
  const { node, cells } = headGrid(element, posed, "div");
  for (const cell of cells) cell.setAttribute("role", "img");
  return [ofHeads(posed), node];
}

// Weights as a picture of one pixel a cell; null is left transparent, and the first column may be at the right.
function painted(weights, theme, rtl) {
  const rows = weights.length,
    columns = weights[0].length,
    flat = weights.flat();
  return imageOf(
    Uint16Array.from(flat, value => Math.round(clamp(value ?? 0, 0, 1) * STEPS)),
    Uint8Array.from(flat, value => +(value === null)),
    rows,
    columns,
    theme,
    rtl,
  );
}

const MIN_WORD_COLUMN_PIXELS = 13; // in less a word would stand upon the next

// The whole pattern of the head that a question is about. The asked row is hidden until `row` is given, in per cent of
// the keys that it may look at, which are the first.
function matrix(posed, row) {
  const { picture } = posed,
    node = el("figure", { class: "matrix" });
  if (!picture) return node;
  const { asked, masked } = picture;
  const weights = picture.weights.map((one, i) =>
    one.map((value, j) => (masked[i][j] ? null : i !== asked ? value : row ? row[j] / 100 : 0)),
  );
  const labels = el("div", { class: "rows", "aria-hidden": "true" });
  const rtl = rightToLeft(picture.rows);
  picture.rows.forEach((text, i) =>
    labels.append(el("span", { class: i === asked ? "asked" : "", dir: direction(text, rtl) }, text)),
  );
  const columns = el("div", { class: "columns", "aria-hidden": "true", dir: directionOf(picture.columns) });
  for (const text of picture.columns)
    columns.append(el("span", { dir: direction(text, rightToLeft(picture.columns)) }, text));
  const sheet = el("div", { class: "sheet-of", role: "img" });
  const patternName = row
    ? gettext("The pattern of this head")
    : gettext("The pattern of this head, without the row that is asked for");
  sheet.setAttribute("aria-label", patternName);
  sheet.style.setProperty("--rows", picture.rows.length);
  const frame = el(
    "div",
    { class: row ? "asked-row told" : "asked-row" },
    row ? "" : gettext("the row that is asked for"),
  );
  frame.style.top = `${(100 * asked) / picture.rows.length}%`;
  frame.style.height = `${100 / picture.rows.length}%`;
  sheet.append(frame);
  const note = row
    ? gettext("All rows of this head, as it ran.")
    : gettext("The other rows are this head\u2019s own, as it ran.");
  node.append(columns, labels, sheet, el("figcaption", { class: "muted" }, note));
  const count = picture.columns.length;
  new ResizeObserver(() =>
    columns.classList.toggle("tight", sheet.clientWidth < MIN_WORD_COLUMN_PIXELS * count),
  ).observe(sheet);
  // The colours are those of the page that it will stand on.
  requestAnimationFrame(() => {
    const root = node.closest(".hl");
    if (root) sheet.prepend(painted(weights, themeOf(root), rightToLeft(picture.columns)));
  });
  return node;
}

const EVERY_HEAD_OF = {
  encoder: translatable("Encoder, every head"),
  decoder: translatable("Decoder, every head"),
  cross: translatable("Cross-attention, every head"),
};
