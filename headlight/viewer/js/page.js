// The offline file: the views on one page of their own, fed from the data blocks beside this script.

const blockOf = id => unpack(fromBase64(document.getElementById(id).textContent.trim()));

// What the file has of each kind: every weight.
class FileSource {
  loaded = {};

  constructor(kinds) {
    this.kinds = kinds;
  }

  of(kind) {
    return (this.loaded[kind] ??= blockOf(`kind-${this.kinds.indexOf(kind)}`));
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
      [kind, layer, head] = header.selected;
    this.header = header;
    header.fonts.forEach((family, n) => {
      const bytes = fromBase64(document.getElementById(`font-${n}`).textContent.trim());
      document.fonts.add(new FontFace(family, bytes));
    });
    this.views = new Views(
      new FileSource(header.kinds),
      header.kinds,
      [header.kinds[kind], layer, head],
      header.caution,
    );
    this.theme = el("button", { class: "plain", type: "button" });
    body.append(this.top(), ...this.facts(), this.views.bar, el("main", {}, this.views.main), this.foot());
    this.theme.onclick = () => this.light(document.documentElement.dataset.theme === "dark");
    this.light(header.theme !== "dark");
    onWidth(body, () => this.views.draw());
  }

  top() {
    return el("header", {}, el("h1", {}, this.header.title), this.theme);
  }

  // The first two facts are what the page is about; the others stand at its foot.
  facts() {
    const about = this.header.meta
      .slice(0, 2)
      .map(([name, text]) => el("div", {}, el("span", {}, name), el("p", { dir: "auto" }, text)));
    return about.length ? [el("div", { class: "about" }, ...about)] : [];
  }

  foot() {
    const facts = this.header.meta
      .slice(2)
      .flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, isolated(text))]);
    return el(
      "footer",
      {},
      el("dl", {}, ...facts),
      ...(this.header.rounding ? [el("p", {}, this.header.rounding)] : []),
    );
  }

  light(light) {
    document.documentElement.dataset.theme = light ? "light" : "dark";
    this.theme.textContent = light ? "Dark theme" : "Light theme";
    this.views.draw();
  }
}

new Page(document.body);
