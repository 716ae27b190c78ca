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
    // Translators: in the place of a probability: sampling never draws this token.
    const number = cut ? gettext("cut") : probabilityText(seen);
    const cells = [
      dot,
      el("span", { class: "name", title: name, dir: direction(name) }, name),
      bar,
      el("span", { class: "p" }, number),
    ];
    const text = candidateText(candidate, cut, tempered);
    if (chosen) {
      const row = el(
        "div",
        { class: "candidate chosen", "aria-label": gettext("Chosen: {text}", { text }), role: "group" },
        ...cells,
        el("span"),
      );
      row.dataset.id = candidate.id;
      return row;
    }
    if (never) {
      const row = el(
        "div",
        {
          class: "candidate cut",
          role: "group",
          "aria-label": gettext("Never written: {text}", { text }),
          title: gettext("never written"),
        },
        ...cells,
        el("span", { class: "muted" }, gettext("never")),
      );
      row.dataset.id = candidate.id;
      return row;
    }
    const ask = el("span", { class: "ask" }, icon("fork", 16), gettext("What if?"));
    const row = el(
      "button",
      { type: "button", class: `candidate${cut ? " cut" : ""}`, "aria-label": gettext("What if: {text}", { text }) },
      ...cells,
      ask,
    );
    row.dataset.id = candidate.id;
    row.title = tempered ? gettext("the model itself says {number}", { number: weightText(probability) }) : "";
    row.onclick = () => this.fork({ answer, id: candidate.id });
    return row;
  }

  rest(share) {
    const bar = el("span", { class: "bar" }, el("span", { class: "fill" }));
    bar.firstChild.style.width = `${Math.max(0.6, share * 100)}%`;
    const cells = [
      el("i"),
      el("span", { class: "name" }, gettext("the rest")),
      bar,
      el("span", { class: "p" }, probabilityText(share)),
      el("span"),
    ];
    return el(
      "div",
      {
        class: "candidate rest",
        role: "group",
        "aria-label": gettext("The rest: probability {number}", { number: weightText(share) }),
      },
      ...cells,
    );
  }

  say(others, strategy) {
    const parts = [];
    if (strategy.searches) parts.push(el("span", {}, el("i", { class: "kept" }), gettext("kept in the beam")));
    if (strategy.draws || strategy.temperature !== 1)
      parts.push(
        el(
          "span",
          {},
          el("i", { class: "tick" }),
          strategy.draws
            ? gettext("the model\u2019s own, before temperature and cuts")
            : gettext("the model\u2019s own, before temperature"),
        ),
      );
    if (others > 0) parts.push(el("span", {}, theRest(others)));
    this.legend.replaceChildren(...parts);
  }
}

const theRest = others => ngettext("the rest: {count} other token", "the rest: {count} other tokens together", others);

function candidateText({ name, probability, seen }, cut, tempered) {
  const values = { token: isolated(name), number: weightText(seen), own: probabilityText(probability) };
  if (cut && tempered) return gettext("{token}, cut off; the model itself says {own}", values);
  if (tempered) return gettext("{token}, probability {number}; the model itself says {own}", values);
  return gettext("{token}, probability {number}", values);
}
