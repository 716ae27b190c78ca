// What views of one page have in common. Each component is a module of its own, so what they show each other lies on
// the document, by name.
const shared = (document.headlight ??= Object.assign(new EventTarget(), { values: {} }));

function share(name, value) {
  shared.values[name] = value;
  shared.dispatchEvent(new CustomEvent(name));
}

function onShared(name, act) {
  const listen = () => act(shared.values[name]);
  shared.addEventListener(name, listen);
  return () => shared.removeEventListener(name, listen);
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
