// The search as a tree: a column a step, a lane a sentence. Steps are time, which runs to the right in every language. Only the columns near the visible ones are drawn, so
// that a wide beam over a long sentence stays fluid.

const OUTCOMES = ["winner", "finished", "live", "dropped", "pruned"];
const OUTCOME_WORDS = [
  translatable("on the best hypothesis"),
  translatable("on another finished hypothesis"),
  translatable("still live when the search stopped"),
  translatable("dropped later: others were better"),
  translatable("pruned: others were better"),
];
const WORDS_SO_FAR = [
  "",
  translatable("on a finished hypothesis"),
  translatable("still live"),
  translatable("dropped: others were better"),
  translatable("pruned: others were better"),
];
const LANE = 46,
  BOX = 26,
  TOP = 22,
  GUTTER = 26,
  WIDEST_BOX = 150,
  DRAWN_MARGIN = 500;

// Each node's outcome as far as it is known when a search has come to a step, null of those that come later: it is
// pruned, or leads to a sentence that has ended, to one that is live, or to none any more.
function outcomesAt({ parent, step, outcome, ended }, horizon) {
  const own = i => (outcome[i] === 4 ? 4 : ended.has(i) ? 1 : step[i] === horizon ? 2 : 3);
  const known = step.map((at, i) => (at > horizon ? null : own(i)));
  // A node comes after its parent.
  for (let i = known.length - 1; i > 0; i--) {
    if (known[i] !== null) known[parent[i]] = Math.min(known[parent[i]], known[i]);
  }
  return known;
}

class TreeView {
  horizon = Infinity; // the last step that is drawn

  constructor(root, select) {
    this.root = root;
    this.select = select;
    this.tooltip = new Tooltip(root);
    this.column = svg("rect", { class: "column", rx: 10, y: 0 });
    this.stepName = svg("text", { class: "step", "text-anchor": "middle" });
    this.edges = svg("g");
    this.nodes = svg("g");
    this.svg = svg("svg", { role: "presentation" }, this.column, this.stepName, this.edges, this.nodes);
    this.node = el(
      "div",
      { class: "treebox", role: "tree", tabindex: 0, "aria-label": gettext("Every hypothesis. Arrow keys move.") },
      this.svg,
    );
    this.node.onscroll = () => this.paint();
    this.svg.onclick = event => this.at(event, index => this.select(index));
    this.svg.onpointerover = event => this.hover(event);
    this.svg.onpointerleave = () => this.tooltip.hide();
    this.node.onkeydown = event => this.key(event);
    this.items = new Map();
  }

  // A search, and which value stands under each word.
  update(tree, { pruned, under }) {
    const again = tree !== this.tree || pruned !== this.pruned;
    this.tree = tree;
    this.outcome = this.horizon < Infinity ? outcomesAt(tree, this.horizon) : tree.outcome;
    this.pruned = pruned;
    this.under = under;
    if (again) this.layOut();
    this.extent();
    this.paint(true);
  }

  get lanes() {
    return this.pruned ? this.tree.lane : this.tree.lane_unpruned;
  }

  layOut() {
    const { step, label } = this.tree,
      pen = sized(document.createElement("canvas"), 1, 1);
    this.rtl = rightToLeft(label);
    pen.font = `600 14px ${getComputedStyle(this.root).fontFamily}`;
    const steps = step.at(-1);
    const widths = Array(steps + 1).fill(40);
    this.byStep = Array.from(widths, () => []);
    this.cut = [];
    this.boxes = label.map((text, i) => {
      this.cut.push(cutTo(pen, text, WIDEST_BOX - 16));
      const box = Math.max(30, Math.ceil(pen.measureText(this.cut[i]).width) + 16);
      if (this.lanes[i] >= 0) {
        widths[step[i]] = Math.max(widths[step[i]], box);
        this.byStep[step[i]].push(i);
      }
      return box;
    });
    const room = this.node.clientWidth - widths.reduce((a, b) => a + b, 0) - 8;
    const gutter = clamp(room / (steps + 1), GUTTER, 70);
    this.columns = [];
    let x = 4;
    for (const width of widths) {
      this.columns.push({ x, width, middle: x + width / 2 });
      x += width + gutter;
    }
    this.height = TOP + (1 + Math.max(...this.lanes)) * LANE + 12;
    this.gutter = gutter;
    this.column.setAttribute("height", this.height);
    this.stepName.setAttribute("y", this.height - 6);
  }

  x(i) {
    return this.columns[this.tree.step[i]].middle;
  }

  y(i) {
    return TOP + this.lanes[i] * LANE;
  }

  // As wide as what is drawn.
  extent() {
    const { x, width } = this.columns[Math.min(this.horizon, this.columns.length - 1)];
    this.width = x + width + 4;
    this.svg.setAttribute("width", this.width);
    this.svg.setAttribute("height", this.height);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
  }

  // Draws the columns that are near what is visible, if they are not drawn already.
  paint(all = false) {
    const from = this.node.scrollLeft,
      to = from + this.node.clientWidth;
    if (
      !all &&
      this.drawn &&
      this.drawn[0] <= Math.max(0, from - 100) &&
      this.drawn[1] >= Math.min(this.width, to + 100)
    )
      return;
    this.drawn = [from - DRAWN_MARGIN, to + DRAWN_MARGIN];
    const near = this.columns.map(
      ({ x, width }, step) => step <= this.horizon && x + width >= this.drawn[0] && x <= this.drawn[1],
    );
    const columns = this.byStep.map((nodes, step) => (step <= this.horizon ? nodes : []));
    const shown = columns.flatMap((nodes, step) => (near[step] || near[step + 1] ? nodes : []));
    this.items = new Map(shown.map(i => [i, this.item(i)]));
    this.nodes.replaceChildren(...this.items.values());
    const linked = columns
      .flatMap((nodes, step) => (near[step] || near[step - 1] ? nodes : []))
      .filter(i => this.tree.parent[i] >= 0);
    this.links = new Map(linked.map(i => [i, this.edge(i)]));
    // What matters most is drawn last, over the rest.
    this.edges.replaceChildren(...linked.sort((a, b) => this.outcome[b] - this.outcome[a]).map(i => this.links.get(i)));
    this.light();
  }

  edge(i) {
    const parent = this.tree.parent[i],
      from = this.columns[this.tree.step[parent]],
      to = this.columns[this.tree.step[i]];
    const [x1, x2, y1, y2] = [
      this.x(parent) + this.boxes[parent] / 2,
      this.x(i) - this.boxes[i] / 2,
      this.y(parent),
      this.y(i),
    ];
    const [a, b] = [from.x + from.width, to.x],
      half = (a + b) / 2;
    const d = y1 === y2 ? `M${x1} ${y1}H${x2}` : `M${x1} ${y1}H${a}C${half} ${y1} ${half} ${y2} ${b} ${y2}H${x2}`;
    return svg("path", { class: `edge ${OUTCOMES[this.outcome[i]]}`, d });
  }

  item(i) {
    const { label, step } = this.tree,
      box = this.boxes[i];
    const way = { direction: direction(label[i], this.rtl) },
      word = svg("text", { class: "word", y: 5, "text-anchor": "middle", ...way }, this.cut[i]);
    const rect = svg("rect", { x: -box / 2, y: -BOX / 2, width: box, height: BOX, rx: 8 });
    const under = i
      ? [svg("text", { class: "sum", y: 26, "text-anchor": "middle" }, signed(this.tree[this.under][i]))]
      : [];
    const node = svg(
      "g",
      { class: `node ${OUTCOMES[this.outcome[i]]}`, transform: `translate(${this.x(i)} ${this.y(i)})` },
      rect,
      word,
      ...under,
    );
    if (i) {
      node.setAttribute("role", "treeitem");
      node.setAttribute("id", `node-${i}`);
      node.setAttribute("aria-level", step[i]);
      const named = gettext("{token}, step {step}", { token: label[i], step: step[i] });
      node.setAttribute("aria-label", `${named}, ${this.facts(i).join(", ")}`);
    }
    node.dataset.node = i;
    return node;
  }

  facts(i) {
    const words = this.horizon < Infinity ? WORDS_SO_FAR : OUTCOME_WORDS;
    return [...numbersOf(this.tree, i), gettext(words[this.outcome[i]])];
  }

  // The chosen node, its column, and the sentence that it stands on; nothing that comes after `horizon` is drawn.
  mark(selected, path, horizon) {
    this.selected = selected;
    this.path = path;
    if (horizon === this.horizon) this.light();
    else {
      this.horizon = horizon;
      this.update(this.tree, this);
    }
    this.reveal(selected);
  }

  light() {
    const { selected } = this,
      on = new Set(this.path);
    if (selected === undefined || selected >= this.tree.step.length) return;
    for (const [i, item] of this.items) {
      item.classList.toggle("selected", i === selected);
      item.classList.toggle("on", on.has(i));
      if (i) item.setAttribute("aria-selected", i === selected);
    }
    for (const [i, link] of this.links) link.classList.toggle("on", on.has(i));
    const { x, width, middle } = this.columns[this.tree.step[selected]];
    this.column.setAttribute("x", x - 8);
    this.column.setAttribute("width", width + 16);
    this.stepName.setAttribute("x", middle);
    this.stepName.textContent = gettext("step {step}", { step: this.tree.step[selected] });
    this.node.setAttribute("aria-activedescendant", `node-${selected}`);
  }

  // Scrolls inside the box, never the page.
  reveal(i) {
    const box = this.node,
      { x, width } = this.columns[this.tree.step[i]];
    if (!box.clientWidth || this.lanes[i] < 0) return;
    if (x < box.scrollLeft + 40) box.scrollLeft = x - 80;
    if (x + width > box.scrollLeft + box.clientWidth - 40) box.scrollLeft = x + width - box.clientWidth + 160;
    const top = this.y(i) - BOX,
      bottom = this.y(i) + 34;
    if (!this.middled) box.scrollTop = this.y(i) - box.clientHeight / 2;
    this.middled = true;
    if (top < box.scrollTop) box.scrollTop = top;
    if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
  }

  at(event, act) {
    const node = event.target.closest("[data-node]"),
      index = node ? +node.dataset.node : 0;
    if (index) act(index);
    return index;
  }

  hover(event) {
    const shown = this.at(event, i => {
      const outer = boxOf(this.root),
        box = boxOf(this.items.get(i));
      const at = { x: box.left - outer.left, y: box.top - outer.top, w: box.width, h: box.height };
      this.tooltip.show(at, [bold(this.tree.label[i])], ...this.facts(i).map(fact => [fact]));
    });
    if (!shown) this.tooltip.hide();
  }

  // Up and down: the neighbours in the column. Left and right go along the sentence, as everywhere.
  key(event) {
    const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!way || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const column = this.byStep[this.tree.step[this.selected]].toSorted((a, b) => this.lanes[a] - this.lanes[b]);
    const next = column[column.indexOf(this.selected) + way];
    if (next !== undefined) this.select(next);
  }
}

function numbersOf({ log_prob, total, score, normalises }, i) {
  const numbers = [
    gettext("log-probability {number}", { number: signed(log_prob[i]) }),
    gettext("cumulative {number}", { number: signed(total[i]) }),
  ];
  return normalises ? [...numbers, gettext("score {number}", { number: signed(score[i]) })] : numbers;
}
