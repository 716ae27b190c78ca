// The sentences that a search found, best first, with their scores; a click steps through one.

const HEADINGS = [translatable("Log-probability"), translatable("Length"), translatable("Score, length-normalised")];

class Hypotheses {
  header;
  nodes;

  constructor(follow) {
    this.follow = follow;
    this.table = el("table", { class: "hypotheses" });
    this.more = clickButton({ class: "link more" }, () => {
      this.every = true;
      this.draw();
    });
    this.node = el("div", { class: "tablebox" }, this.table, this.more);
  }

  update(header, nodes) {
    Object.assign(this, { header, nodes, every: false });
    this.draw();
  }

  draw() {
    const { hypotheses, strategy } = this.header,
      shown = this.every ? hypotheses : hypotheses.slice(0, Math.max(3, strategy.size));
    const numbers = HEADINGS.slice(0, this.nodes.normalises ? 3 : 2).map(name => gettext(name));
    const head = ["", hypotheses.length > 1 ? gettext("Sentences found") : gettext("What it wrote"), ...numbers];
    const top = el("tr", {}, ...head.map((name, i) => el("th", { scope: "col", class: i > 1 ? "n" : "" }, name)));
    const caption = el("caption", { class: "unseen" }, gettext("The sentences that the search found, best first"));
    this.table.replaceChildren(
      caption,
      el("thead", {}, top),
      el("tbody", {}, ...shown.map((sentence, place) => this.row(sentence, place))),
    );
    this.more.hidden = shown.length === hypotheses.length;
    this.more.textContent = gettext("Show all {number} that it found", { number: hypotheses.length });
    this.mark(this.end);
  }

  row({ node, text, ended, at_best: best }, place) {
    const { total, score, step, normalises } = this.nodes;
    const cell = (name, ...content) => el("td", { class: name }, ...content),
      number = (name, value) => el("td", { class: "n", "data-name": name }, value); // named where there is no room for columns
    const open = clickButton({ class: "sentence", dir: "auto" }, () => this.follow(node), text || gettext("(nothing)"));
    const why =
      step[node] >= this.header.bound
        ? gettext("not finished: cut at the length limit")
        : gettext("not finished: could no longer win");
    const note = ended ? [] : [el("span", { class: "muted" }, why)];
    const mark = place
      ? String(place + 1)
      : el("span", { class: "flag", role: "img", "aria-label": gettext("Winner") }, icon("flag"));
    const cells = [
      cell("place", mark),
      cell("", open, ...note),
      number(gettext(HEADINGS[0]), signed(total[node])),
      number(gettext(HEADINGS[1]), String(step[node])),
    ];
    const value = ended ? signed(score[node]) : gettext("at best {number}", { number: signed(best) });
    if (normalises) cells.push(number(gettext(HEADINGS[2]), value));
    return el("tr", { "data-end": node, class: place ? "" : "winner" }, ...cells);
  }

  // The sentence that is stepped through.
  mark(end) {
    this.end = end;
    for (const row of this.table.querySelectorAll("tr[data-end]")) row.classList.toggle("on", +row.dataset.end === end);
  }
}
