// What is looked at in a step: the rows of one head in all three attentions, over the words themselves; and the
// pointing of that step at another word.

class Looks {
  head;
  layer;
  tooltip;
  changed;
  pick;
  chosen;

  // `changed` is called when another head is chosen, `pick` with what a step is to look at.
  constructor(tooltip, changed, pick) {
    Object.assign(this, { tooltip, changed, pick });
    this.layerBox = el("select", { "aria-label": gettext("Layer") });
    this.headBox = el("select", { "aria-label": gettext("Head") });
    this.layerBox.onchange = () => this.look(+this.layerBox.value, this.head);
    this.headBox.onchange = () => this.look(this.layer, +this.headBox.value);
    this.rows = Object.fromEntries(["cross", "decoder", "encoder"].map(kind => [kind, this.row(kind)]));
    this.editor = new Editor(() => this.point(false));
    this.scale = el("span", { class: "scale", "aria-hidden": "true" });
    this.pointing = clickButton(
      { class: "link" },
      () => this.point(!this.edit),
      icon("edit", 16),
      gettext("Point it at another word"),
    );
    const top = el(
      "div",
      { class: "bar" },
      el("h2", {}, gettext("Attention of this step")),
      el("div", { class: "heads" }, this.layerBox, this.headBox),
    );
    this.hatched = el("span", {}, el("i", { class: "hatch" }), gettext("not written yet: masked"));
    const legend = el("div", { class: "legend" }, el("span", {}, "0", this.scale, "1"), this.hatched, this.pointing);
    const { cross, decoder, encoder } = this.rows;
    this.node = el(
      "section",
      { class: "looks", "aria-label": gettext("Attention of this step") },
      top,
      cross.node,
      this.editor.node,
      decoder.node,
      encoder.node,
      legend,
    );
  }

  row(kind) {
    const words = new WordRow(this.tooltip),
      what = el("span"),
      most = el("span", { class: "muted most" });
    return {
      words,
      what,
      most,
      node: el("div", { class: "attention", "data-kind": kind }, el("div", { class: "over" }, what, most), words.node),
    };
  }

  // `chosen` says whether somebody chose this head.
  open({ layer, head, chosen }) {
    Object.assign(this, { layer, head, chosen });
    this.edit = false;
    this.editor.open();
  }

  look(layer, head) {
    Object.assign(this, { layer, head, chosen: true });
    this.draw();
    shareHead(layer, head);
    this.changed();
  }

  // `now` { header, arrays, theme, step, label, reads, answer }: the step, the token that it writes, the tokens that
  // the decoder reads in all steps, and which answer of the model it is.
  update(now) {
    this.now = now;
    this.draw();
  }

  draw() {
    const { header, theme } = this.now;
    this.scale.style.background = `linear-gradient(90deg, ${theme.stops.join(", ")})`;
    this.options(this.layerBox, header.decoder_heads.layers, translatable("Layer {layer}"), this.layer);
    this.options(this.headBox, header.decoder_heads.heads, translatable("Head {head}"), this.head);
    this.hatched.hidden = !header.hides;
    const { cross, decoder } = this.rows,
      most = this.written(cross, decoder);
    this.read(most);
    for (const { words, most: note } of Object.values(this.rows)) {
      const k = words.largest();
      note.textContent =
        k < 0
          ? ""
          : words.weights[k]
            ? gettext("most on {token}, {weight}", {
                token: isolated(words.labels[k]),
                weight: probabilityText(words.weights[k]),
              })
            : gettext("this head was pruned");
    }
    if (this.edit) this.editor.update(this, header.decoder_heads, this.now.step);
  }

  options(box, count, name, chosen) {
    const option = (_, i) => el("option", { value: i }, gettext(name, { layer: i + 1, head: i + 1 }));
    if (box.length !== count) box.replaceChildren(...Array.from({ length: count }, option));
    box.value = chosen;
  }

  // The decoder's rows; returns the source word that gets most.
  written(cross, decoder) {
    const { header, arrays, theme, step, label, reads, answer } = this.now,
      { source, only, decoder_heads: heads } = header;
    const chosen = [this.layer, this.head],
      row = { size: 1, at: 0 },
      where = placeName(this.layer, this.head);
    const looked = weightsOf(arrays.cross, heads, only, chosen, answer, row, source.length);
    const back = weightsOf(arrays.decoder, heads, only, chosen, answer, row, header.steps);
    cross.words.update({
      labels: source,
      weights: looked,
      theme,
      text: gettext("Cross-attention, {head}", { head: where }),
      pick: this.edit ? k => this.pointAt(k) : null,
    });
    const text = gettext("Decoder attention, {head}", { head: where });
    decoder.words.update({ labels: reads, weights: back, written: step, masks: header.hides, theme, text });
    const sides = { language: header.language, token: quoted(label) };
    this.say(cross, gettext("Cross"), gettext("to the {language} sentence, writing {token}", sides));
    this.say(decoder, gettext("Decoder"), gettext("to the tokens written so far"));
    return cross.words.largest();
  }

  // How the encoder read that word.
  read(most) {
    const { header, arrays, theme } = this.now,
      { source, only, encoder_heads: heads } = header,
      S = source.length;
    const [layer, head] = nearest([this.layer, this.head], heads),
      place = { size: S, at: most };
    const weights = most < 0 ? null : weightsOf(arrays.encoder, heads, only, [layer, head], 0, place, S);
    const other = layer !== this.layer || head !== this.head ? ` (${placeName(layer, head)})` : "";
    this.rows.encoder.words.update({
      labels: source,
      weights,
      theme,
      text: gettext("Encoder attention, {head}", { head: placeName(layer, head) }),
    });
    const read =
      most < 0 ? gettext("how that word was read") : gettext("how {token} was read", { token: quoted(source[most]) });
    this.say(this.rows.encoder, gettext("Encoder"), read + other);
  }

  say(row, name, what) {
    row.what.replaceChildren(bold(name), " ", el("span", { class: "muted" }, what));
  }

  point(on) {
    this.edit = on;
    this.editor.node.hidden = !on;
    this.pointing.setAttribute("aria-expanded", on);
    this.draw();
    const next = on ? this.rows.cross.words.spans[0] : this.pointing;
    next.focus({ preventScroll: true });
  }

  pointAt(word) {
    const heads = this.editor.chosen(this);
    if (!heads) return;
    this.point(false);
    this.pick({ answer: this.now.answer, word, heads });
  }
}

// Which heads are to look elsewhere: one, a layer, all, or any that are ticked.
class Editor {
  constructor(cancel) {
    this.says = el("p");
    this.which = el("div", { class: "which", role: "radiogroup", "aria-label": gettext("Which heads") });
    this.ticks = el("div", { class: "ticks", role: "group", "aria-label": gettext("Heads") });
    const away = clickButton({ class: "link" }, cancel, icon("close", 16), gettext("Cancel"));
    this.node = el("div", { class: "editor" }, this.says, el("div", { class: "bar" }, this.which, away), this.ticks);
  }

  open() {
    this.heads = "head";
    this.ticked = new Set();
    this.node.hidden = true;
  }

  update({ layer, head }, { layers, heads }, step) {
    const again = () => this.update({ layer, head }, { layers, heads }, step);
    // Translators: the choices follow, as "layer 2, head 3" or "all layers".
    const sentence = gettext("Click the word above that step {step} is to look at, and at nothing else, in");
    this.says.replaceChildren(...inParts(sentence, { step: bold(String(step)) }));
    const choices = {
      head: placeName(layer, head),
      layer: gettext("all of layer {layer}", { layer: layer + 1 }),
      all: gettext("all layers"),
      ticked: gettext("heads that you tick"),
    };
    this.which.replaceChildren(
      ...Object.entries(choices).map(([name, text]) => {
        const on = name === this.heads;
        return clickButton(
          { class: "chip", role: "radio", "aria-checked": on, "aria-pressed": on },
          () => {
            this.heads = name;
            again();
            this.which.querySelector("[aria-checked='true']").focus();
          },
          text,
        );
      }),
    );
    this.ticks.hidden = this.heads !== "ticked";
    const rows = Array.from({ length: layers }, (_, l) => this.tickRow(l, heads, again));
    this.ticks.replaceChildren(...rows);
  }

  tickRow(layer, heads, again) {
    const ticks = Array.from({ length: heads }, (_, head) => {
      const key = `${layer} ${head}`,
        on = this.ticked.has(key);
      return clickButton(
        { class: "chip", "aria-pressed": on, "aria-label": headName(layer, head) },
        () => {
          if (on) this.ticked.delete(key);
          else this.ticked.add(key);
          again();
          this.ticks.children[layer].children[head + 1].focus();
        },
        `${head + 1}`,
      );
    });
    return el("div", {}, el("span", { class: "muted" }, gettext("layer {layer}", { layer: layer + 1 })), ...ticks);
  }

  // [layer, head] of each, head null for all of a layer, no entry for all; null where nothing is ticked.
  chosen({ layer, head }) {
    const ticked = [...this.ticked].map(key => key.split(" ").map(Number));
    if (this.heads === "ticked" && !ticked.length) {
      this.says.replaceChildren(gettext("Tick at least one head first, then click the word."));
      return null;
    }
    return { head: [[layer, head]], layer: [[layer, null]], all: [], ticked }[this.heads];
  }
}
