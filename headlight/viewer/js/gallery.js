// A gallery: a text with live pictures in it, each a part of the page of a model (web.js) or of a trace (page.js).
//
// The block "gallery" (headlight/web/gallery.py): header title, models [block ids], and parts, which are { heading, level },
// { text }, { view: a query as the page's own address has it, model: its place, name } or { trace: the prefix of its
// blocks, name, kinds, selected, about, without }.

// What stands around the parts of a figure.
class FigureSheet {
  redraw = () => {};
  tag = "div";
  apart = true;
  theme = "";

  constructor(body, view) {
    this.body = body;
    this.view = view;
    if (this.query().get("embed") === "picture") body.dataset.embed = "picture";
  }

  query() {
    return new URLSearchParams(this.view);
  }

  append(_top, typed, place) {
    this.body.append(typed, place);
  }

  open() {}
  onAddress() {}
  address() {}
}

class Gallery {
  engines = new Map(); // by the ids of their blocks
  figures = []; // what draws them anew

  // `viewer` makes all that a figure stands on anew, so that figures show each other nothing.
  constructor(body, viewer) {
    const { header } = blockOf("gallery");
    this.viewer = viewer;
    this.header = header;
    this.style = new CSSStyleSheet();
    this.style.replaceSync(document.querySelector("style").textContent);
    const sheet = new Sheet(body),
      top = el("header", {}, el("h1", {}, header.title), sheet.theme),
      main = el("main", { class: "gallery" }, ...header.parts.map(part => this.part(part)));
    sheet.redraw = () => this.figures.forEach(figure => figure());
    sheet.append(top, "", main, this.foot());
    sheet.open();
    sheet.onAddress(() => sheet.open());
  }

  part(part) {
    if ("heading" in part) return el(`h${part.level}`, {}, part.heading);
    if ("text" in part) return prose(part.text);
    const root = el("div", { class: "figure themed" }),
      host = el("section", { class: "live-picture", "aria-label": part.name });
    const tree = host.attachShadow({ mode: "open" });
    tree.adoptedStyleSheets = [this.style];
    tree.append(root);
    const redraw = "view" in part ? this.model(root, part) : this.trace(root, part);
    this.figures.push(() => {
      root.dataset.theme = document.documentElement.dataset.theme;
      redraw();
    });
    return host;
  }

  model(root, { model, view }) {
    const { App } = this.viewer(),
      block = this.header.models[model],
      sheet = new FigureSheet(root, view);
    if (!this.engines.has(block)) this.engines.set(block, new Engine(block));
    new App(root, this.engines.get(block), sheet);
    return () => sheet.redraw();
  }

  trace(root, { trace, kinds, selected: [kind, layer, head], about, without }) {
    const { Views, FileSource } = this.viewer(),
      views = new Views(new FileSource(kinds, trace), kinds, [kinds[kind], layer, head], CAUTION_TEXT);
    const facts = about.map(([name, text]) =>
      el("div", {}, el("span", {}, `${name}: `), el("b", { dir: "auto" }, text)),
    );
    root.append(
      el("div", { class: "trace-facts" }, ...facts),
      views.bar,
      views.main,
      el("p", { class: "caution" }, without),
    );
    onWidth(root, () => views.draw());
    return () => views.draw();
  }

  // What computes the pictures, as soon as it is known.
  foot() {
    const foot = el("footer", {}, el("p", {}, OFFLINE));
    for (const engine of this.engines.values()) {
      engine.facts.then(
        ({ name, card }) => {
          foot.append(el("p", {}, aboutModel(name, card)));
        },
        () => {}, // each figure says so
      );
    }
    return foot;
  }
}
