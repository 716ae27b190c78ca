// What the views of a training share: the step that all of them look at, and the ticks of their axes.

const STEP_REPORT_DELAY_MS = 400;

const stepName = step => (step === 0 ? "before" : integer(step));

// A round distance that makes about `count` ticks up to `top`.
function tickStep(top, count) {
  const raw = top / count,
    power = 10 ** Math.floor(Math.log10(raw));
  return power * [1, 2, 2.5, 5, 10].find(part => part * power >= raw * 0.999);
}

// The index of the last of the rising `values` that is not above `value`; -1 where all are.
function lastUpTo(values, value) {
  let low = 0,
    high = values.length;
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
    this.telling = setTimeout(() => tell({ step }), STEP_REPORT_DELAY_MS);
  }

  // Where the reader is does not become the page's before the play ends.
  hush() {
    clearTimeout(this.telling);
  }
}
