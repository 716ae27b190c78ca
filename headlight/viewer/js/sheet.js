// What pages of their own have around their views: the themes, the address, and what of them another page shows that has
// them in a frame (headlight/viewer/page.css).

const EMBEDDED = ["picture", "sentence"];

const wholeFrom1 = text => (/^[1-9]\d{0,2}$/.test(text ?? "") ? Number(text) - 1 : null);

// The head that an address names, from 0; null where it names none.
const headIn = query => ({ layer: wholeFrom1(query.get("layer")), head: wholeFrom1(query.get("head")) });

class Sheet {
  redraw = () => {}; // in another theme
  tag = "main"; // of the element with the views

  constructor(body) {
    this.body = body;
    this.theme = clickButton({ class: "plain" }, () => this.light(document.documentElement.dataset.theme === "dark"));
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
    this.whole = el("a", { class: "whole", target: "_blank", rel: "noopener" }, gettext("Open as a page of its own"));
  }

  // What the address says.
  query() {
    return new URLSearchParams(location.hash.slice(1));
  }

  // Takes what the address says of the frame: a part to show, and a theme; else `theme`, or that of the browser.
  open(theme = null) {
    this.place = null;
    const query = this.query(),
      said = { embed: query.get("embed"), theme: query.get("theme") };
    this.embed = EMBEDDED.includes(said.embed) ? said.embed : null;
    this.around = this.embed && ["light", "dark"].includes(said.theme) ? said.theme : null;
    if (this.embed) this.body.dataset.embed = this.embed;
    else delete this.body.dataset.embed;
    query.delete("embed");
    query.delete("theme");
    this.whole.href = `#${query}`;
    this.whole.hidden = !this.embed;
    if (this.around || theme || !this.theme.textContent) {
      const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
      this.light((this.around ?? theme ?? system) === "light");
    }
  }

  light(light) {
    document.documentElement.dataset.theme = light ? "light" : "dark";
    this.theme.textContent = light ? gettext("Dark theme") : gettext("Light theme");
    this.redraw();
  }

  // Puts the parts of a page around its views.
  append(top, typed, place, foot) {
    this.body.append(top, typed, place, this.whole, foot);
  }

  onAddress(act) {
    addEventListener("hashchange", act);
  }

  // Paper is light; it takes what is drawn now, so no view may wait for the next frame.
  print(begins) {
    const { dataset } = document.documentElement;
    if (begins) this.onScreen = dataset.theme;
    if (this.onScreen === "light") return;
    this.light(begins);
    const figures = [...document.querySelectorAll(".live-picture")].map(host => host.shadowRoot);
    for (const tree of [document, ...figures])
      for (const root of tree.querySelectorAll(".views .hl")) root.view?.draw();
  }

  // Makes the address say what is shown. Back leads to the page or lesson before, not through every choice on one.
  address(query) {
    const place = `${query.get("page")} ${query.get("lesson")}`,
      turned = this.place !== null && this.place !== place && !this.embed;
    this.place = place;
    this.whole.href = `#${query}`;
    if (this.embed) query.set("embed", this.embed);
    if (this.around) query.set("theme", this.around);
    history[turned ? "pushState" : "replaceState"](null, "", `#${query}`);
  }
}
