// What a class has answered before the reveal, for the teacher alone: the share that is right, what peer instruction
// advises at that share, and the split.
//
// Header: code, number and of (the step), question, ask, right (the right answer in words; empty for a row or a number), joined, answered,
// round, locked, revealed, split {share, cue, right, bars [{label, count, right}], misconceptions [{belief, correction, count}]}
// (server/classroom/tally.py).

function mountSplit(root, payload, emit) {
  return mounted(ClassSplit, root, payload, emit);
}

// What to do, why, and the name of it on the scale.
const CUES = {
  explain: [
    translatable("Explain"),
    translatable("Fewer than 30 in 100 are right. Talking would spread the mistake: reveal, and show why."),
  ],
  talk: [
    translatable("Let them talk"),
    translatable("Between 30 and 70 in 100 are right. Two minutes in pairs, then ask again."),
  ],
  go: [translatable("Go on"), translatable("More than 70 in 100 are right. Reveal, one sentence, next step.")],
};

class ClassSplit {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
  }

  dispose() {}

  update({ header }) {
    themeOf(this.root);
    const shown = JSON.stringify(header);
    if (shown === this.shown) return; // a button keeps the focus
    this.shown = shown;
    this.header = header;
    const { code, number, of, question, answered, joined, round, split } = header;
    const bar = el("div", { class: "split-bar" }, el("span", {}, gettext("Only for you")));
    bar.append(el("span", {}, `${gettext("Step {number} of {all}", { number, all: of })}, ${code}`));
    const thinking = joined - answered;
    const text = gettext("{answered} of {joined} answered", { joined });
    const count = el(
      "div",
      { class: "split-count" },
      el("span", {}, ...inParts(text, { answered: bold(`${answered}`) })),
    );
    count.append(el("span", {}, ngettext("{count} still thinking", "{count} still thinking", thinking)));
    const rail = el("div", { class: "split-rail", "aria-hidden": "true" }, el("i", {}));
    rail.firstElementChild.style.width = `${joined ? (100 * answered) / joined : 0}%`;
    const parts = [bar, el("h1", {}, ...spans(question))];
    if (round > 1) parts.push(el("p", { class: "muted" }, gettext("Asked {number} times so far.", { number: round })));
    parts.push(count, rail);
    if (split.share === null) parts.push(el("p", { class: "muted" }, gettext("Nobody has answered yet.")));
    else parts.push(this.share(), ...this.scale(), this.advice());
    this.root.replaceChildren(
      el("div", { class: "split" }, ...parts, this.bars(), ...beliefs(split.misconceptions), this.buttons()),
    );
  }

  share() {
    const { ask, right, split, revealed } = this.header;
    const what =
      ask === "row"
        ? ngettext(
            "{count} put the highest bar where the head has it.",
            "{count} put the highest bar where the head has it.",
            split.right,
          )
        : ask === "number"
          ? ngettext("{count} came close.", "{count} came close.", split.right)
          : ngettext("{count} answered \u201c{answer}\u201d.", "{count} answered \u201c{answer}\u201d.", split.right, {
              answer: isolated(right),
            });
    const where = revealed ? gettext("The answer is revealed.") : gettext("The projector does not show it.");
    const said = el("span", {}, gettext("right so far"), el("br"), `${what} ${where}`);
    return el("div", { class: "split-share" }, bold(percent(split.share)), said);
  }

  scale() {
    const { share, cue } = this.header.split;
    const marks = el("div", { class: "split-marks", "aria-hidden": "true" });
    for (const at of [30, 70]) {
      const mark = el("span", {}, percent(at / 100));
      mark.style.left = `${at}%`;
      marks.append(mark);
    }
    const needle = el("u", {});
    needle.style.left = `${100 * share}%`;
    const gauge = el("div", { class: "split-gauge", "aria-hidden": "true" }),
      names = el("div", { class: "split-names", "aria-hidden": "true" });
    for (const [name, [label]] of Object.entries(CUES)) {
      gauge.append(el("span", { class: name === cue ? "on" : "" }));
      names.append(el("span", { class: name === cue ? "on" : "" }, gettext(label)));
    }
    gauge.append(needle);
    return [marks, gauge, names];
  }

  advice() {
    const [head, why] = CUES[this.header.split.cue];
    return el("div", { class: "split-cue", role: "status" }, bold(gettext(head)), el("p", {}, gettext(why)));
  }

  bars() {
    const { bars } = this.header.split,
      most = Math.max(1, ...bars.map(({ count }) => count));
    const list = el("ul", { class: "split-bars" });
    for (const { label, count, right } of bars) {
      const bar = el("i", {});
      bar.style.width = `${(100 * count) / most}%`;
      const row = el(
        "li",
        { class: right ? "right" : "" },
        el("span", {}, label),
        el("div", {}, bar),
        bold(`${count}`),
      );
      if (right)
        row.setAttribute("aria-label", gettext("{answer}: {count}, the right answer", { answer: label, count }));
      list.append(row);
    }
    return list;
  }

  buttons() {
    const { locked, revealed, split } = this.header;
    const talk = split.cue === "talk";
    const button = (label, act, kind) => clickButton({ class: kind }, () => this.emit("pick", { act }), label);
    const foot = el("div", { class: "split-foot" });
    foot.append(button(gettext("Talk, then ask again"), "again", talk && !revealed ? "primary" : ""));
    if (!revealed)
      foot.append(
        button(locked ? gettext("Open answers") : gettext("Lock answers"), locked ? "unlock" : "lock", ""),
        button(gettext("Reveal"), "reveal", talk ? "" : "primary"),
      );
    return foot;
  }
}
