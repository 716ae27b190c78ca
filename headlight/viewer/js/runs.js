// The list of runs: name, state by icon and word, progress, and what to do next.
//
// Header: groups [{ title, items: [{ id, name, icon, tone, word, rest, share or null, tags }] }], selected id.
// Emits "pick" id.

class Runs {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.wishes = new Wishes();
    this.send = paced(id => this.emit("pick", id));
    root.onkeydown = event => this.key(event);
  }

  dispose() {}

  update({ header }) {
    themeOf(this.root);
    this.header = header;
    this.selected = this.wishes.answered(header.selected);
    const focused = this.root.getRootNode().activeElement?.dataset?.id;
    const groups = header.groups.filter(group => group.items.length).map(group => this.group(group));
    this.root.replaceChildren(el("div", { class: "runs" }, ...groups));
    if (focused) this.button(focused)?.focus({ preventScroll: true });
    this.reveal();
  }

  // Only the list may scroll, not the page; and not under the reader's hand.
  reveal() {
    const list = this.root.firstChild,
      button = this.button(this.selected);
    list.scrollTop = this.scrolled ?? 0;
    list.onscroll = () => (this.scrolled = list.scrollTop);
    if (!button || this.selected === this.revealed) return;
    this.revealed = this.selected;
    const top = boxOf(button).top - boxOf(list).top,
      bottom = top + button.offsetHeight;
    if (top < 0) list.scrollTop += top - 30;
    else if (bottom > list.clientHeight) list.scrollTop += bottom - list.clientHeight + 8;
  }

  group({ title, items }) {
    const list = el("div", { role: "list", "aria-label": title }, ...items.map(item => this.item(item)));
    return el("div", { class: "group" }, el("h2", {}, title), list);
  }

  item({ id, name, icon: drawing, tone, word, rest, share, tags }) {
    const state = el("span", { class: "state" }, el("span", { class: "word" }, word), rest);
    const button = clickButton(
      { class: `run ${tone}`, "data-id": id, title: name },
      () => this.pick(id),
      icon(drawing, 20),
      el("span", { class: "name" }, name),
      state,
    );
    if (id === this.selected) button.setAttribute("aria-current", "true");
    if (share !== null) {
      const fill = el("i");
      fill.style.width = `${100 * share}%`;
      button.append(el("span", { class: "bar", "aria-hidden": "true" }, fill));
    }
    if (tags.length) button.append(el("span", { class: "tags" }, tags.join(", ")));
    return el("div", { role: "listitem" }, button);
  }

  button(id) {
    return [...this.root.querySelectorAll(".run")].find(button => button.dataset.id === id);
  }

  pick(id) {
    this.wishes.make(id);
    this.selected = id;
    for (const button of this.root.querySelectorAll(".run")) {
      button.ariaCurrent = button.dataset.id === id ? "true" : null;
    }
    this.send(id);
  }

  key(event) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key],
      buttons = [...this.root.querySelectorAll(".run")];
    const at = buttons.indexOf(event.target);
    if (!by || at < 0) return;
    event.preventDefault();
    buttons[clamp(at + by, 0, buttons.length - 1)].focus();
  }
}

const mountRuns = (root, payload, emit) => mounted(Runs, root, payload, emit);
