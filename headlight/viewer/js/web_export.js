// What can be taken away of a page of its own: its views as SVG and PNG, and the exact weights as CSV, as the app makes
// them (ui/attention/downloads.py). All is made in the browser.

const ATTENTIONS = {
  encoder: translatable("Encoder self-attention"),
  decoder: translatable("Decoder self-attention"),
  cross: translatable("Cross-attention"),
};
const TAKEN = {
  head: gettext("This head"),
  overview: gettext("Every head of this kind"),
  lines: gettext("Its lines"),
};
const MAX_STEM_CHARACTERS = 48; // letters of a sentence in the name of a file
// A cell that a spreadsheet would take for a formula (csv_text in headlight/formatting.py).
const FORMULA = /((?:^|[;\t\r\n])[\s"\0\u200b\ufeff]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

// The beginning of a file's name: letters and digits of any script, a long sentence ends after a word.
function fileStem(...parts) {
  const short = part => {
    const words = part
      .normalize("NFC")
      .replace(/[^\p{L}\p{N}\p{M}]+/gu, " ")
      .trim()
      .split(" ");
    while (words.length > 1 && words.join("-").length > MAX_STEM_CHARACTERS) words.pop();
    return graphemes(words.join("-")).slice(0, MAX_STEM_CHARACTERS).join("");
  };
  return parts.map(short).filter(Boolean).join("-") || "headlight";
}

// Rows as CSV, each ended by CR LF. A weight has all digits of a float32; null is an empty cell.
function csvText(rows) {
  const cell = value =>
    value === null
      ? ""
      : typeof value === "number"
        ? String(+value.toPrecision(9))
        : `"${value.replace(FORMULA, "$1'").replaceAll('"', '""')}"`;
  return rows.map(row => `${row.map(cell).join(",")}\r\n`).join("");
}

function saveFile(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The menu. `shown` returns { views, trace, model: { name, title, source, target }, off } of what is on the page.
class ExportMenu {
  constructor(shown) {
    this.shown = shown;
    this.status = el("p", { class: "export-status", role: "status" });
    const groups = Object.entries(TAKEN).map(([what, label]) => {
      const forms = what === "lines" ? ["SVG", "PNG"] : ["SVG", "PNG", "CSV"];
      return el(
        "div",
        { role: "group", "aria-label": label },
        el("span", {}, label),
        ...forms.map(form => this.button(what, form)),
      );
    });
    this.panel = el("div", { class: "export-panel" }, ...groups, this.status);
    this.node = el("details", { class: "export" }, el("summary", { class: "plain" }, gettext("Export")), this.panel);
    this.node.onkeydown = event => {
      if (event.key !== "Escape" || !this.node.open) return;
      this.node.open = false;
      this.node.querySelector("summary").focus();
    };
    document.addEventListener("pointerdown", event => {
      if (!this.node.contains(/** @type {Node} */ (event.target))) this.node.open = false;
    });
  }

  button(what, form) {
    const label = gettext("{what} as {form}", { what: TAKEN[what], form }),
      node = clickButton({ class: "plain", "aria-label": label }, () => this.save(what, form), form);
    return node;
  }

  async save(what, form) {
    try {
      const name = `${this.stem(what)}.${form.toLowerCase()}`;
      saveFile(await this.made(what, form), name);
      this.status.textContent = gettext("Saved: {file}", { file: name });
    } catch (error) {
      if (!(error instanceof RangeError)) console.error(error);
      this.status.textContent = error instanceof RangeError ? error.message : gettext("This could not be written.");
    }
  }

  async made(what, form) {
    if (form === "CSV") return new Blob([what === "head" ? this.headCsv() : this.everyCsv()], { type: "text/csv" });
    // Slides have the theme of the page; what is printed stands on white.
    const theme = form === "SVG" ? "light" : document.documentElement.dataset.theme,
      payload = this.shown().views.payload(what);
    if (what === "lines") payload.header.shown = this.lined();
    const figure = new Figure(what, payload, this.title(what), this.facts(), theme);
    try {
      return form === "SVG" ? new Blob([figure.svg()], { type: "image/svg+xml" }) : await figure.png();
    } finally {
      figure.dispose();
    }
  }

  // What the lines show: { heads, mass }.
  lined() {
    return this.shown().views.lined();
  }

  // In the name of a file: the chosen head, or all of its kind.
  place(what) {
    const { layer, head } = this.shown().views;
    if (what === "overview") return "every head";
    const heads = what === "lines" ? this.lined().heads : [head],
      named = `head${heads.length > 1 ? "s" : ""} ${heads.map(one => one + 1).join(", ")}`;
    return `layer ${layer + 1}, ${named}${what === "lines" ? ", lines" : ""}`;
  }

  title(what) {
    const { kind, layer, head } = this.shown().views,
      named = { attention: gettext(ATTENTIONS[kind]), layer: layer + 1, head: head + 1 };
    if (what === "overview") return gettext("{attention}, every head, raw weights", named);
    if (what === "head") return gettext("{attention}, layer {layer}, head {head}, raw weights", named);
    const { heads, mass } = this.lined();
    return ngettext(
      "{attention}, layer {layer}, head {heads}: lines of the strongest {share} of each row",
      "{attention}, layer {layer}, heads {heads}: lines of the strongest {share} of each row",
      heads.length,
      { ...named, heads: heads.map(one => one + 1).join(", "), share: percent(mass) },
    );
  }

  stem(what) {
    const { views, trace, model, off } = this.shown();
    return fileStem(model.name, off.length ? "changed" : "", `${views.kind} ${this.place(what)}`, trace.text);
  }

  // What every file says of itself: name to text.
  facts() {
    const { trace, model, off } = this.shown(),
      side = (name, language) => (language ? `${name} (${language})` : name);
    const facts = {
      [gettext("Model")]: model.title ? `${model.title} (${model.name})` : model.name,
      [side(gettext("Source"), model.source)]: trace.text,
      [side(gettext("Target"), model.target)]: trace.translation,
    };
    const changed = off.map(change => {
      const [, kind, layer, head] = CHANGE.exec(change);
      return gettext(HEADS_IN_TEXT[kind], { layer, head });
    });
    if (changed.length) facts[gettext("Heads switched off")] = changed.join("; ");
    if ([...trace.source.labels, ...trace.target.labels].some(label => label.includes(SPACE_MARK)))
      facts[SPACE_MARK] = "a space: a token that begins with it begins a word";
    return facts;
  }

  // The facts, an empty row, and the matrix: a row for each query. A masked cell is empty, since it is not 0.
  headCsv() {
    const { views } = this.shown(),
      { kind, layer, head } = views,
      { header, arrays } = views.source.of(kind),
      weights = views.source.head(kind, layer, head),
      K = header.keys;
    const rows = header.rows.map((label, q) => [
      label,
      ...header.columns.map((_, k) => (arrays.masked[q * K + k] ? null : weights[q * K + k])),
    ]);
    const facts = Object.entries({ Attention: this.title("head"), ...this.facts() });
    return csvText([...facts, [], ["query \\ key", ...header.columns], ...rows]);
  }

  // Every weight of every head of the kind, a row for each: layers, heads and positions count from 1.
  everyCsv() {
    const { views } = this.shown(),
      { kind } = views,
      { header, arrays } = views.source.of(kind),
      { layers, queries: Q, keys: K } = header,
      rows = [];
    for (let layer = 0; layer < layers; layer++) {
      const weights = views.source.layer(kind, layer);
      weights.forEach((weight, at) => {
        const [head, q, k] = [Math.floor(at / (Q * K)), Math.floor(at / K) % Q, at % K],
          value = arrays.masked[q * K + k] ? null : weight;
        rows.push([layer + 1, head + 1, q + 1, header.rows[q], k + 1, header.columns[k], value]);
      });
    }
    const facts = Object.entries({ Attention: this.title("overview"), ...this.facts() });
    return csvText([...facts, [], ["layer", "head", "query", "query token", "key", "key token", "weight"], ...rows]);
  }
}
