// What every view shares. These files are joined into one module (in Streamlit) or one function (in the
// offline file), so they are plain declarations: no import, no export, nothing on window.

// Head 9 has the colour of head 1; the dashes tell them apart.
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];
const STEPS = 1024;
const NBSP = "\u00a0";

// One view object for a root element, on which it stands: mounting again updates it, so that Streamlit may run us at will.
function mounted(View, root, payload, emit) {
  if (root.view && !(root.view instanceof View)) {
    root.view.dispose(); // that of another language
    root.replaceChildren();
    root.view = null;
  }
  const view = (root.view ??= new View(root));
  root.fills ??= fillsScreen(root);
  view.emit = emit;
  view.update(payload);
  return {
    view,
    unmount() {
      if (root.view === view) {
        view.dispose();
        root.fills();
        delete root.view;
        delete root.fills;
        root.replaceChildren();
      }
    },
  };
}

// F shows the view that the pointer or the focus is on upon the whole screen, without the page's controls; F or Escape
// ends it.
function fillsScreen(root) {
  const pressed = event => {
    if (event.key.toLowerCase() !== "f" || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.composedPath()[0].closest?.("input, textarea, select, [contenteditable]")) return;
    if (document.fullscreenElement ? isFull(root) : root.matches(":hover, :focus-within")) toggleFull(root);
  };
  document.addEventListener("keydown", pressed);
  return () => document.removeEventListener("keydown", pressed);
}

const isFull = root => root.matches(":fullscreen");

// The height that a view has to itself, of the screen or of a figure (figure.js); null where it is a part of a page.
const ownHeight = root => (isFull(root) ? innerHeight : (root.paper ?? null));

function toggleFull(root) {
  if (isFull(root)) document.exitFullscreen();
  else root.requestFullscreen();
}

// ---- bytes ---------------------------------------------------------------------------------------

const TYPES = { uint8: Uint8Array, float16: Uint16Array, float32: Float32Array };

// The layout that packing.py documents. A view into a longer message may start anywhere: copy it then.
function unpack(bytes) {
  const whole = bytes.byteOffset % 4 ? bytes.slice() : bytes;
  const size = new DataView(whole.buffer, whole.byteOffset, 4).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + size)));
  const arrays = {};
  for (const { name, dtype, shape, at } of header.arrays) {
    const count = shape.reduce((a, b) => a * b, 1);
    const raw = new TYPES[dtype](whole.buffer, whole.byteOffset + 4 + size + at, count);
    arrays[name] = dtype === "float16" ? widened(raw) : raw;
  }
  return { header, arrays };
}

function fromBase64(text) {
  // @ts-ignore: browsers have it since 2025, and it takes a third of the time.
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text),
    bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// float16 as float32, by a table of all of them. A weight is never negative, so half the table is enough.
function widened(halves) {
  const table = Float32Array.from({ length: 1 << 15 }, (_, bits) => {
    const exponent = bits >> 10,
      fraction = bits & 1023;
    return exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction;
  });
  const floats = new Float32Array(halves.length);
  for (let i = 0; i < floats.length; i++) floats[i] = table[halves[i] & 0x7fff];
  return floats;
}

// ---- elements ------------------------------------------------------------------------------------

// Text only ever enters as a text node: a token may be any string.
function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// A button that calls `act` with the event of a click.
function clickButton(attributes, act, ...children) {
  const node = el("button", { type: "button", ...attributes }, ...children);
  node.onclick = act;
  return node;
}

const bold = text => el("b", {}, text);

// Whether a key was pressed on nothing in particular: Streamlit's main part takes the focus where a click finds nothing.
const onNothing = event => event.target === document.body || event.target.dataset?.testid === "stMain";

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

class Tooltip {
  constructor(parent) {
    this.node = el("div", { class: "tip", "aria-hidden": "true" });
    this.node.hidden = true;
    parent.append(this.node);
  }

  // Beside the box x, y, w, h of the parent, on the side that has room; never outside the parent.
  show(box, ...lines) {
    this.node.replaceChildren(...lines.map(line => el("div", {}, ...line)));
    this.node.hidden = false;
    const { offsetWidth: w, offsetHeight: h } = this.node,
      parent = this.node.parentElement;
    const right = box.x + box.w + 10,
      left = box.x - w - 10;
    const x = right + w <= parent.clientWidth ? right : left >= 0 ? left : parent.clientWidth - w;
    this.node.style.left = `${Math.max(0, x)}px`;
    this.node.style.top = `${clamp(box.y, 0, Math.max(0, parent.clientHeight - h))}px`;
  }

  hide() {
    this.node.hidden = true;
  }
}

// ---- colours -------------------------------------------------------------------------------------

const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

// Any CSS colour as [r, g, b]; Streamlit writes its theme in several notations.
function parsed(colour) {
  pixel.fillStyle = "#ffffff";
  pixel.fillStyle = colour.trim();
  pixel.fillRect(0, 0, 1, 1);
  return pixel.getImageData(0, 0, 1, 1).data;
}

// The parts [r, g, b] of a colour that an image has as one number.
const rgbOf = shade => [shade & 255, (shade >> 8) & 255, (shade >> 16) & 255];

const cssColour = rgb => `rgb(${rgb.join(", ")})`;

// The colour of a weight, as [r, g, b].
const attentionColour = (weight, theme) => rgbOf(theme.shades[Math.round(clamp(weight, 0, 1) * STEPS)]);

// The perceived brightness of a colour, from 0 to 255.
const luminance = rgb => 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];

// Text that can be read on a colour: dark on light, light on dark.
const inkOn = rgb => (luminance(rgb) > 143 ? PALETTE.light.text : PALETTE.light.background);

function shadesOf(stops) {
  const points = stops.map(stop => [1, 3, 5].map(i => parseInt(stop.slice(i, i + 2), 16)));
  const shades = new Uint32Array(STEPS + 1);
  for (let step = 0; step <= STEPS; step++) {
    const at = (step / STEPS) * (points.length - 1),
      i = Math.min(points.length - 2, Math.floor(at));
    const [r, g, b] = points[i].map((from, c) => Math.round(from + (points[i + 1][c] - from) * (at - i)));
    shades[step] = 0xff000000 | (b << 16) | (g << 8) | r;
  }
  return shades;
}

const SHADES = { light: shadesOf(PALETTE.light.sequential), dark: shadesOf(PALETTE.dark.sequential) };

// The theme is read from the page's own background, so that a switch while the page is open counts too.
function themeOf(root) {
  const style = getComputedStyle(root);
  const name = luminance(parsed(style.getPropertyValue("--st-background-color") || "#ffffff")) < 128 ? "dark" : "light";
  root.dataset.theme = name;
  const css = variable => style.getPropertyValue(variable).trim();
  return {
    name,
    font: style.fontFamily,
    shades: SHADES[name],
    stops: PALETTE[name].sequential,
    heads: PALETTE[name].heads,
    text: css("--text"),
    muted: css("--muted"),
    faint: css("--faint"),
    line: css("--line"),
    frame: css("--frame"),
    field: css("--field"),
    card: css("--card"),
    hatch: css("--hatch"),
    accent: css("--accent"),
  };
}

const headDash = head => DASHES[Math.floor(head / 8) % DASHES.length];

// A value on its way to the ramp: 0..1 under the chosen scale. `largest` is that of its row.
function shadeOf(value, scale, peak, largest) {
  if (scale === "row") return largest > 0 ? value / largest : 0;
  const share = clamp(value / peak, 0, 1);
  return scale === "sqrt" ? Math.sqrt(share) : share;
}

function scaleNote(scale, peak) {
  if (scale === "row") return gettext("Each row is scaled to its own largest weight.");
  if (scale === "sqrt") return gettext("The colour follows the square root of the weight.");
  return peak === 1 ? "" : gettext("Full colour stands for {weight}.", { weight: significant(peak, 3) });
}

// Within a sentence.
const placeName = (layer, head) => gettext("layer {layer}, head {head}", { layer: layer + 1, head: head + 1 });

const headName = (layer, head) => gettext("Layer {layer}, head {head}", { layer: layer + 1, head: head + 1 });

// ---- canvases ------------------------------------------------------------------------------------

// Where the text is large (ui/widgets/presenting.py) the page is zoomed. The browser then gives the place of a box and of
// the pointer in pixels of the window, which are larger than those that we draw in: these two give both in ours.
const zoomOf = element => element.currentCSSZoom ?? 1;

function boxOf(element) {
  const { x, y, width, height } = element.getBoundingClientRect(),
    zoom = zoomOf(element);
  return new DOMRect(x / zoom, y / zoom, width / zoom, height / zoom);
}

function pointerOf(event) {
  const zoom = zoomOf(event.target);
  return { x: event.clientX / zoom, y: event.clientY / zoom };
}

// How many of the screen's pixels one of ours has.
const pixelsOf = element => (window.devicePixelRatio || 1) * zoomOf(element);

// A canvas of w x h CSS pixels at the screen's own resolution; its context draws in CSS pixels.
function sized(canvas, w, h) {
  const ratio = pixelsOf(canvas);
  const width = Math.max(1, Math.round(w * ratio)),
    height = Math.max(1, Math.round(h * ratio));
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, w, h);
  return context;
}

// Slanted lines on the field colour: a cell that may not be looked at, which is not a weight of zero.
function hatched(context, theme) {
  if (context.hatched) return context.hatched(theme); // of pen.js
  const ratio = context.getTransform().a,
    tile = document.createElement("canvas");
  tile.width = tile.height = Math.round(6 * ratio);
  const size = tile.width,
    pen = tile.getContext("2d");
  pen.fillStyle = theme.field;
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = theme.hatch;
  pen.lineWidth = ratio;
  pen.beginPath();
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift, size);
    pen.lineTo(shift + size, 0);
  }
  pen.stroke();
  const pattern = context.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / ratio));
  return pattern;
}

// rows x columns shades (0..STEPS) as an image of one pixel a cell, transparent where masked; the first column is at the
// right where the columns run so.
function imageOf(shade, masked, rows, columns, theme, rtl = false) {
  const canvas = document.createElement("canvas");
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext("2d"),
    image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) {
    const at = rtl ? i - 2 * (i % columns) + columns - 1 : i;
    pixels[at] = masked[i] ? 0 : theme.shades[shade[i]];
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

// Where there are more cells than pixels: the largest of each bin, masked where all of it is masked.
function maxPooled(shade, masked, rows, columns, toRows, toColumns) {
  if (toRows >= rows && toColumns >= columns) return { shade, masked, rows, columns };
  const h = Math.min(rows, toRows),
    w = Math.min(columns, toColumns);
  const largest = new Uint16Array(h * w),
    hidden = new Uint8Array(h * w).fill(1);
  const bin = new Uint32Array(columns);
  for (let j = 0; j < columns; j++) bin[j] = Math.floor((j * w) / columns);
  for (let i = 0; i < rows; i++) {
    const from = Math.floor((i * h) / rows) * w;
    for (let j = 0; j < columns; j++) {
      const cell = i * columns + j,
        to = from + bin[j];
      if (shade[cell] > largest[to]) largest[to] = shade[cell];
      if (!masked[cell]) hidden[to] = 0;
    }
  }
  return { shade: largest, masked: hidden, rows: h, columns: w };
}

// ---- keys ------------------------------------------------------------------------------------------

// Presenters' remote controls send PageUp and PageDown: what steps with the arrows steps with them too.
const PAGED = { PageUp: "ArrowLeft", PageDown: "ArrowRight" };
const keyOf = event => PAGED[event.key] ?? event.key;

// The step that a key asks for along a row of tokens, 0 for none: an arrow goes where it points, which in a row that runs
// from right to left is the other way, and a remote control goes on or back.
function stepOf(event, rtl) {
  const by = { ArrowLeft: -1, ArrowRight: 1 };
  return rtl && by[event.key] ? -by[event.key] : (by[keyOf(event)] ?? 0);
}

// ---- between the page and us -----------------------------------------------------------------------

// At once, and then at most every `wait` ms with the latest: a held arrow key must not flood the server.
function paced(send, wait = 120) {
  let timer = null,
    next = null;
  const tick = () => {
    timer = null;
    if (next) {
      send(...next);
      next = null;
      timer = setTimeout(tick, wait);
    }
  };
  return (...args) => {
    next = args;
    if (timer === null) tick();
  };
}

// Calls `act` when a font has arrived: what a canvas wrote in another until then has other widths, or no letters.
function onFonts(act) {
  document.fonts.addEventListener("loadingdone", act);
  return () => document.fonts.removeEventListener("loadingdone", act);
}

// Calls `act` when the width changes, and never for a height that our own drawing has changed.
function onWidth(root, act) {
  let width = root.clientWidth;
  const observer = new ResizeObserver(() => {
    if (root.clientWidth !== width) {
      width = root.clientWidth;
      if (width) act();
    }
  });
  observer.observe(root);
  return () => observer.disconnect();
}

// Calls `act` when something beside or around these elements, or around what those stand in, changes its size: what
// stands above an element moves it without changing it.
function onNeighbours(elements, act) {
  const observer = new ResizeObserver(() => act());
  for (let at of elements) {
    for (; at; at = at.parentElement ?? at.getRootNode().host) {
      for (const sibling of at.parentElement?.children ?? [at]) observer.observe(sibling);
    }
  }
  return () => observer.disconnect();
}
