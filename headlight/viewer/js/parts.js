// One token through a part that is no attention: its vectors one below the other, and where it ends in words, those.
//
// Header: tokens (labels), token (from 0), label, rows [{ name, note, values (an array's name), group (of one
//   scale) }], bars [{ label, share, note }], check (text).
// Arrays: float32, as the rows name them. Emits "pick" { query } from 0.

class Parts {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.tokens = new Chips("Token", query => this.pick(query));
    this.holder = labelled("Token", this.tokens.node);
    this.body = el("div", { class: "vectors" });
    this.bars = el("div", { class: "bars likely" });
    this.legend = el("div", { class: "legend" });
    root.replaceChildren(el("div", { class: "controls" }, this.holder), this.body, this.bars, this.legend);
    this.tip = new Tooltip(root);
    tellNumbers(root, this.tip);
  }

  dispose() {}

  update({ header, arrays }) {
    this.header = header;
    this.theme = themeOf(this.root);
    this.holder.firstChild.textContent = header.label;
    this.tokens.show(header.tokens, header.token);
    this.body.classList.remove("waiting");
    const limits = {};
    for (const { group } of header.rows)
      limits[group] ??= limitOf(...header.rows.filter(row => row.group === group).map(row => arrays[row.values]));
    this.body.replaceChildren(
      ...header.rows.map(({ name, note, values, group }) => {
        const picture = strip(arrays[values], limits[group], this.theme, name);
        picture.setAttribute("aria-hidden", "true");
        const facts = [`length ${compact(lengthOf(arrays[values]))}`, ...(note ? [note] : [])].join(", ");
        return el(
          "div",
          { class: "vector" },
          el("div", {}, bold(name), " ", el("span", { class: "muted" }, `${arrays[values].length} numbers, ${facts}`)),
          picture,
        );
      }),
    );
    this.bars.replaceChildren(
      ...header.bars.flatMap(({ label, share, note }) => {
        const bar = el("i");
        bar.style.width = `${100 * share}%`;
        return [
          el("span", { class: "word" }, label),
          el("span", { class: "track" }, bar),
          el("span", { class: "number" }, weightText(share)),
          el("span", { class: "muted" }, note),
        ];
      }),
    );
    this.bars.hidden = !header.bars.length;
    const scale = el("i", { class: "scale" });
    scale.style.background = `linear-gradient(90deg,${PALETTE[this.theme.name].signed.join(",")})`;
    const full = Object.entries(limits)
      .map(([group, limit]) => `${group} ±${compact(limit)}`)
      .join(", ");
    this.legend.replaceChildren(
      el("span", { class: "check" }, icon("check"), header.check),
      el("span", {}, "below zero", scale, "above zero"),
      el("span", {}, `Full colour: ${full}.`),
    );
  }

  pick(query) {
    this.tokens.show(this.header.tokens, query);
    this.body.classList.add("waiting");
    this.emit("pick", { query });
  }
}

const mountParts = (root, payload, emit) => mounted(Parts, root, payload, emit);
