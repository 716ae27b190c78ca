// What a model wrote at each evaluation, a line each; what is new since the line above is underlined.
//
// Header: of (whose), step (looked at, or null), lines [{ step, parts: [[text, new]], log_prob or null, same }].
// Emits "pick" { step } some time after a click.

class Writes {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.shared = new SharedStep(() => this.mark());
    this.body = el("tbody");
    const heads = ["Step", "It writes", "Its log-probability (nats)"].map((name, i) =>
      el("th", { scope: "col", ...(i === 2 ? { class: "n" } : {}) }, name),
    );
    this.box = el(
      "div",
      { class: "writes", tabindex: -1 },
      el("table", {}, el("thead", {}, el("tr", {}, ...heads)), this.body),
    );
    root.replaceChildren(this.box);
    this.body.onkeydown = event => this.key(event);
    this.stop = onWidth(root, () => this.measure());
  }

  dispose() {
    this.stop();
    this.shared.dispose();
  }

  update({ header }) {
    themeOf(this.root);
    this.header = header;
    this.shared.answered(header.step, header.of);
    this.rows = header.lines.map((line, n) => this.row(line, n));
    this.body.replaceChildren(...this.rows);
    this.measure();
    this.marked = null;
    this.mark();
  }

  row({ step, parts, log_prob: probability, same }, n) {
    const words = parts.map(([text, fresh]) => (fresh ? el("ins", {}, text) : text));
    if (!parts.length) words.push(el("span", { class: "muted" }, "(nothing)"));
    else if (same) words.push(el("span", { class: "muted same" }, "unchanged"));
    const text = el("td", { class: "text", dir: "auto" }, ...words);
    const choose = el("button", { type: "button" }, stepName(step));
    const row = el(
      "tr",
      { "data-step": step },
      el("td", {}, choose),
      text,
      el("td", { class: "n" }, probability === null ? "" : signed(probability)),
    );
    row.onclick = () => this.go(n);
    return row;
  }

  go(n) {
    this.shared.choose(this.header.lines[n].step, pick => this.emit("pick", pick));
  }

  key(event) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key],
      at = this.rows.indexOf(event.target.closest("tr"));
    if (!by || at < 0) return;
    event.preventDefault();
    const to = clamp(at + by, 0, this.rows.length - 1);
    this.go(to);
    this.rows[to].querySelector("button").focus({ preventScroll: true });
  }

  // The latest line up to the step that is looked at.
  mark() {
    if (!this.rows) return;
    const { value } = this.shared,
      steps = this.header.lines.map(line => line.step);
    const now = value === null ? steps.length - 1 : lastUpTo(steps, value);
    this.rows.forEach((row, n) => {
      row.classList.toggle("on", n === now);
      row.ariaCurrent = n === now ? "step" : null;
    });
    if (now !== this.marked && now >= 0) this.reveal(this.rows[now]);
    this.marked = now;
  }

  // The head of the table stays in sight while the box scrolls, and wraps where the page is narrow.
  measure() {
    this.head = this.box.querySelector("thead").offsetHeight;
    this.box.style.setProperty("--head", `${this.head}px`);
  }

  // Only the box may scroll, not the page.
  reveal(row) {
    const { box, head } = this;
    if (row.offsetTop < box.scrollTop + head) box.scrollTop = row.offsetTop - head;
    else if (row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight)
      box.scrollTop = row.offsetTop + row.offsetHeight - box.clientHeight;
  }
}

const mountWrites = (root, payload, emit) => mounted(Writes, root, payload, emit);
