// What stands around the cells of one head: the labels of both axes, their titles, the outlines of chosen cells, and the
// colour bar. `map` is the Head of head.js, whose box, view and header say where everything is.

const AXIS_TITLES = { row: translatable("token that looks (query)"), column: translatable("looks at (key)") };
const NUMBERED_TITLES = {
  row: translatable("token that looks (query), by number: zoom in for the words"),
  column: translatable("looks at (key), by number: zoom in for the words"),
};

const labelSize = gap => (gap >= 18 ? 14 : gap >= 14 ? 13 : 12);

// The places of one axis that are labelled, where `size` of `count` are seen: all, or round numbers where the cells are
// smaller than text. Those of `always`, which are pointed at or held, have their label too, and their neighbours make room.
function labelledPlaces(from, size, count, gap, always = []) {
  const first = Math.max(0, Math.ceil(from - 0.5)),
    last = Math.min(count - 1, Math.floor(from + size - 0.5));
  const all = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n);
  if (gap >= LABELLED_FROM) return all;
  const kept = always.filter(i => all.includes(i));
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find(n => n * gap >= 40) || 2000;
  const round = all.filter(i => (i === 0 || (i + 1) % step === 0) && kept.every(k => Math.abs(i - k) * gap >= 30));
  return [...new Set([...round, ...kept])];
}

function drawTitles(context, map) {
  const { box, view, theme, header } = map,
    titles = gap => (gap >= LABELLED_FROM ? AXIS_TITLES : NUMBERED_TITLES);
  context.font = `13px ${theme.font}`;
  context.fillStyle = theme.muted;
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  const rows = gettext(titles(view.down).row),
    columns = gettext(titles(view.across).column);
  if (box.narrow) {
    context.fillText(cutTo(context, `↓ ${rows}, ${map.rtl ? "←" : "→"} ${columns}`, box.width), box.width / 2, 13);
  } else {
    context.textAlign = box.w < context.measureText(columns).width ? "left" : "center";
    context.fillText(columns, box.x + (context.textAlign === "left" ? 0 : box.w / 2), 13);
    context.textAlign = "center";
    context.save();
    context.translate(11, box.y + box.h / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(cutTo(context, rows, box.y + box.h), 0, 0);
    context.restore();
  }
  if (!header.rows_read) return;
  context.textAlign = "right";
  context.fillText(pgettext("column", "reads"), box.x - box.strong, box.y - LABEL_GAP);
  context.fillText(pgettext("column", "writes"), box.x - LABEL_GAP, box.y - LABEL_GAP);
}

function drawLabels(context, map) {
  rowLabels(context, map);
  columnLabels(context, map);
}

// `on` is in the accent; a label that stands where others do not fit has the page's colour under it.
function labelStyle(context, theme, on, gap) {
  context.font = `${on ? 650 : 400} ${labelSize(gap)}px ${theme.font}`;
  context.fillStyle = on ? theme.accent : gap >= LABELLED_FROM ? theme.text : theme.muted;
}

function rowLabels(context, map) {
  const { box, view, theme } = map,
    { rows, rows_read: read } = map.header,
    always = map.marked("row"),
    named = view.down >= LABELLED_FROM;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const i of labelledPlaces(view.y, box.h / view.down, rows.length, view.down, always)) {
    const y = box.y + (i + 0.5 - view.y) * view.down + 1,
      on = always.includes(i);
    labelStyle(context, theme, on, view.down);
    if (named || on) write(context, rows[i], map.rowsRtl, box.strong - 2 * LABEL_GAP, box.x - LABEL_GAP, y);
    else context.fillText(i + 1, box.x - LABEL_GAP, y);
    if (!read || !(named || on)) continue;
    context.font = `${Math.min(13, labelSize(view.down))}px ${theme.font}`;
    context.fillStyle = theme.muted;
    write(context, read[i], map.rowsRtl, box.muted - 4, box.x - box.strong, y);
  }
}

function columnLabels(context, map) {
  const { box, view, theme } = map,
    { columns } = map.header,
    always = map.marked("column"),
    named = view.across >= LABELLED_FROM,
    slant = slantOf(view.across);
  context.textBaseline = "middle";
  const seen = box.w / view.across;
  for (const j of labelledPlaces(map.firstColumn(), seen, columns.length, view.across, always)) {
    const x = box.x + (map.seat(j) + 0.5 - view.x) * view.across,
      on = always.includes(j);
    labelStyle(context, theme, on, view.across);
    context.save();
    context.translate(x + 3, box.y - 8);
    if (named || on) context.rotate(-slant);
    context.textAlign = named || on ? "left" : "center";
    // It may reach over the colour bar, but not past the edge.
    const room = Math.min(LONGEST_LABEL, (box.width - x - 3) / Math.cos(slant));
    if (named || on) write(context, columns[j], map.rtl, room, 0, 0);
    else context.fillText(j + 1, -3, -2);
    context.restore();
  }
}

// Beside the map, or below it where the screen is narrow.
function drawColourBar(context, map) {
  const { box, theme, header } = map,
    { scale, peak, signed } = header,
    flat = box.narrow;
  const x = flat ? 8 : box.x + box.w + 14,
    y = flat ? box.y + box.h + 18 : box.y,
    long = flat ? 120 : box.h;
  const ramp = flat ? context.createLinearGradient(x, 0, x + long, 0) : context.createLinearGradient(0, y + long, 0, y);
  map.colours.forEach((stop, i) => ramp.addColorStop(i / (map.colours.length - 1), stop));
  context.fillStyle = ramp;
  context.strokeStyle = theme.frame;
  context.lineWidth = 0.8;
  context.beginPath();
  context.roundRect(x, y, flat ? long : 8, flat ? 8 : long, 2);
  context.fill();
  context.stroke();
  context.font = `12px ${theme.font}`;
  context.fillStyle = theme.muted;
  context.textBaseline = "alphabetic";
  for (const { at, text } of barMarks(scale, peak, signed)) {
    context.textAlign = !flat ? "left" : at === 0 ? "left" : at === 1 ? "right" : "center";
    if (flat) context.fillText(text, x + long * at, y + 22);
    else context.fillText(text, x + 13, y + long - long * at + (at === 1 ? 10 : at === 0 ? 0 : 4));
  }
  context.textAlign = flat ? "left" : "center";
  if (flat) return context.fillText(cutTo(context, header.bar, box.width - x - long - 10), x + long + 10, y + 9);
  context.save();
  context.translate(x + 44, y + long / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(cutTo(context, header.bar, long), 0, 0);
  context.restore();
}

// Where along the bar which numbers stand.
function barMarks(scale, peak, signed) {
  const mark = (at, text) => ({ at, text }),
    end = significant(peak, 2);
  if (signed) return [mark(0, MINUS + end), mark(0.5, "0"), mark(1, `+${end}`)];
  if (scale === "row") return [mark(0, "0"), mark(1, "max")];
  return [0, 0.5, 1].map(value => mark(shadeOf(value, scale, 1, 1), significant(value * peak, 2)));
}

function drawOutlines(context, map) {
  const { pointed, held, theme } = map,
    other = pointed && held && !sameCell(pointed, held);
  if (held) outline(context, held, theme.accent, map);
  if (pointed && (other || !held)) outline(context, pointed, other ? theme.muted : theme.accent, map);
}

function outline(context, cell, colour, map) {
  const { box, view } = map,
    { rows, columns } = map.header;
  context.save();
  context.beginPath();
  context.rect(box.x - 2, box.y - 2, box.w + 4, box.h + 4);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = Math.min(view.across, view.down) >= 8 ? 2.5 : 1.5;
  // From a cell of one pixel only its outline is seen: it is never drawn smaller than 4.
  const span = (at, from, start, count, gap) => {
    const size = Math.max(gap, 4);
    return at === null ? [start - from * gap, count * gap] : [start + (at - from) * gap + (gap - size) / 2, size];
  };
  const [x, w] = span(map.seat(cell.column), view.x, box.x, columns.length, view.across);
  const [y, h] = span(cell.row, view.y, box.y, rows.length, view.down);
  context.beginPath();
  context.roundRect(x, y, w, h, 2);
  context.stroke();
  context.restore();
}

// A bar along each axis of which only a part is seen.
function drawScrollBars(context, map) {
  const { box, view, theme } = map,
    { rows, columns } = map.header;
  const bar = (x, y, w, h) => {
    context.beginPath();
    context.roundRect(x, y, w, h, 2);
    context.fill();
  };
  context.fillStyle = theme.muted;
  if (map.parted("across")) {
    const share = box.w / columns.length;
    bar(box.x + view.x * share, box.y + box.h + 4, (box.w / view.across) * share, 4);
  }
  if (map.parted("down")) {
    const share = box.h / rows.length;
    bar(box.x + box.w + 4, box.y + view.y * share, 4, (box.h / view.down) * share);
  }
}

const PROMPT_NOTE = translatable("Up to the dashed lines is the prompt, after them what the model wrote.");

// Where the prompt of a model that is only a decoder ends, on both axes.
function drawPrompt(context, map) {
  const { box, view, theme } = map,
    { columns, given } = map.header;
  if (!given) return;
  const [down, across] = given,
    x = box.x + ((map.rtl ? columns.length - across : across) - view.x) * view.across,
    y = box.y + (down - view.y) * view.down;
  context.save();
  context.strokeStyle = theme.text;
  context.lineWidth = 1.2;
  context.setLineDash([5, 4]);
  context.beginPath();
  if (y > box.y && y < box.y + box.h) {
    context.moveTo(box.x, y);
    context.lineTo(box.x + box.w, y);
  }
  if (across && x > box.x && x < box.x + box.w) {
    context.moveTo(x, box.y);
    context.lineTo(x, box.y + box.h);
  }
  context.stroke();
  context.restore();
}
