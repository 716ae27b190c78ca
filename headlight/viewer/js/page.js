// The offline file: the views on one page of their own, fed from the data blocks beside this script.

const blockOf = id => unpack(fromBase64(document.getElementById(id).textContent.trim()));

// What the file has of each kind: every weight. The ids of a figure's blocks begin with its own `prefix`.
class FileSource {
  loaded = {};

  constructor(kinds, prefix = "") {
    this.kinds = kinds;
    this.prefix = prefix;
  }

  of(kind) {
    return (this.loaded[kind] ??= blockOf(`${this.prefix}kind-${this.kinds.indexOf(kind)}`));
  }

  layer(kind, layer) {
    const { header, arrays } = this.of(kind),
      size = header.heads * header.queries * header.keys;
    return arrays.weights.subarray(layer * size, (layer + 1) * size);
  }

  head(kind, layer, head) {
    const { queries, keys } = this.of(kind).header,
      size = queries * keys;
    return this.layer(kind, layer).subarray(head * size, (head + 1) * size);
  }
}

class Page {
  constructor(body) {
    const { header } = blockOf("page"),
      { kinds } = header,
      [kind, layer, head] = header.selected;
    this.header = header;
    header.fonts.forEach((family, n) => {
      const bytes = fromBase64(document.getElementById(`font-${n}`).textContent.trim());
      document.fonts.add(new FontFace(family, bytes));
    });
    this.views = new Views(new FileSource(kinds), kinds, [kinds[kind], layer, head], header.caution);
    this.sheet = new Sheet(body);
    this.sheet.redraw = () => this.views.draw();
    this.views.chose = (...chosen) => this.sheet.address(this.link(...chosen));
    const main = el("main", {}, this.views.bar, this.views.main);
    this.sheet.append(this.top(), this.facts(), main, this.foot());
    this.select();
    this.sheet.open(header.theme);
    this.sheet.onAddress(() => {
      this.select();
      this.sheet.open();
      this.views.draw();
    });
    onWidth(body, () => this.views.draw());
  }

  // Takes the kind and the head that the address names, where they are in the file.
  select() {
    const query = this.sheet.query(),
      named = query.get("kind"),
      { layer, head } = headIn(query);
    if (this.header.kinds.includes(named)) this.views.kind = named;
    const { layers, heads } = this.views.source.of(this.views.kind).header;
    this.views.layer = Math.min(layer ?? this.views.layer, layers - 1);
    this.views.head = Math.min(head ?? this.views.head, heads - 1);
  }

  link(kind, layer, head) {
    return new URLSearchParams({ kind, layer: String(layer + 1), head: String(head + 1) });
  }

  top() {
    return el("header", {}, el("h1", {}, this.header.title), this.sheet.theme);
  }

  // The first two facts are what the page is about; the others stand at its foot.
  facts() {
    const about = this.header.meta
      .slice(0, 2)
      .map(([name, text]) => el("div", {}, el("span", {}, name), el("p", { dir: "auto" }, text)));
    return about.length ? el("div", { class: "about" }, ...about) : "";
  }

  foot() {
    const facts = this.header.meta
      .slice(2)
      .flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, isolated(text))]);
    const notes = [this.header.without, this.header.rounding].filter(Boolean);
    return el("footer", {}, el("dl", {}, ...facts), ...notes.map(note => el("p", {}, note)));
  }
}
