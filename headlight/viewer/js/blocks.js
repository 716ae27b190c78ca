// Where the parameters are: blocks inside blocks, as wide as their number of parameters. A click, or the arrow keys and
// Enter, choose one.
//
// Header: total, selected path or null, note, blocks [{ path, title, brief, side, level, start, parameters, size, share }].
// Emits "pick" path.

const BLOCK_HIGH = 44,
  BLOCK_GAP = 3,
  BLOCK_INSET = 1,
  MIN_BLOCK_PIXELS = 1.5;
const OPACITY = [1, 0.82, 0.62];

class Blocks {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.wishes = new Wishes();
    this.picture = el("div", { class: "blocks" });
    this.status = el("div", { class: "status muted", "aria-live": "polite" });
    root.replaceChildren(this.picture, this.status);
    this.picture.onkeydown = event => this.key(event);
    this.stop = onWidth(root, () => this.draw());
  }

  dispose() {
    this.stop();
  }

  update({ header }) {
    themeOf(this.root);
    this.header = header;
    this.selected = this.wishes.answered(header.selected);
    this.draw();
  }

  draw() {
    const width = this.root.clientWidth;
    if (!this.header || !width) return;
    const { blocks, total } = this.header,
      levels = 1 + Math.max(0, ...blocks.map(block => block.level));
    const high = levels * (BLOCK_HIGH + BLOCK_GAP),
      focused = this.root.getRootNode().activeElement?.dataset?.path;
    this.drawing = svg("svg", {
      width,
      height: high,
      viewBox: `0 0 ${width} ${high}`,
      role: "group",
      "aria-label": "Parameters by part. Arrow keys go from part to part, Enter chooses one.",
    });
    this.widths = new Map();
    for (const block of blocks) this.block(block, (block.start / total) * width, (block.parameters / total) * width);
    this.picture.replaceChildren(this.drawing);
    const nodes = this.nodes(),
      at = nodes.find(other => other.dataset.path === (focused ?? this.selected)) ?? nodes[0];
    at?.setAttribute("tabindex", 0);
    if (focused !== undefined) at?.focus({ preventScroll: true });
    this.say(null);
  }

  block(block, x, w) {
    const y = block.level * (BLOCK_HIGH + BLOCK_GAP),
      chosen = block.path === this.selected;
    const group = svg("g", {
      class: `block ${block.side} ${chosen ? "chosen" : ""}`,
      role: "button",
      "data-path": block.path,
      tabindex: -1,
      "aria-pressed": chosen,
      "aria-label": `${block.title}: ${block.size} parameters, ${block.share}`,
    });
    const wide = Math.max(MIN_BLOCK_PIXELS, w - 2 * BLOCK_INSET);
    group.append(
      svg("rect", {
        x: x + BLOCK_INSET,
        y: y + 1.5,
        width: wide,
        height: BLOCK_HIGH - 3,
        rx: Math.min(6, wide / 3),
        "fill-opacity": chosen ? 1 : (OPACITY[block.level] ?? 0.62),
      }),
    );
    this.label(group, block, x, y, w);
    group.onclick = () => this.pick(block.path);
    group.onpointerenter = group.onfocus = () => this.say(block);
    group.onpointerleave = group.onblur = () => this.say(null);
    this.drawing.append(group);
  }

  // Name over size where there is room for both, then the name alone, its short form, or nothing.
  label(group, block, x, y, w) {
    const sizes = [`${block.size}, ${block.share}`, block.size];
    const name =
      block.level === 2
        ? block.brief
        : block.level === 1
          ? block.brief[0].toUpperCase() + block.brief.slice(1)
          : block.title;
    const room = w - 20,
      size = sizes.find(text => text.length * 6.2 <= room);
    if (block.level < 2 && name.length * 7 <= room && size) {
      group.append(
        svg("text", { x: x + 12, y: y + 19, class: "name" }, name),
        svg("text", { x: x + 12, y: y + 35, class: "size" }, size),
      );
      return;
    }
    const short = [name, block.brief, name.match(/\d+$/)?.[0], name[0]].find(
      text => text && text.length * 5.6 <= w - 3,
    );
    if (short) group.append(svg("text", { x: x + w / 2, y: y + 27, class: "brief" }, short));
  }

  say(block) {
    if (!block) this.status.replaceChildren(this.header.note);
    else this.status.replaceChildren(bold(block.title), ` ${block.count} parameters, ${block.share}`);
  }

  nodes() {
    return [...this.picture.querySelectorAll(".block")];
  }

  pick(path) {
    this.wishes.make(path);
    this.selected = path;
    this.draw();
    this.emit("pick", path);
  }

  // Left and right stay on a level; up leads to the block around it, down to the first one inside.
  key(event) {
    const { blocks } = this.header,
      at = blocks.findIndex(block => block.path === event.target.dataset?.path);
    if (at < 0) return;
    const from = blocks[at],
      level = from.level,
      end = block => block.start + block.parameters;
    const beside = by => {
      const same = blocks.filter(block => block.level === level).sort((a, b) => a.start - b.start);
      return same[clamp(same.indexOf(from) + by, 0, same.length - 1)];
    };
    const to = {
      ArrowLeft: () => beside(-1),
      ArrowRight: () => beside(1),
      ArrowUp: () =>
        blocks.find(block => block.level === level - 1 && block.start <= from.start && end(from) <= end(block)),
      ArrowDown: () =>
        blocks
          .filter(block => block.level === level + 1 && block.start >= from.start && end(block) <= end(from))
          .sort((a, b) => a.start - b.start)[0],
    }[event.key];
    if (event.key === "Enter" || event.key === " ") this.pick(from.path);
    else if (!to) return;
    else {
      const node = this.nodes().find(other => other.dataset.path === (to() ?? from).path);
      for (const other of this.nodes()) other.setAttribute("tabindex", other === node ? 0 : -1);
      node.focus({ preventScroll: true });
    }
    event.preventDefault();
  }
}

const mountBlocks = (root, payload, emit) => mounted(Blocks, root, payload, emit);
