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
  explain: ["Explain", "Fewer than 30 in 100 are right. Talking would spread the mistake: reveal, and show why."],
  talk: ["Let them talk", "Between 30 and 70 in 100 are right. Two minutes in pairs, then ask again."],
  go: ["Go on", "More than 70 in 100 are right. Reveal, one sentence, next step."],
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
    const bar = el("div", { class: "split-bar" }, el("span", {}, "Only for you"));
    bar.append(el("span", {}, `Step ${number} of ${of}, ${code}`));
    const thinking = joined - answered;
    const count = el("div", { class: "split-count" }, el("span", {}, bold(`${answered}`), ` of ${joined} answered`));
    count.append(el("span", {}, `${thinking} still thinking`));
    const rail = el("div", { class: "split-rail", "aria-hidden": "true" }, el("i", {}));
    rail.firstElementChild.style.width = `${joined ? (100 * answered) / joined : 0}%`;
    const parts = [bar, el("h1", {}, ...spans(question))];
    if (round > 1) parts.push(el("p", { class: "muted" }, `Asked for the ${ordinal(round)} time.`));
    parts.push(count, rail);
    if (split.share === null) parts.push(el("p", { class: "muted" }, "Nobody has answered yet."));
    else parts.push(this.share(), ...this.scale(), this.advice());
    this.root.replaceChildren(
      el("div", { class: "split" }, ...parts, this.bars(), ...beliefs(split.misconceptions), this.buttons()),
    );
  }

  share() {
    const { ask, right, split, revealed } = this.header;
    const what =
      {
        row: `${split.right} put the highest bar where the head has it`,
        number: `${split.right} came close`,
      }[ask] ?? `${split.right} answered \u201c${right}\u201d`;
    const where = revealed ? "It is revealed." : "The projector does not show it.";
    const said = el("span", {}, `right so far: ${what}.`, el("br"), where);
    return el("div", { class: "split-share" }, bold(percent(split.share)), said);
  }

  scale() {
    const { share, cue } = this.header.split;
    const marks = el("div", { class: "split-marks", "aria-hidden": "true" });
    for (const at of [30, 70]) {
      const mark = el("span", {}, `${at}${NBSP}%`);
      mark.style.left = `${at}%`;
      marks.append(mark);
    }
    const needle = el("u", {});
    needle.style.left = `${100 * share}%`;
    const gauge = el("div", { class: "split-gauge", "aria-hidden": "true" }),
      names = el("div", { class: "split-names", "aria-hidden": "true" });
    for (const [name, [label]] of Object.entries(CUES)) {
      gauge.append(el("span", { class: name === cue ? "on" : "" }));
      names.append(el("span", { class: name === cue ? "on" : "" }, label));
    }
    gauge.append(needle);
    return [marks, gauge, names];
  }

  advice() {
    const [head, why] = CUES[this.header.split.cue];
    return el("div", { class: "split-cue", role: "status" }, bold(head), el("p", {}, why));
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
      if (right) row.setAttribute("aria-label", `${label}: ${count}, the right answer`);
      list.append(row);
    }
    return list;
  }

  buttons() {
    const { locked, revealed, split } = this.header;
    const talk = split.cue === "talk";
    const button = (label, act, kind) => {
      const node = el("button", { type: "button", class: kind }, label);
      node.onclick = () => this.emit("pick", { act });
      return node;
    };
    const foot = el("div", { class: "split-foot" });
    foot.append(button("Talk, then ask again", "again", talk && !revealed ? "primary" : ""));
    if (!revealed)
      foot.append(
        button(locked ? "Open answers" : "Lock answers", locked ? "unlock" : "lock", ""),
        button("Reveal", "reveal", talk ? "" : "primary"),
      );
    return foot;
  }
}
