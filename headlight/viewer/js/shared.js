// What views of one page have in common, by name. It lies on the document, since each component is a module of its own;
// in a notebook, whose cells are pages of their own in one document, SHARED_ON is each cell's (scripts.py).
const shared = (SHARED_ON.headlight ??= Object.assign(new EventTarget(), { values: {} }));

function share(name, value) {
  shared.values[name] = value;
  shared.dispatchEvent(new CustomEvent(name));
}

function onShared(name, act) {
  const listen = () => act(shared.values[name]);
  shared.addEventListener(name, listen);
  return () => shared.removeEventListener(name, listen);
}

// Views of one page tell each other which cell is under the pointer; row or column may be null.
function tellCell(row, column, source) {
  shared.dispatchEvent(new CustomEvent("cell", { detail: { row, column, source } }));
}

function onCell(source, act) {
  const listen = event => event.detail && event.detail.source !== source && act(event.detail);
  shared.addEventListener("cell", listen);
  return () => shared.removeEventListener("cell", listen);
}

// The page answers each wish a moment later. An answer to an earlier wish must not undo a later one, while
// anything that nobody here wished for (a link, Back, another control) is to be shown.
class Wishes {
  constructor() {
    this.open = [];
  }

  make(value) {
    this.value = value;
    this.open.push({ text: JSON.stringify(value), at: Date.now() });
  }

  answered(value) {
    const text = JSON.stringify(value);
    this.open = this.open.filter(wish => Date.now() - wish.at < 3000);
    const at = this.open.findLastIndex(wish => wish.text === text);
    if (at < 0 && text === this.last) return this.value;
    this.open = at < 0 ? [] : this.open.slice(at + 1);
    this.last = text;
    if (!this.open.length) this.value = value;
    return this.value;
  }
}

const sameCell = (one, other) =>
  one === other || (!!one && !!other && one.row === other.row && one.column === other.column);

// The cell, row or column that the views of one page hold until it is released: { row, column }, either may be null, or
// null. The view that is clicked shares it with the others at once and emits it as "held" [row, column]; the page answers.
// What is held, by a click or a link, is shared as "marked" with views that only show it.
class Holding {
  held = null;
  wishes = new Wishes();

  // `view` emits; `act` is called when another is held.
  constructor(view, act) {
    this.view = view;
    this.act = act;
    this.stop = onShared("held", held => this.take(held));
    // Wherever the focus is, but for what has an Escape of its own.
    this.key = event => {
      const taken = event.defaultPrevented || event.target.closest?.("input, textarea, select, [role=dialog]");
      if (event.key === "Escape" && !taken) this.toggle(null);
    };
    document.addEventListener("keydown", this.key);
  }

  dispose() {
    this.stop();
    if (this.held) share("marked", null);
    document.removeEventListener("keydown", this.key);
  }

  // A held cell again, or none, releases it.
  toggle(cell) {
    const next = cell && !sameCell(cell, this.held) ? { row: cell.row, column: cell.column } : null;
    if (!next && !this.held) return;
    share("held", next);
    this.view.emit("held", next && [next.row, next.column]);
  }

  take(held) {
    this.wishes.make(held && [held.row, held.column]);
    this.held = held;
    share("marked", held);
    this.act(held);
  }

  // What the page says is held, of so many rows and columns: an address may say what is not there.
  answered(given, rows, columns) {
    const before = this.held,
      now = this.wishes.answered(given ?? null),
      [row, column] = now ?? [null, null];
    const there = (row === null || row < rows) && (column === null || column < columns);
    this.held = there && (row !== null || column !== null) ? { row, column } : null;
    if (!sameCell(before, this.held)) share("marked", this.held);
  }
}
