// What could come next at a step: the likeliest tokens as bars, and all others together as one hatched bar.

class Candidates {
  constructor(fork) {
    this.fork = fork;
    this.node = el("div", { class: "candidates" });
    this.legend = el("div", { class: "legend" });
  }

  // `list` [{ id, name, probability, seen, node, kept }], the chosen one marked; `others` is how many more there are.
  update({ list, chosen, others, strategy, answer, never }) {
    const tempered = strategy.draws || strategy.temperature !== 1;
    const rest = list.reduce((left, candidate) => left - candidate.seen, 1);
    const rows = list.map(candidate =>
      this.row(candidate, candidate === chosen, never.includes(candidate.id), answer, tempered),
    );
    this.node.replaceChildren(...rows, ...(others > 0 ? [this.rest(Math.max(0, rest))] : []));
    this.say(others, strategy);
  }

  row(candidate, chosen, never, answer, tempered) {
    const { name, probability, seen, kept } = candidate,
      cut = tempered && seen === 0;
    const dot = el("i", { class: kept ? "kept" : "" });
    const bar = el("span", { class: "bar" }, el("span", { class: "fill" }));
    bar.firstChild.style.width = cut ? "0" : `${Math.max(0.6, seen * 100)}%`;
    bar.firstChild.hidden = cut;
    if (tempered) {
      const mark = el("span", { class: "model" });
      mark.style.left = `${probability * 100}%`;
      bar.append(mark);
    }
    const number = cut ? "cut" : probabilityText(seen);
    const cells = [
      dot,
      el("span", { class: "name", title: name, dir: direction(name) }, name),
      bar,
      el("span", { class: "p" }, number),
    ];
    const model = tempered ? `; the model itself says ${probabilityText(probability)}` : "";
    const text = `${isolated(name)}, ${cut ? "cut off" : `probability ${weightText(seen)}`}${model}`;
    if (chosen) {
      const row = el(
        "div",
        { class: "candidate chosen", "aria-label": `Chosen: ${text}`, role: "group" },
        ...cells,
        el("span"),
      );
      row.dataset.id = candidate.id;
      return row;
    }
    if (never) {
      const row = el(
        "div",
        { class: "candidate cut", role: "group", "aria-label": `Never written: ${text}`, title: "never written" },
        ...cells,
        el("span", { class: "muted" }, "never"),
      );
      row.dataset.id = candidate.id;
      return row;
    }
    const ask = el("span", { class: "ask" }, icon("fork", 16), "What if?");
    const row = el(
      "button",
      { type: "button", class: `candidate${cut ? " cut" : ""}`, "aria-label": `What if: ${text}` },
      ...cells,
      ask,
    );
    row.dataset.id = candidate.id;
    row.title = tempered ? `the model itself says ${weightText(probability)}` : "";
    row.onclick = () => this.fork({ answer, id: candidate.id });
    return row;
  }

  rest(share) {
    const bar = el("span", { class: "bar" }, el("span", { class: "fill" }));
    bar.firstChild.style.width = `${Math.max(0.6, share * 100)}%`;
    const cells = [
      el("i"),
      el("span", { class: "name" }, "the rest"),
      bar,
      el("span", { class: "p" }, probabilityText(share)),
      el("span"),
    ];
    return el(
      "div",
      { class: "candidate rest", role: "group", "aria-label": `The rest: probability ${weightText(share)}` },
      ...cells,
    );
  }

  say(others, strategy) {
    const parts = [];
    if (strategy.searches) parts.push(el("span", {}, el("i", { class: "kept" }), "kept in the beam"));
    if (strategy.draws || strategy.temperature !== 1)
      parts.push(
        el(
          "span",
          {},
          el("i", { class: "tick" }),
          strategy.draws
            ? "the model\u2019s own, before temperature and cuts"
            : "the model\u2019s own, before temperature",
        ),
      );
    if (others > 0) parts.push(el("span", {}, `the rest: ${others.toLocaleString("en")} other tokens together`));
    this.legend.replaceChildren(...parts);
  }
}
