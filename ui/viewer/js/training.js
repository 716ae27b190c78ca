// What the views of a training share: the step that all of them look at, icons, and numbers in few digits.

const SVG = "http://www.w3.org/2000/svg", TELL_AFTER = 400;

function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const ICONS = {
  wave: "M3 13l4-6 4 9 4-12 3 9h3",
  pause: "M9 6v12M15 6v12",
  play: "M8 5.5l10 6.5-10 6.5z",
  stop: "M7 7h10v10H7z",
  check: "M12 3a9 9 0 1 0 .01 0M8 12.2l2.8 2.8L16 9.5",
  warn: "M12 4l9 16H3zM12 10v5M12 17.5v.2",
  book: "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11",
};

function icon(name, size = 20) {
  const look = { fill: "none", stroke: "currentColor", "stroke-width": 1.7, "stroke-linecap": "round", "stroke-linejoin": "round" };
  return svg("svg", { width: size, height: size, viewBox: "0 0 24 24", "aria-hidden": "true", ...look }, svg("path", { d: ICONS[name] }));
}

const grouped = whole => whole.toLocaleString("en");
const stepName = step => (step === 0 ? "before" : grouped(step));

function briefly(value) {
  const size = Math.abs(value);
  if (size >= 1000) return grouped(Math.round(value));
  if (size >= 10) return value.toFixed(1);
  if (size >= 0.1 || value === 0) return value.toFixed(2);
  return size >= 1e-5 ? String(+value.toPrecision(2)) : value.toExponential(1).replace("-", "\u2212");
}

// A round distance that makes about `count` ticks up to `top`.
function tickStep(top, count) {
  const raw = top / count, power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 2.5, 5, 10].find(part => part * power >= raw * 0.999);
}

function tickText(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
  if (size >= 1000) return `${+(value / 1000).toPrecision(3)}k`;
  return size && size < 1e-4 ? value.toExponential(0).replace("-", "\u2212") : String(+value.toPrecision(3));
}

// The index of the last of the rising `values` that is not above `value`; -1 where all are.
function lastUpTo(values, value) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// The step that is looked at, the same in every view of the page; null is the latest there is.
class SharedStep {
  constructor(act) {
    this.act = act;
    this.value = null;
    this.listen = event => event.detail.source !== this && this.take(event.detail.step);
    window.addEventListener("headlight:step", this.listen);
  }

  dispose() {
    window.removeEventListener("headlight:step", this.listen);
    clearTimeout(this.telling);
  }

  // What the page says, of the run called `of`: an answer to an earlier wish must not undo a later one.
  answered(step, of) {
    if (of !== this.of) this.wishes = new Wishes();
    this.of = of;
    this.value = this.wishes.answered(step);
  }

  take(step) {
    this.wishes?.make(step);
    this.value = step;
    this.act();
  }

  // The reader chooses: the other views follow at once, and `tell` says it to the page when the reader rests.
  choose(step, tell) {
    this.take(step);
    window.dispatchEvent(new CustomEvent("headlight:step", { detail: { step, source: this } }));
    clearTimeout(this.telling);
    this.telling = setTimeout(() => tell({ step }), TELL_AFTER);
  }

  // Where the reader is does not become the page's before the play ends.
  hush() {
    clearTimeout(this.telling);
  }
}
