// The sentences that a search found, best first, with their scores; a click steps through one.

const HEADINGS = ["Log-probability", "Length", "Score, length-normalised"];

class Hypotheses {
  header;
  nodes;

  constructor(follow) {
    this.follow = follow;
    this.table = el("table", { class: "hypotheses" });
    this.more = el("button", { type: "button", class: "link more" });
    this.more.onclick = () => {
      this.every = true;
      this.draw();
    };
    this.node = el("div", { class: "tablebox" }, this.table, this.more);
  }

  update(header, nodes) {
    Object.assign(this, { header, nodes, every: false });
    this.draw();
  }

  draw() {
    const { hypotheses, strategy } = this.header,
      shown = this.every ? hypotheses : hypotheses.slice(0, Math.max(3, strategy.size));
    const numbers = HEADINGS.slice(0, this.nodes.normalises ? 3 : 2);
    const head = ["", hypotheses.length > 1 ? "Sentences found" : "What it wrote", ...numbers];
    const top = el("tr", {}, ...head.map((name, i) => el("th", { scope: "col", class: i > 1 ? "n" : "" }, name)));
    const caption = el("caption", { class: "unseen" }, "The sentences that the search found, best first");
    this.table.replaceChildren(
      caption,
      el("thead", {}, top),
      el("tbody", {}, ...shown.map((sentence, place) => this.row(sentence, place))),
    );
    this.more.hidden = shown.length === hypotheses.length;
    this.more.textContent = `Show all ${hypotheses.length} that it found`;
    this.mark(this.end);
  }

  row({ node, text, ended, at_best: best }, place) {
    const { total, score, step, normalises } = this.nodes;
    const cell = (name, ...content) => el("td", { class: name }, ...content),
      number = (name, value) => el("td", { class: "n", "data-name": name }, value); // named where there is no room for columns
    const open = el("button", { type: "button", class: "sentence", dir: "auto" }, text || "(nothing)");
    open.onclick = () => this.follow(node);
    const why = step[node] >= this.header.bound ? "cut at the length limit" : "could no longer win";
    const note = ended ? [] : [el("span", { class: "muted" }, `not finished: ${why}`)];
    const mark = place
      ? String(place + 1)
      : el("span", { class: "flag", role: "img", "aria-label": "Winner" }, icon("flag"));
    const cells = [
      cell("place", mark),
      cell("", open, ...note),
      number(HEADINGS[0], signed(total[node])),
      number(HEADINGS[1], String(step[node])),
    ];
    if (normalises) cells.push(number(HEADINGS[2], ended ? signed(score[node]) : `at best ${signed(best)}`));
    return el("tr", { "data-end": node, class: place ? "" : "winner" }, ...cells);
  }

  // The sentence that is stepped through.
  mark(end) {
    this.end = end;
    for (const row of this.table.querySelectorAll("tr[data-end]")) row.classList.toggle("on", +row.dataset.end === end);
  }
}
