// A view as a figure for print or slides: it is mounted once more out of sight, as large as all its tokens need, and
// draws itself, by what draws it on the screen, as SVG (pen.js) or PNG, under a title and the facts of what it shows.

const FIGURE_MARGIN = 16,
  NARROWEST_FIGURE = 420,
  LINES_WIDTH = 460,
  PIXELS = 2; // of a PNG, for each of an SVG

// What is taken of each view: the canvas that it draws, the texts beside it, and what has a frame on the screen.
const FIGURE_PARTS = {
  head: { mount: mountHead, canvas: ".map canvas", texts: [], framed: [] },
  overview: { mount: mountOverview, canvas: ".sheet", texts: [".head", ".layer"], framed: [".thumb"] },
  lines: { mount: mountLines, canvas: ".pinned canvas", texts: [".titles span", ".side .token"], framed: [] },
};

// How wide and high a view has to be so that all tokens are there.
function figureSize(what, { rows, columns, heads }) {
  const cell = clamp(Math.floor(560 / Math.max(rows.length, columns.length)), READABLE_ROW, LARGEST_CELL_AT_FIRST);
  if (what === "head") return [columns.length * cell + 380, rows.length * cell + 300];
  if (what === "lines") return [LINES_WIDTH, Math.max(rows.length, columns.length) * 28 + 180];
  return [heads * (LARGEST_CELL + 14) + 60, 0];
}

// `title` and `facts` (names to texts) are written above; `payload` is the view's (overview.js, head.js, lines.js).
class Figure {
  constructor(what, payload, title, facts, theme) {
    this.title = title;
    this.facts = facts;
    const { mount, canvas, texts, framed } = FIGURE_PARTS[what],
      [width, height] = figureSize(what, payload.header);
    this.root = el("div", { class: "hl themed paper", "aria-hidden": "true" });
    this.root.setAttribute("data-theme", theme);
    this.root.style.width = `${width}px`;
    this.root.paper = height;
    document.body.append(this.root);
    this.mounted = mount(this.root, payload, () => {});
    this.canvas = this.root.querySelector(canvas);
    this.texts = texts.flatMap(selector => [...this.root.querySelectorAll(selector)]);
    this.framed = framed.flatMap(selector => [...this.root.querySelectorAll(selector)]);
    if (what === "head") this.tighten();
    this.measure();
  }

  get theme() {
    return this.mounted.view.theme;
  }

  dispose() {
    this.mounted.unmount();
    this.root.remove();
  }

  // The map takes no more width than its cells and its colour bar.
  tighten() {
    const { view } = this.mounted;
    this.root.style.width = `${view.box.x + view.box.w + COLOUR_BAR}px`;
    view.resize();
  }

  measure() {
    const drawn = [this.canvas, ...this.texts].map(boxOf).filter(({ width }) => width),
      least = name => Math.floor(Math.min(...drawn.map(box => box[name]))),
      most = name => Math.ceil(Math.max(...drawn.map(box => box[name])));
    this.box = new DOMRect(least("left"), least("top"), most("right") - least("left"), most("bottom") - least("top"));
    const room = Math.max(this.box.width, NARROWEST_FIGURE);
    const heading = (text, font, colour) =>
      wrappedTo(pixel, text, room, `${font} ${this.theme.font}`).map(line => ({ line, font, colour }));
    this.heading = [
      heading(this.title, "600 15px", this.theme.text),
      ...this.told.map(fact => heading(fact, "400 13px", this.theme.muted)),
    ].flat();
    this.top = FIGURE_MARGIN * 2 + 20 * this.heading.length;
    this.width = room + 2 * FIGURE_MARGIN;
    this.height = this.top + this.box.height + FIGURE_MARGIN;
  }

  get told() {
    return Object.entries(this.facts).map(([name, text]) => `${name}: ${isolated(text)}`);
  }

  paint(context) {
    context.textBaseline = "alphabetic";
    this.heading.forEach(({ line, font, colour }, n) => {
      context.font = `${font} ${this.theme.font}`;
      context.fillStyle = colour;
      context.fillText(line, FIGURE_MARGIN, FIGURE_MARGIN + 20 * n + 15);
    });
    const from = boxOf(this.canvas);
    context.save();
    context.translate(FIGURE_MARGIN - this.box.left, this.top - this.box.top);
    context.save();
    context.translate(from.left, from.top);
    this.mounted.view.paint(context);
    context.restore();
    this.texts.forEach(node => writeNode(context, node));
    this.framed.map(boxOf).forEach(box => {
      context.strokeStyle = this.theme.frame;
      context.beginPath();
      context.roundRect(box.x, box.y, box.width, box.height, 4);
      context.stroke();
    });
    context.restore();
  }

  svg() {
    const pen = new SvgPen();
    this.paint(pen);
    const told = this.told.join("; ");
    return pen.document(this.width, this.height, { ground: this.ground, title: this.title, told });
  }

  get ground() {
    return PALETTE[this.theme.name].background;
  }

  async png() {
    const canvas = document.createElement("canvas");
    canvas.width = PIXELS * Math.ceil(this.width);
    canvas.height = PIXELS * Math.ceil(this.height);
    const context = canvas.getContext("2d");
    context.scale(PIXELS, PIXELS);
    context.fillStyle = this.ground;
    context.fillRect(0, 0, this.width + 1, this.height + 1);
    this.paint(context);
    const blob = await new Promise(done => canvas.toBlob(done, "image/png"));
    if (!blob) throw new RangeError("This picture is too large for the browser; take the SVG.");
    const plain = new Uint8Array(await blob.arrayBuffer());
    return withTexts(plain, { Title: this.title, Description: this.told.join("; ") });
  }
}

// A text in lines that fit, broken at spaces.
function wrappedTo(context, text, room, font) {
  context.font = font;
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (lines.at(-1) && context.measureText(line).width > room) lines.push(word);
    else lines[lines.length - 1] = line;
  }
  return lines.map(line => cutTo(context, line, room));
}

// The text of an element, of one line, where it stands.
function writeNode(context, node) {
  const style = getComputedStyle(node),
    range = document.createRange(),
    own = boxOf(node);
  range.selectNodeContents(node);
  const { left, right, top, bottom } = range.getBoundingClientRect();
  context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  context.fillStyle = style.color;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const room = Math.min(right, own.right) - Math.max(left, own.left) + 1;
  write(context, node.textContent, style.direction === "rtl", room, Math.max(left, own.left), (top + bottom) / 2);
}

// ---- what a PNG says of itself -----------------------------------------------------------------------

const AFTER_HEADER = 33; // bytes of a PNG: its signature and the chunk IHDR

// The file with texts (names to texts) in chunks "iTXt", in UTF-8.
function withTexts(png, texts) {
  const chunks = Object.entries(texts).map(([name, text]) => {
    const content = new TextEncoder().encode(`iTXt${name}\0\0\0\0\0${text}`),
      chunk = new Uint8Array(content.length + 8),
      view = new DataView(chunk.buffer);
    view.setUint32(0, content.length - 4);
    chunk.set(content, 4);
    view.setUint32(content.length + 4, checksum(content));
    return chunk;
  });
  return new Blob([png.subarray(0, AFTER_HEADER), ...chunks, png.subarray(AFTER_HEADER)], { type: "image/png" });
}

// CRC-32, as PNG has it.
function checksum(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
