// What the decoding views share: buttons, numbers, and words coloured by the weight that each gets.

function button(name, label, act) {
  return clickButton({ class: "icon", "aria-label": label, title: label }, act, icon(name));
}

const quoted = label => gettext("\u201c{text}\u201d", { text: isolated(label) });

// The layer and head that a stack has nearest to the chosen ones.
const nearest = ([layer, head], { layers, heads }) => [Math.min(layer, layers - 1), Math.min(head, heads - 1)];

// The weights of one query, [K], out of an array [..., L, H, ..., K] of which some heads may be missing.
// `before` and `after` are the sizes around the heads, `at` the place in each. Null where the head is not here.
function weightsOf(array, { layers, heads }, only, chosen, before, after, keys) {
  const [layer, head] = nearest(chosen, { layers, heads });
  if (only && String(nearest(only, { layers, heads })) !== String([layer, head])) return null;
  const index = only ? 0 : layer * heads + head,
    count = only ? 1 : layers * heads;
  const from = ((before * count + index) * after.size + after.at) * keys;
  return array.subarray(from, from + keys);
}

const FEW_WORDS = 20; // more may take more lines than a row has

// Words in a row, each on the colour of its weight.
class WordRow {
  constructor(tooltip) {
    this.tooltip = tooltip;
    this.node = el("div", { class: "words", role: "img" });
    this.node.onpointerover = event => this.hover(event.target.closest(".word"));
    this.node.onpointerleave = () => this.tooltip.hide();
  }

  /**
   * `weights` are null while they are on their way; `written` words come before those that are not yet written, which
   * are hatched where the model `masks` them; `pick` makes buttons.
   * @param {{ labels: string[], weights: ArrayLike<number> | null, theme: Theme, text: string, written?: number,
   *   masks?: boolean, pick?: ((word: number) => void) | null }} row
   */
  update({ labels, weights, written, masks = true, theme, text, pick }) {
    if (labels !== this.labels) {
      this.labels = labels;
      const rtl = rightToLeft(labels);
      this.spans = labels.map(label => el("span", { class: "word", dir: direction(label, rtl) }, label));
      this.node.dir = directionOf(labels);
      this.node.replaceChildren(...this.spans);
    }
    this.weights = weights;
    this.written = written ?? labels.length;
    this.unwritten = masks ? gettext("not written yet: masked") : gettext("not written yet");
    this.node.classList.toggle("unmasked", !masks);
    this.node.classList.toggle("waiting", !weights);
    this.node.classList.toggle("pickable", !!pick);
    this.spans.forEach((span, k) => this.colour(span, k, theme));
    this.choosable(pick);
    this.node.setAttribute("aria-label", `${text}: ${this.inText()}`);
    if (labels.length > FEW_WORDS) this.reveal(this.spans[this.largest()]);
  }

  // A long sentence scrolls inside its row, to the word that gets most.
  reveal(span) {
    if (span)
      this.node.scrollTop = span.offsetTop - this.node.offsetTop - (this.node.clientHeight - span.offsetHeight) / 2;
  }

  colour(span, k, theme) {
    const hidden = k >= this.written;
    span.classList.toggle("later", hidden);
    if (hidden || !this.weights) {
      span.removeAttribute("style");
      return;
    }
    const colour = attentionColour(this.weights[k], theme);
    const light = luminance(colour) / 255 > (theme.name === "dark" ? 0.5 : 0.56);
    const ink =
      theme.name === "dark"
        ? light
          ? "#141821"
          : PALETTE.dark.text
        : light
          ? PALETTE.light.text
          : PALETTE.light.background;
    span.style.background = cssColour(colour);
    span.style.color = ink;
  }

  // While a word is to be chosen, each is a button.
  choosable(pick) {
    this.node.setAttribute("role", pick ? "group" : "img");
    this.spans.forEach((span, k) => {
      if (pick) {
        span.setAttribute("role", "button");
        span.tabIndex = 0;
      } else {
        span.removeAttribute("role");
        span.removeAttribute("tabindex");
      }
      span.onclick = pick ? () => pick(k) : null;
      span.onkeydown = pick ? event => ["Enter", " "].includes(event.key) && (event.preventDefault(), pick(k)) : null;
    });
  }

  inText() {
    if (!this.weights) return gettext("on its way");
    return this.labels
      .slice(0, this.written)
      .map((label, k) => `${isolated(label)} ${weightText(this.weights[k])}`)
      .join(", ");
  }

  largest() {
    if (!this.weights) return -1;
    let best = 0;
    for (let k = 1; k < this.written; k++) if (this.weights[k] > this.weights[best]) best = k;
    return best;
  }

  hover(span) {
    const k = span ? this.spans.indexOf(span) : -1;
    if (k < 0) return this.tooltip.hide();
    const outer = boxOf(this.tooltip.node.parentElement),
      box = boxOf(span);
    const value =
      k >= this.written ? this.unwritten : this.weights ? weightText(this.weights[k]) : gettext("on its way");
    const at = { x: box.left - outer.left, y: box.bottom - outer.top + 6, w: 0, h: 0 };
    this.tooltip.show(at, [bold(this.labels[k]), " ", value]);
  }
}

// The player and its branches tell each other which head is shown.
function shareHead(layer, head) {
  window.dispatchEvent(new CustomEvent("headlight:head", { detail: { layer, head } }));
}
