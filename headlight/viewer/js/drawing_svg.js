// A picture that the server has drawn, as SVG, for wide places and for narrow ones: the first that fits is shown, as it
// was drawn, and the last smaller where it has to be.
//
// Header: drawn [{ svg, across }], alt. Emits "pick" { of }: the data-pick of what was clicked, or chosen by Enter or
// Space.

class DrawnPicture {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    root.onclick = event => this.picked(event);
    root.onkeydown = event => {
      if (event.key === "Enter" || event.key === " ") this.picked(event);
    };
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(root);
  }

  dispose() {
    this.observer.disconnect();
  }

  update({ header }) {
    this.header = header;
    this.shown = null;
    this.fit();
  }

  fit() {
    const room = this.root.clientWidth,
      { drawn } = this.header;
    const fitting = drawn.find(({ across }) => across <= 1.08 * room) ?? drawn[drawn.length - 1];
    if (fitting === this.shown) return;
    this.shown = fitting;
    const focused = this.root.getRootNode().activeElement?.dataset?.pick;
    const svg = new DOMParser().parseFromString(fitting.svg, "image/svg+xml").documentElement;
    svg.setAttribute("role", svg.querySelector("[data-pick]") ? "group" : "img");
    svg.setAttribute("aria-label", this.header.alt);
    svg.setAttribute("style", "display:block;max-width:100%;height:auto");
    this.root.replaceChildren(document.importNode(svg, true));
    if (!focused) return;
    const picks = /** @type {SVGElement[]} */ ([...this.root.querySelectorAll("[data-pick]")]);
    picks.find(node => node.dataset.pick === focused)?.focus({ preventScroll: true });
  }

  picked(event) {
    const pick = event.target.closest("[data-pick]")?.dataset.pick;
    if (!pick) return;
    event.preventDefault();
    this.emit("pick", { of: pick });
  }
}

const mountDrawnPicture = (root, payload, emit) => mounted(DrawnPicture, root, payload, emit);
