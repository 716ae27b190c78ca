// The overview in the app: every answer tells what is chosen, and the patterns came once. A pick and a switch to another
// kind are drawn at once; the page's answer follows.
//
// Header: of (the id of the patterns), kind, selected [layer, head], switch (selector of the buttons for the kinds, or null).

class Chosen {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.overview = new Overview(root);
    this.overview.chose = pick => this.chose(pick);
    this.kinds = new Wishes();
    this.click = event => this.switched(event.target);
    document.addEventListener("click", this.click, true); // the buttons let nothing bubble
    this.stop = onShared("kinds", () => this.draw());
  }

  dispose() {
    document.removeEventListener("click", this.click, true);
    this.stop();
    this.overview.dispose();
  }

  update({ header }) {
    this.header = header;
    this.kind = this.kinds.answered(header.kind);
    this.draw();
  }

  // Patterns and choice come as two messages: only those that belong together are drawn.
  draw() {
    const given = shared.values.kinds;
    if (!this.header || given?.id !== this.header.of) return;
    const { header, arrays } = given.kinds[this.kind],
      [layer, head] = this.header.selected;
    const selected = [Math.min(layer, header.layers - 1), Math.min(head, header.heads - 1)];
    this.overview.emit = this.emit;
    this.overview.update({ header: { ...header, selected }, arrays });
  }

  switched(target) {
    const button = this.header?.switch && target.closest?.(this.header.switch);
    if (!button) return;
    const kind = Object.keys(shared.values.kinds?.kinds ?? {})[
      [...document.querySelectorAll(this.header.switch)].indexOf(button)
    ];
    if (!kind || kind === this.kind) return;
    this.kinds.make(kind);
    this.kind = kind;
    this.draw();
  }

  // A thumbnail that is not pooled has every cell, if in 256 shades: enough to be seen until the weights are there.
  chose([layer, head]) {
    const {
      header: { heads, queries, keys, thumb, scale },
      arrays,
    } = this.overview;
    if (thumb[0] !== queries || thumb[1] !== keys) return;
    const at = (layer * heads + head) * queries * keys,
      { thumbs, thumbs_masked: masked } = arrays;
    const cell = (q, k) => (masked[q * keys + k] ? null : thumbs[at + q * keys + k] / 255);
    const rows = [...Array(queries).keys()],
      columns = [...Array(keys).keys()];
    const shades = rows.map(q => columns.map(k => cell(q, k)));
    share("chosen", {
      kind: this.kind,
      scale,
      place: [layer, head],
      title: headName(layer, head),
      shades,
    });
  }
}

const mountChosen = (root, payload, emit) => mounted(Chosen, root, payload, emit);
