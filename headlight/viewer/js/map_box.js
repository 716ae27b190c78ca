// Where the map of one head stands on its canvas, and how large its cells are: numbers in, numbers out. All in pixels.

const LABELLED_FROM = 12, // of a cell: the limit down to which labels shrink
  LONGEST_LABEL = 112,
  LABEL_GAP = 10,
  LARGEST_CELL_AT_FIRST = 48,
  READABLE_ROW = 16,
  SHORTEST_SIDE = 220,
  TALLEST_MAP = 640,
  WHOLE_UP_TO = 96, // tokens, up to which a map begins with cells that are labelled, even if it has to scroll
  NARROW = 420, // of the canvas: then titles and colour bar stand above and below
  COLOUR_BAR = 64;

// Upright labels would bury each other, so they lean; more where the cells are narrow.
const slantOf = across => ((across >= 21 ? 42 : 62) * Math.PI) / 180;

// The labels take what they need, the cells what is left. Where cells that can be labelled are more than fit, the map
// shows a part of itself to begin with and scrolls; only with more than WHOLE_UP_TO tokens it begins with all, unlabelled.
//
// `widest` has the widths of the widest label of rows, columns, and of what is read (or null). Returns x, y, w, h of the
// cells' window; high, the canvas's height; strong and muted, the room of the two labels of a row; and two sizes of a cell
// { across, down }: start, that the map begins with, and whole, with which all of it is in the window.
//
// `screen` is the height of a screen that the map fills, or null where it is a part of a page. `most` has the rows and
// columns of another map, of as much width: both have the cells that the larger has.
function mapBox(rows, columns, widest, width, screen = null, most = { rows, columns }) {
  const box = sizedBox(Math.max(rows, most.rows), Math.max(columns, most.columns), widest, width, screen);
  const { across, down } = box.start,
    w = Math.min(box.w, across * columns),
    h = Math.min(box.h, down * rows);
  return { ...box, w, h, high: box.high - box.h + h, whole: { across: w / columns, down: h / rows } };
}

function sizedBox(rows, columns, widest, width, screen) {
  const largest = screen ? 3 * LARGEST_CELL_AT_FIRST : LARGEST_CELL_AT_FIRST;
  const narrow = width < NARROW,
    titled = narrow ? 0 : 22,
    most = (width * (narrow ? 0.45 : 0.4) - titled) / (widest.read ? 2 : 1);
  const strong = Math.ceil(Math.min(LONGEST_LABEL + 2 * LABEL_GAP, most, widest.rows + 2 * LABEL_GAP));
  const read = widest.read ? Math.max(36, widest.read * 0.93) + 4 : 0; // its letters are smaller
  const muted = read ? Math.ceil(Math.min(LONGEST_LABEL, most, read)) : -LABEL_GAP;
  const x = titled + strong + muted,
    room = width - x - (narrow ? 8 : COLOUR_BAR);
  // On a narrow screen a finger scrolls the page, not the map: all rows that can be labelled are there.
  const page = narrow && rows <= WHOLE_UP_TO ? READABLE_ROW * WHOLE_UP_TO : TALLEST_MAP,
    tallest = screen ? Math.max(SHORTEST_SIDE, screen - 300) : page;
  const square = Math.min(room / columns, tallest / rows, largest);
  // A few rows that look at hundreds of columns, or the reverse: the short side keeps a size that can be read.
  const size = (count, side, least) => {
    const gap = Math.max(square, Math.min(side / count, largest), least),
      labelled = count <= WHOLE_UP_TO ? Math.max(gap, LABELLED_FROM) : gap;
    return labelled >= 6 ? Math.floor(labelled) : labelled;
  };
  const across = size(columns, Math.min(SHORTEST_SIDE, room), 0),
    down = size(rows, SHORTEST_SIDE, Math.min(READABLE_ROW, tallest / rows));
  const w = Math.min(room, across * columns),
    h = Math.min(tallest, down * rows);
  const lean = Math.min(LONGEST_LABEL, widest.columns) * Math.sin(slantOf(across)) + LABEL_GAP,
    y = Math.ceil(30 + Math.max(40, lean));
  const sizes = { start: { across, down }, whole: { across: w / columns, down: h / rows } };
  return { x, y, w, h, high: y + h + (narrow ? 46 : 10), width, narrow, strong, muted, ...sizes };
}
