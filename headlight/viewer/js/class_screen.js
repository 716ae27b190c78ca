// A class on the teacher's screen: the code, who has answered, the question, and what they said beside the model.
//
// Header: title, code, join, link, qr (an address of an image), unreachable (a sentence in their place where phones can't
// reach this address), joined, answered, steps [{name, title}], at, open, text, sentence, question, posed, round, locked, looking,
// truth (null before it is revealed), tallies (of each round), judged {right: [share of each round], count and
// misconceptions [{belief, correction, count}] (of the last), mean?}.

function mountClass(root, payload, emit) {
  return mounted(ClassScreen, root, payload, emit);
}

class ClassScreen {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.head = el("header", { class: "class-head" });
    this.side = el("aside", { "aria-label": gettext("Class") });
    this.stage = el("div", { class: "asked-of" });
    this.said = el("span", { class: "said muted" });
    this.bar = el("div", { class: "class-bar" }, this.said);
    const room = el("div", { class: "class-of" }, this.side, this.stage);
    root.replaceChildren(el("div", { class: "class-room" }, this.head, room, this.bar));
  }

  dispose() {}

  update({ header }) {
    this.header = header;
    this.drawHead();
    this.drawSide();
    this.drawBar();
    const theme = themeOf(this.root).name,
      { at, open, round, posed, truth, tallies } = header;
    const shown = JSON.stringify([theme, at, open, round, posed, truth, tallies]);
    if (shown === this.shown) return; // the counts alone have changed
    this.shown = shown;
    this.drawStage();
  }

  drawHead() {
    const { title, at, steps, truth, join, code } = this.header;
    const dots = el("span", { class: "steps-of", "aria-hidden": "true" });
    steps.forEach((_, i) => dots.append(el("i", { class: i < at ? "past" : i === at ? "now" : "" })));
    const place = gettext("Step {number} of {all}", { number: at + 1, all: steps.length });
    const parts = [el("h1", {}, title), dots, el("span", { class: "muted" }, place)];
    if (truth) parts.push(el("span", { class: "late muted" }, join, bold(code))); // for whoever comes late
    this.head.replaceChildren(...parts);
  }

  drawSide() {
    const { code, join, link, qr, unreachable, joined, answered, truth, judged, posed, tallies } = this.header;
    this.side.parentElement.classList.toggle("told", !!truth);
    if (truth) {
      const piles = tallies.map((tally, i) => this.histogram(posed, truth, tally, i, tallies.length));
      const result = el("div", { class: "result" }, ...this.verdict(judged), ...this.sure(judged));
      this.side.replaceChildren(result, ...piles, ...beliefs(judged.misconceptions));
      return;
    }
    const counts = el("div", { class: "counts", role: "status" });
    for (const [count, what] of [
      // Translators: under the number of pupils who joined the class
      [joined, pgettext("count", "joined")],
      // Translators: under the number of pupils who answered
      [answered, pgettext("count", "answered")],
    ])
      counts.append(el("div", {}, bold(String(count)), el("span", { class: "muted" }, what)));
    const rail = el("div", { class: "rail-of", "aria-hidden": "true" }, el("i", {}));
    rail.firstElementChild.style.width = `${joined ? (100 * answered) / joined : 0}%`;
    const entry = el("div", { class: "join" });
    if (unreachable) entry.append(el("p", { class: "unreachable" }, ...spans(unreachable)));
    else {
      const address = el("a", { href: link, target: "_blank", rel: "noopener" }, join);
      const where = el("div", { class: "where" }, el("span", { class: "muted" }, gettext("Join at")), address);
      entry.append(el("img", { src: qr, alt: gettext("QR code of the link to join"), class: "qr" }), where);
    }
    entry.append(el("div", { class: "class-code" }, code));
    this.side.replaceChildren(entry, counts, rail);
  }

  // In large figures what the class did: the share of right answers, or of drawn rows, of which hardly one is the head's
  // own, what their mean has in common with it.
  verdict({ right, count, mean }) {
    const { tallies, posed, truth } = this.header,
      shares = right.filter(share => share !== null).map(share => percent(share)),
      answers = tallies.at(-1).count;
    if (!shares.length) return [el("p", { class: "muted" }, gettext("Nobody answered."))];
    const its = namesOf(posed)?.[answerPlace(posed, truth)];
    if (mean) {
      const even = gettext(
        "This much of your mean row lies where the head looks; shared out evenly, it would be {evenly}.",
        {
          evenly: percent(mean.evenly / 100),
        },
      );
      const bars = gettext("{count} of {all} had the highest bar on \u201c{word}\u201d.", {
        count,
        all: answers,
        word: isolated(its),
      });
      return [
        el("div", { class: "big" }, percent(mean.overlap / 100)),
        el("p", { class: "muted" }, even),
        el("p", { class: "muted" }, bars),
      ];
    }
    // A number within a tenth of the slider counts.
    const text =
      posed.ask === "number" ? gettext("**Close**: {count} of {all}") : gettext("**Right**: {count} of {all}");
    const said = el("p", { class: "muted" }, ...spans(fillIn(text, { count, all: answers })));
    const big = el("div", { class: shares.length > 1 ? "big two" : "big" }, shares.join(" \u2192 "));
    if (shares.length === 1) return [big, said];
    return [big, el("p", { class: "muted" }, gettext("Before and after talking")), said];
  }

  // How sure those were who said so.
  sure({ sure }) {
    if (!sure?.said) return [];
    const text = gettext(
      "Of {said} who said how sure they are: {wrong} sure and wrong, {right} unsure and right.",
      sure,
    );
    return [el("p", { class: "muted" }, text)];
  }

  drawStage() {
    const { question, posed, round, truth, tallies, open } = this.header;
    const head = el("h2", {}, ...spans(question)),
      box = el("div", {});
    this.stage.replaceChildren(head);
    if (!open) return;
    if (round > 1)
      head.append(" ", el("small", { class: "muted" }, gettext("Asked {number} times so far.", { number: round })));
    if (truth?.explanation) head.before(el("div", { class: "why" }, prose(truth.explanation)));
    else head.before(introduction(this.header));
    this.stage.append(box);
    if (!truth) {
      box.inert = true; // the pupils answer, not this screen
      box.className = "watched";
      drawQuestion(box, posed, () => {});
      return;
    }
    drawTruth(box, posed, truth, null, tallies.at(-1));
  }

  // A square for each pupil beside what they chose; of a drawn row, beside the word of its highest bar.
  histogram(posed, truth, { counts, count }, at, of) {
    const figure = el("figure", { class: "squares" }),
      words = namesOf(posed);
    if (!counts || !count) return figure;
    const its = answerPlace(posed, truth);
    const said =
      posed.ask === "row"
        ? gettext("Where your highest bar stood: each square is one of you.")
        : gettext("What you answered: each square is one of you.");
    const which = of > 1 ? [bold(gettext("Round {number}", { number: at + 1 })), " "] : [];
    figure.append(el("figcaption", { class: "muted" }, ...which, said));
    const columns = el("div", { class: "columns-of", role: "list" });
    counts.forEach((many, i) => {
      if (posed.ask !== "choice" && !many && i !== its) return; // of many words or heads, those that somebody chose
      const column = el("div", { role: "listitem", class: i === its ? "its" : "" });
      const values = { answer: words[i], count: many };
      const label =
        i === its ? gettext("{answer}: {count}, the right answer", values) : gettext("{answer}: {count}", values);
      column.setAttribute("aria-label", label);
      const pile = el("div", { class: "pile" });
      for (let n = 0; n < many; n++) pile.append(el("i"));
      pile.append(bold(String(many)));
      column.append(el("span", {}, ...spans(words[i])), pile);
      columns.append(column);
    });
    figure.append(columns);
    return figure;
  }

  // The buttons are made anew only when they change: a button that is replaced while it is pressed gets no click.
  drawBar() {
    const { joined, answered, locked, truth, open, at, steps, looking } = this.header;
    const state = !open
      ? gettext("This step is not asked yet.")
      : truth
        ? gettext("The answer is revealed.")
        : locked
          ? gettext("Answers are closed.")
          : gettext("Answers are open.");
    const count = gettext("{answered} of {joined} answered", { answered, joined });
    this.said.textContent = open ? `${state} ${count}` : state;
    const calls = [];
    if (looking) calls.push([gettext("Release the screens"), { act: "release" }]);
    if (at > 0) calls.push([gettext("Back"), { step: steps[at - 1].name }]);
    if (open) {
      calls.push([gettext("Talk, then ask again"), { act: "again" }]);
      if (!truth) {
        calls.push([locked ? gettext("Open answers") : gettext("Lock answers"), { act: locked ? "unlock" : "lock" }]);
        calls.push([gettext("Reveal"), { act: "reveal" }, "primary"]);
      }
    } else calls.push([gettext("Ask this step"), { act: "open" }, "primary"]);
    const next = steps[at + 1];
    if (next) calls.push([gettext("Next"), { step: next.name }, truth ? "primary" : "second"]);
    const drawn = JSON.stringify(calls);
    if (drawn === this.calls) return;
    this.calls = drawn;
    const focused = this.root.getRootNode().activeElement,
      focus = this.bar.contains(focused) ? focused.textContent : null;
    const buttons = calls.map(([label, pick, kind = "second"]) =>
      clickButton({ class: kind }, () => this.emit("pick", pick), label),
    );
    this.bar.replaceChildren(this.said, ...buttons);
    if (focus) buttons.find(node => node.textContent === focus)?.focus();
  }
}

function namesOf(posed) {
  if (posed.ask !== "head") return posed.choices ?? posed.labels;
  return Array.from({ length: posed.layers * posed.heads }, (_, i) => {
    const layer = Math.floor(i / posed.heads) + 1;
    return gettext("layer {layer}, head {head}", { layer, head: (i % posed.heads) + 1 });
  });
}

function answerPlace(posed, { answer }) {
  if (posed.ask === "head") return (answer[0] - 1) * posed.heads + answer[1] - 1;
  return posed.ask === "row" ? answer.indexOf(Math.max(...answer)) : answer;
}
