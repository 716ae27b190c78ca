// The offline file: the same three views on one page of their own, fed from the data blocks beside this script.

function bytesOf(id) {
  const text = atob(document.getElementById(id).textContent.trim()),
    bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

class Page {
  layer;
  head;
  header;
  loaded;
  kind;

  constructor(body) {
    const { header } = unpack(bytesOf("page"));
    Object.assign(this, {
      header,
      loaded: {},
      kind: header.selected[0],
      layer: header.selected[1],
      head: header.selected[2],
    });
    header.fonts.forEach((family, n) => document.fonts.add(new FontFace(family, bytesOf(`font-${n}`))));
    this.roots = ["overview", "head", "lines"].map(() => el("div", { class: "hl" }));
    this.name = el("h2");
    this.kinds = el("div", { class: "kinds", role: "group", "aria-label": "Kind of attention" });
    this.theme = el("button", { class: "plain", type: "button" });
    body.append(this.top(), ...this.facts(), this.kinds, this.columns(), this.foot());
    header.kinds.forEach((kind, n) => {
      const button = el("button", { type: "button" }, kind[0].toUpperCase() + kind.slice(1));
      button.onclick = () => this.choose(n, this.layer, this.head);
      this.kinds.append(button);
    });
    this.theme.onclick = () => this.light(document.documentElement.dataset.theme === "dark");
    this.light(header.theme !== "dark");
    onWidth(body, () => this.draw());
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

  columns() {
    const [overview, head, lines] = this.roots;
    return el(
      "main",
      {},
      el("section", {}, el("h2", {}, "Every head"), overview),
      el("section", {}, this.name, head, el("p", { class: "caution" }, this.header.caution)),
      el("section", {}, lines),
    );
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
    this.draw();
  }

  // Another kind may have fewer layers or heads.
  choose(kind, layer, head) {
    const { layers, heads } = this.data(kind).header;
    if (kind !== this.kind) share("held", null); // its words are others
    Object.assign(this, { kind, layer: Math.min(layer, layers - 1), head: Math.min(head, heads - 1) });
    this.draw();
  }

  data(kind) {
    return (this.loaded[kind] ??= unpack(bytesOf(`kind-${kind}`)));
  }

  draw() {
    const { header, arrays } = this.data(this.kind),
      { kind, layer, head } = this,
      [overview, map, lines] = this.roots;
    const { rows, columns, heads } = header,
      size = rows.length * columns.length,
      at = layer * heads * size;
    const one = arrays.weights.subarray(at + head * size, at + (head + 1) * size);
    [...this.kinds.children].forEach((button, n) => button.setAttribute("aria-pressed", n === kind));
    this.name.textContent = `Layer ${layer + 1}, head ${head + 1}`;
    const pick = (_, [l, h]) => this.choose(kind, l, h);
    mountOverview(overview, { header: { ...header, selected: [layer, head], profile: null }, arrays }, pick);
    const large = { ...header, signed: false, bar: "weight", title: null, shows: null };
    mountHead(map, { header: large, arrays: { weights: one, masked: arrays.masked } }, () => {});
    const shown = { heads: [head], mass: 0.9 };
    mountLines(
      lines,
      {
        header: { ...header, shown, title: "Lines" },
        arrays: { weights: arrays.weights.subarray(at, at + heads * size) },
      },
      () => {},
    );
  }
}

new Page(document.body);
