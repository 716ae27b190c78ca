// The whole network as the paper's figure on its side: straight residual streams, blocks hanging off them, memory
// coming down to each cross-attention. A click, or the arrow keys and Enter, open a part.
//
// Header: encoder, decoder { layers, heads }, pre, final (norm at the end of a stack), positions,
//   shapes { memory, stream, logits } (as text), heading [S, T] (as text), selected, head (from 0, of the selected
//   attention, or null), parts [{ name, kind, layer, title, facts, size,
//   pruned (heads that an attention lacks) }].
// Emits "pick" { part, head }, the head null unless one was picked.

const TALL = 316,
  STREAMS = { encoder: 106, decoder: 262 },
  MEMORY_Y = 140;
const EMBEDDING = 84,
  FIRST_LAYER_X = EMBEDDING + 55,
  WIDE_GAP = 54,
  SLIM_GAP = 12;
const MIN_OPEN_WIDTH = 280,
  OUTPUT = 100,
  NORM = 46;
const NAMES = { encoder: "Self-attention", decoder: "Self-attention", cross: "Cross-attention", ff: "Feed-forward" };
const BRIEF = { encoder: "self", decoder: "self", cross: "cross", ff: "ff" };

class NetworkMap {
  /** @type {Emit} */ emit;
  selected;
  head;

  constructor(root) {
    this.root = root;
    this.wishes = new Wishes();
    this.frame = el("div", { class: "map-frame" });
    this.facts = el("div", { class: "facts" });
    root.replaceChildren(this.frame, this.facts);
    this.frame.onkeydown = event => this.pressed(event);
    this.stop = onWidth(root, () => this.draw());
  }

  dispose() {
    this.stop();
  }

  update({ header }) {
    this.header = header;
    this.theme = themeOf(this.root);
    const before = this.selected;
    [this.selected, this.head] = this.wishes.answered([header.selected, header.head]);
    this.draw();
    if (this.selected !== before) this.reveal(this.selected);
  }

  // A deep network is wider than the page.
  reveal(part) {
    const node = this.frame.querySelector(`[data-part="${part}"]`);
    if (!node) return;
    const inner = boxOf(node),
      outer = boxOf(this.frame);
    if (inner.right > outer.right) this.frame.scrollLeft += inner.right - outer.right + 24;
    if (inner.left < outer.left) this.frame.scrollLeft += inner.left - outer.left - 24;
  }

  index(name, kind, layer = null) {
    return this.header.parts.findIndex(part => part.name === name && part.kind === kind && part.layer === layer);
  }

  pick(part, head = null) {
    // What it opens lies below the map.
    this.frame.scrollIntoView({ block: "start", behavior: "smooth" });
    this.wishes.make([part, head]);
    [this.selected, this.head] = [part, head];
    this.draw();
    this.emit("pick", { part, head });
  }

  focus(part) {
    const node = this.frame.querySelector(`[data-part="${part}"]`);
    for (const other of this.frame.querySelectorAll("[data-part]"))
      other.setAttribute("tabindex", other === node ? 0 : -1);
    node.focus({ preventScroll: true });
    this.reveal(part);
  }

  // Left and right go along a stream, up and down to the part of the other stream that stands nearest.
  pressed(event) {
    const at = Number(event.target.dataset?.part),
      { parts } = this.header;
    if (Number.isNaN(at)) return;
    const stack = part => (part.kind === "encoder" ? "encoder" : "decoder");
    const box = part => boxOf(this.frame.querySelector(`[data-part="${part}"]`)),
      x = part => box(part).x + box(part).width / 2;
    const others = parts.map((_, i) => i).filter(i => stack(parts[i]) !== stack(parts[at]));
    const nearest = () =>
      others.reduce((best, i) => (Math.abs(x(i) - x(at)) < Math.abs(x(best) - x(at)) ? i : best), others[0]);
    const to = {
      ArrowRight: () => Math.min(at + 1, parts.length - 1),
      ArrowLeft: () => Math.max(at - 1, 0),
      Home: () => 0,
      End: () => parts.length - 1,
      ArrowUp: () => (stack(parts[at]) === "decoder" ? nearest() : at),
      ArrowDown: () => (stack(parts[at]) === "encoder" ? nearest() : at),
    }[keyOf(event)];
    if (to) this.focus(to());
    else if (event.key === "Enter" || event.key === " ") this.pick(at);
    else return;
    event.preventDefault();
  }

  say(part) {
    const { title, facts } = this.header.parts[part];
    this.facts.replaceChildren(bold(title), " ", facts);
  }

  // ---- drawing -------------------------------------------------------------------------------------

  draw() {
    const width = this.root.clientWidth;
    if (!this.header || !width) return;
    const { encoder, decoder, final, pre } = this.header,
      layers = Math.max(encoder.layers, decoder.layers),
      slim = layers - 1;
    // Where the map scrolls anyway, its blocks have room for a name.
    const slimmest = layers > 4 ? 144 : pre ? 112 : 130;
    const right = 26 + (final ? NORM + 18 : 0) + OUTPUT,
      gaps = slim ? WIDE_GAP + (slim - 1) * SLIM_GAP : 0;
    const least = FIRST_LAYER_X + MIN_OPEN_WIDTH + gaps + slim * slimmest + WIDE_GAP + right;
    this.width = Math.max(width, least);
    this.end = this.width - right; // where the layers and their last gap end
    const room = this.end - FIRST_LAYER_X - gaps - WIDE_GAP;
    const open = Math.max(MIN_OPEN_WIDTH, slim ? Math.min(0.58 * room, room - slim * slimmest) : Math.min(room, 620));
    const each = slim ? Math.min(190, (room - open) / slim) : 0;
    this.columns = [[FIRST_LAYER_X, open]];
    for (let n = 0; n < slim; n++) this.columns.push([FIRST_LAYER_X + open + WIDE_GAP + n * (each + SLIM_GAP), each]);
    const scrolled = this.frame.scrollLeft,
      focused = this.root.getRootNode().activeElement?.dataset?.part;
    this.svg = svg("svg", {
      width: this.width,
      height: TALL,
      viewBox: `0 0 ${this.width} ${TALL}`,
      role: "group",
      "aria-label": "The network. Arrow keys go from part to part, Enter opens one.",
    });
    this.svg.append(
      svg(
        "defs",
        {},
        svg(
          "marker",
          { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
          svg("path", { d: "M1 1L7 4L1 7", class: "line" }),
        ),
      ),
    );
    this.stack("encoder");
    this.stack("decoder");
    this.memory();
    this.frame.replaceChildren(this.svg);
    this.frame.scrollLeft = scrolled;
    if (focused !== undefined) this.focus(focused);
    this.say(this.selected);
  }

  /**
   * A line; where it says something, it is shown below the map, the first part bold.
   * @param {string[] | null} says
   */
  line(d, look = "", says = null) {
    const arrow = look === "arrow" ? { "marker-end": "url(#tip)" } : {};
    this.svg.append(svg("path", { d, class: `line ${look}`, ...arrow }));
    if (!says) return;
    const reach = svg("path", { d, class: "flow" });
    reach.onpointerenter = () => this.facts.replaceChildren(bold(says[0]), ` ${says[1]}`);
    reach.onpointerleave = () => this.say(this.selected);
    this.svg.append(reach);
  }

  text(x, y, text, look = "", parent = this.svg) {
    parent.append(svg("text", { x, y, class: look }, text));
  }

  // A part that a click opens; what is drawn in it is added to the group that this returns.
  part(index, box, look) {
    const part = this.header.parts[index],
      chosen = index === this.selected;
    const group = svg("g", {
      class: `part ${look} ${chosen ? "chosen" : ""}`,
      role: "button",
      "data-part": index,
      tabindex: chosen ? 0 : -1,
      "aria-pressed": chosen,
      "aria-label": `${part.title}. ${part.facts}`,
    });
    const [x, y, w, h, r] = box;
    group.append(svg("rect", { x, y, width: w, height: h, rx: r }));
    group.onclick = () => this.pick(index);
    group.onpointerenter = group.onfocus = () => this.say(index);
    group.onpointerleave = group.onblur = () => this.say(this.selected);
    this.svg.append(group);
    return group;
  }

  named(index, box, name) {
    const [x, y, w, h] = box,
      group = this.part(index, box, "plain"),
      { size } = this.header.parts[index];
    this.text(x + w / 2, y + h / 2 - 3, name, "middle name", group);
    this.text(x + w / 2, y + h / 2 + 13, size, "middle size", group);
  }

  stack(stack) {
    const y = STREAMS[stack],
      { shapes, heading, final, positions } = this.header,
      decoder = stack === "decoder";
    const shape = decoder ? shapes.stream : shapes.memory,
      { layers } = this.header[stack],
      stop = final ? this.end + 4 : decoder ? this.end + 26 : this.end + 40;
    const flows = [
      decoder ? "The decoder's residual stream:" : "The encoder's residual stream:",
      `${shape}, a vector for each token.`,
    ];
    this.line(`M${EMBEDDING} ${y}H${stop}`, "stream", flows);
    this.text(0, y - 36, decoder ? "Decoder" : "Encoder", "stack");
    this.named(this.index("embedding", stack), [0, y - 24, EMBEDDING, 48, 9], "Embedding");
    this.text(EMBEDDING / 2, y + 40, heading[decoder ? 1 : 0], "middle size");
    if (positions) this.wave(EMBEDDING + 27, y);
    for (let layer = 0; layer < layers; layer++) this.layer(stack, layer, y);
    const [first, wide] = this.columns[0],
      [last, slim] = this.columns[layers - 1];
    if (this.columns.length > 1) this.text(first + wide + WIDE_GAP / 2, y - 9, shape, "middle size");
    if (layers > 1 || this.columns.length === 1)
      this.text(
        Math.max(last + slim + 28, layers < this.columns.length ? 0 : this.end - 26),
        y - 9,
        shape,
        "middle size",
      );
    if (final) this.named(this.index("norm", stack), [this.end + 4, y - 24, NORM, 48, 9], "Norm");
    if (!decoder) return;
    const x = this.width - OUTPUT;
    this.line(`M${final ? this.end + 4 + NORM : this.end + 20} ${y}H${x - 1}`, "arrow", flows);
    this.named(this.index("output", "decoder"), [x, y - 24, OUTPUT, 48, 9], "Linear, softmax");
    this.text(x + OUTPUT / 2, y + 40, shapes.logits, "middle size");
  }

  wave(x, y) {
    this.svg.append(svg("circle", { cx: x, cy: y, r: 10, class: "join" }));
    this.line(`M${x - 6} ${y}c1.5-6 4.5-6 6 0s4.5 6 6 0`, "ink");
    this.text(x, y - 16, "positions", "middle size");
  }

  layer(stack, layer, y) {
    const [x, w] = this.columns[layer],
      open = layer === 0,
      { pre } = this.header;
    this.svg.append(svg("rect", { x, y: y - 76, width: w, height: 94, rx: 12, class: "layer" }));
    const name = `Layer ${layer + 1}`;
    this.svg.append(svg("rect", { x: x + 11, y: y - 84, width: 9 + 6.2 * name.length, height: 16, class: "ground" }));
    this.text(x + 15, y - 72, name, open ? "layer-name open" : "layer-name");
    const blocks = stack === "encoder" ? ["encoder", "ff"] : ["decoder", "cross", "ff"];
    const edge = open ? 10 : 4,
      slot = (w - 2 * edge) / blocks.length,
      lane = open ? 12 : 7,
      after = open ? (pre ? 16 : 28) : pre ? 10 : 17;
    blocks.forEach((block, i) =>
      this.block(stack, block, layer, x + edge + i * slot + lane, y, slot - lane - after, open),
    );
  }

  // A block beside the stream: the way to it, the block, the way back; its norm stands on one or the other.
  block(stack, block, layer, x, y, w, open) {
    const ff = block === "ff",
      kind = ff ? stack : block,
      { parts, pre } = this.header;
    const index = this.index(ff ? "ff" : "attention", kind, layer),
      norm = this.index(ff ? "ff-norm" : "attention-norm", kind, layer);
    const high = open ? 46 : 34,
      top = y - 12 - high,
      middle = top + high / 2,
      chosen = index === this.selected ? "chosen" : "";
    const way = open ? 7 : 4,
      back = x + w + (open ? 9 : 5),
      shape = stack === "encoder" ? this.header.shapes.memory : this.header.shapes.stream;
    this.line(`M${x - way} ${y}V${middle + 6}q0 -6 6 -6H${x}`, chosen, [
      "What the sublayer reads:",
      `${shape}${pre ? ", after layer norm." : "."}`,
    ]);
    this.line(`M${x + w} ${middle}H${back - 5}q5 0 5 5V${y - 6}`, chosen, ["What the sublayer adds:", `${shape}.`]);
    this.svg.append(svg("circle", { cx: back, cy: y, r: open ? 6 : 5, class: `join ${chosen}` }));
    const arm = open ? 3 : 2.5;
    this.line(`M${back - arm} ${y}h${2 * arm}M${back} ${y - arm}v${2 * arm}`, chosen || "ink");
    if (block === "cross") this.line(`M${x + w / 2} ${MEMORY_Y}V${top - 1}`, "arrow", this.remembered);
    const group = this.part(index, [x, top, w, high, 8], ff ? "plain" : "attention");
    const [nx, ny, nw, nh] = pre ? [x - way - 5, y - 17, 10, 6] : [back + (open ? 9 : 7), y - 6, open ? 7 : 5, 12];
    const mark = this.part(norm, [nx, ny, nw, nh, 2], "norm-mark");
    mark.append(svg("rect", { x: nx - 5, y: ny - 6, width: nw + 10, height: nh + 12, class: "reach" }));
    if (!open)
      return w < 22 || this.text(x + w / 2, top + 21, BRIEF[block], `middle ${w < 36 ? "tiny" : "brief"}`, group);
    this.text(
      x + w / 2,
      top + 19,
      w < 92 ? NAMES[block].replace("-attention", "").replace("Feed-forward", "Feed-fwd") : NAMES[block],
      `middle name ${w < 104 ? "small" : ""}`,
      group,
    );
    if (ff) this.text(x + w / 2, top + 36, parts[index].size, "middle size", group);
    else this.squares(group, index, this.header[stack].heads, x, top + 27, w);
  }

  squares(group, index, heads, x, y, w) {
    const step = Math.min(15, (w - 8) / heads),
      side = Math.min(11, step - 2),
      left = x + w / 2 - (heads * step - (step - side)) / 2;
    if (side < 4) return this.text(x + w / 2, y + 9, `${heads} heads`, "middle size", group);
    for (let h = 0; h < heads; h++) {
      if (this.header.parts[index].pruned.includes(h)) continue;
      const on = index === this.selected && (this.head ?? this.header.head) === h,
        off = index === this.selected && !on;
      const square = svg(
        "rect",
        {
          x: left + h * step,
          y,
          width: side,
          height: side,
          rx: 3,
          class: on ? "head on" : off ? "head off" : "head",
          fill: this.theme.heads[h % 8],
        },
        svg("title", {}, `Head ${h + 1}`),
      );
      square.onclick = event => {
        event.stopPropagation();
        this.pick(index, h);
      };
      group.append(square);
    }
  }

  get remembered() {
    return [
      "The memory, the encoder's output for the source:",
      `${this.header.shapes.memory}. Each cross-attention takes its keys and values from it.`,
    ];
  }

  // From the encoder's end back along the gap, and down to each cross-attention.
  memory() {
    const { final, shapes } = this.header,
      y = STREAMS.encoder,
      from = final ? this.end + 4 + NORM : this.end + 30,
      turn = from + 22;
    const [x, w] = this.columns[0],
      slot = (w - 20) / 3,
      first = x + 10 + slot + 12 + (slot - 12 - (this.header.pre ? 16 : 28)) / 2;
    this.line(`M${from} ${y}H${turn - 10}q10 0 10 10V${MEMORY_Y - 10}q0 10 -10 10H${first}`, "stream", this.remembered);
    this.text(turn + 10, y + 12, "memory", "name");
    this.text(turn + 10, y + 28, shapes.memory, "size");
  }
}

const mountMap = (root, payload, emit) => mounted(NetworkMap, root, payload, emit);
