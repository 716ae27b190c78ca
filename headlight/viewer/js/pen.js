// A context for drawing, as a canvas has one, that writes SVG: what draws a view on the screen draws it for print too.
// It has what the views use of a canvas's context and nothing more.

const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const MARKUP = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

// A text as XML has it; a character that XML cannot hold becomes "\ufffd".
const xmlText = text =>
  String(text)
    .replace(NOT_XML, "\ufffd")
    .replace(/[&<>"]/g, mark => MARKUP[mark]);

// At most three decimals.
const decimals = number => String(+number.toFixed(3));

const PEN_STATE =
  "fillStyle strokeStyle lineWidth lineCap globalAlpha font textAlign textBaseline direction dash".split(" ");

// What is drawn between beginPath and fill, or apart from a context as a Path2D is.
class SvgPath {
  d = "";

  add(letter, ...numbers) {
    this.d += letter + numbers.map(decimals).join(" ");
  }

  moveTo(x, y) {
    this.add("M", x, y);
  }

  lineTo(x, y) {
    this.add("L", x, y);
  }

  bezierCurveTo(...points) {
    this.add("C", ...points);
  }

  quadraticCurveTo(...points) {
    this.add("Q", ...points);
  }

  rect(x, y, w, h) {
    this.d += `M${decimals(x)} ${decimals(y)}h${decimals(w)}v${decimals(h)}h${decimals(-w)}z`;
  }

  roundRect(x, y, w, h, radius) {
    const r = +decimals(Math.min(radius, w / 2, h / 2)),
      corner = (dx, dy) => this.add(`a${r} ${r} 0 0 1 `, dx, dy),
      side = (letter, length) => this.add(letter, length);
    this.moveTo(x + r, y);
    side("h", w - 2 * r);
    corner(r, r);
    side("v", h - 2 * r);
    corner(-r, r);
    side("h", 2 * r - w);
    corner(-r, -r);
    side("v", 2 * r - h);
    corner(r, -r);
    this.d += "z";
  }
}

class SvgPen extends SvgPath {
  fillStyle = "black";
  strokeStyle = "black";
  lineWidth = 1;
  lineCap = "butt";
  globalAlpha = 1;
  font = "10px sans-serif";
  textAlign = "left";
  textBaseline = "alphabetic";
  direction = "ltr";
  dash = [];
  imageSmoothingEnabled = false;
  parts = [];
  definitions = [];
  saved = [];
  open = 0; // groups since the last save

  // The drawing as a document of w x h pixels on the colour `ground`; `title` and `told` are what it says of itself.
  document(w, h, { ground, title, told }) {
    const size = `width="${Math.ceil(w)}" height="${Math.ceil(h)}" viewBox="0 0 ${Math.ceil(w)} ${Math.ceil(h)}"`;
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" ${size}>`,
      `<title>${xmlText(title)}</title>`,
      `<desc>${xmlText(told)}</desc>`,
      `<defs>${this.definitions.join("")}</defs>`,
      `<rect width="100%" height="100%" fill="${ground}"/>`,
      ...this.parts,
      "</svg>\n",
    ].join("\n");
  }

  // ---- where and how ---------------------------------------------------------------------------------

  save() {
    const state = Object.fromEntries(PEN_STATE.map(name => [name, this[name]]));
    this.saved.push({ ...state, open: this.open });
    this.open = 0;
  }

  restore() {
    this.parts.push("</g>".repeat(this.open));
    Object.assign(this, this.saved.pop());
  }

  group(attribute) {
    this.parts.push(`<g ${attribute}>`);
    this.open++;
  }

  translate(x, y) {
    this.group(`transform="translate(${decimals(x)} ${decimals(y)})"`);
  }

  rotate(angle) {
    this.group(`transform="rotate(${decimals((angle * 180) / Math.PI)})"`);
  }

  clip() {
    this.group(`clip-path="url(#${this.define("clipPath", "", `<path d="${this.d}"/>`)})"`);
  }

  // As if a pixel were half as large: what is pooled to the screen's pixels stays as fine as on a fine screen.
  getTransform() {
    return { a: 2 };
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  define(tag, attributes, content) {
    const id = `${tag}-${this.definitions.length}`;
    this.definitions.push(`<${tag} id="${id}"${attributes}>${content}</${tag}>`);
    return id;
  }

  // The lines of masked cells (core.js draws them on canvases).
  hatched({ field, hatch }) {
    const lines = `<path d="M-1 1L1 -1M0 6L6 0M5 7L7 5" stroke="${hatch}"/>`,
      tile = `<rect width="6" height="6" fill="${field}"/>${lines}`;
    return `url(#${this.define("pattern", ' width="6" height="6" patternUnits="userSpaceOnUse"', tile)})`;
  }

  createLinearGradient(x1, y1, x2, y2) {
    const ends = { x1, y1, x2, y2 },
      stops = [];
    const addColorStop = (at, colour) => stops.push(`<stop offset="${decimals(at)}" stop-color="${colour}"/>`);
    const placed = Object.entries(ends).map(([name, value]) => ` ${name}="${decimals(value)}"`);
    const url = () =>
      `url(#${this.define("linearGradient", ` gradientUnits="userSpaceOnUse"${placed.join("")}`, stops.join(""))})`;
    return { addColorStop, toString: url };
  }

  get faded() {
    return this.globalAlpha === 1 ? "" : ` opacity="${decimals(this.globalAlpha)}"`;
  }

  // ---- shapes ----------------------------------------------------------------------------------------

  beginPath() {
    this.d = "";
  }

  newPath() {
    return new SvgPath();
  }

  fill({ d } = this) {
    this.parts.push(`<path d="${d}" fill="${this.fillStyle}"${this.faded}/>`);
  }

  stroke({ d } = this) {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "",
      look = `stroke="${this.strokeStyle}" stroke-width="${decimals(this.lineWidth)}" stroke-linecap="${this.lineCap}"`;
    this.parts.push(`<path d="${d}" fill="none" ${look}${dash}${this.faded}/>`);
  }

  fillRect(...box) {
    this.beginPath();
    this.rect(...box);
    this.fill();
  }

  strokeRect(...box) {
    this.beginPath();
    this.rect(...box);
    this.stroke();
  }

  // A canvas of one pixel a cell, as cells: those of one colour that lie side by side are one rectangle. All of it is
  // drawn, into the last four numbers.
  drawImage(image, ...numbers) {
    const [x, y, w, h] = numbers.slice(-4),
      { width, height } = image,
      { data } = image.getContext("2d").getImageData(0, 0, width, height),
      pixels = new Uint32Array(data.buffer),
      paths = new Map(),
      at = (n, count, from, size) => +decimals(from + (n * size) / count);
    for (let row = 0; row < height; row++) {
      const top = at(row, height, y, h),
        high = decimals(at(row + 1, height, y, h) - top);
      for (let from = 0, to; from < width; from = to) {
        const colour = pixels[row * width + from];
        for (to = from + 1; to < width && pixels[row * width + to] === colour; to++);
        if (!(colour >>> 24)) continue; // masked: what lies below is seen
        const left = at(from, width, x, w),
          wide = decimals(at(to, width, x, w) - left);
        paths.set(colour, `${paths.get(colour) ?? ""}M${left} ${top}h${wide}v${high}h-${wide}z`);
      }
    }
    const hex = colour => [0, 8, 16].map(shift => ((colour >> shift) & 255).toString(16).padStart(2, "0")).join("");
    const cells = [...paths].map(([colour, d]) => `<path fill="#${hex(colour)}" d="${d}"/>`);
    this.parts.push(`<g shape-rendering="crispEdges">${cells.join("")}</g>`);
  }

  // ---- text ------------------------------------------------------------------------------------------

  measureText(text) {
    pixel.font = this.font;
    return pixel.measureText(text);
  }

  fillText(text, x, y) {
    const [, weight, size, family] = /^(?:(\S+) )?([\d.]+)px (.*)$/.exec(this.font),
      middle = this.textBaseline === "middle" ? 0.35 * Number(size) : 0;
    // In SVG the start of what runs to the left is its right end.
    const leftwards = this.direction === "rtl",
      ends = { left: leftwards ? "end" : "start", center: "middle", right: leftwards ? "start" : "end" };
    const font = `font-family="${xmlText(family)}" font-size="${size}"${weight ? ` font-weight="${weight}"` : ""}`,
      runs = leftwards ? ' direction="rtl"' : "";
    const place = `x="${decimals(x)}" y="${decimals(y + middle)}" text-anchor="${ends[this.textAlign]}"${runs}`;
    this.parts.push(`<text ${place} ${font} fill="${this.fillStyle}"${this.faded}>${xmlText(text)}</text>`);
  }
}
