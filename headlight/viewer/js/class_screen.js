// A class on the teacher's screen: the code, who has answered, the question, and what they said beside the model.
//
// Header: code, join, link, qr (an address of an image), joined, answered, steps [{name, title}], at, open, question, posed, round,
// locked, looking, truth (null before it is revealed), tallies (of each round), judged {right: [share of each round], mean?}.

function mountClass(root, payload, emit) {
  return mounted(ClassScreen, root, payload, emit);
}

class ClassScreen {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.side = el("aside", { "aria-label": "Class" });
    this.stage = el("div", { class: "asked-of" });
    this.bar = el("div", { class: "class-bar" });
    root.replaceChildren(el("div", { class: "class-of" }, this.side, this.stage), this.bar);
  }

  dispose() {}

  update({ header }) {
    this.header = header;
    this.drawSide();
    this.drawBar();
    const theme = themeOf(this.root).name,
      { at, open, round, posed, truth, tallies } = header;
    const shown = JSON.stringify([theme, at, open, round, posed, truth, tallies]);
    if (shown === this.shown) return; // the counts alone have changed
    this.shown = shown;
    this.drawStage();
  }

  drawSide() {
    const { code, join, link, qr, joined, answered, truth, judged } = this.header;
    const result = el("div", { class: "result" });
    if (truth) result.append(...this.verdict(judged));
    if (truth?.explanation) result.append(el("div", { class: "why" }, prose(truth.explanation)));
    const picture = el("img", { src: qr, alt: "QR code of the link to join", class: truth ? "qr small" : "qr" });
    const address = el("a", { href: link, target: "_blank", rel: "noopener" }, join);
    const counts = el("div", { class: "counts", role: "status" });
    for (const [count, what] of [
      [joined, "joined"],
      [answered, "answered"],
    ])
      counts.append(el("div", {}, bold(String(count)), el("span", { class: "muted" }, what)));
    const dots = el("div", { class: "dots-of", "aria-hidden": "true" });
    for (let i = 0; i < joined; i++) dots.append(el("i", { class: i < answered ? "full" : "" }));
    const where = el("div", { class: "where" }, el("span", { class: "muted" }, "Join at"), address);
    const entry = el("div", { class: "join" }, picture, where, el("div", { class: "class-code" }, code));
    // What was revealed is what matters then; how many answered stands beside the buttons too.
    if (truth) this.side.replaceChildren(result, entry);
    else this.side.replaceChildren(entry, counts, dots);
    this.side.parentElement.classList.toggle("told", !!truth);
  }

  verdict({ right, mean }) {
    const shares = right.filter(share => share !== null).map(share => percent(share));
    const parts = [];
    if (shares.length) {
      const after = shares.length > 1 ? "right, before and after talking" : "right";
      parts.push(el("div", { class: "big" }, shares.join(" \u2192 ")), el("p", { class: "muted" }, after));
    }
    if (mean) {
      parts.push(el("div", { class: "big less" }, percent(mean.overlap / 100)));
      const even = `overlap of your mean row with the head\u2019s; spreading evenly gives ${percent(mean.evenly / 100)}`;
      parts.push(el("p", { class: "muted" }, even));
    }
    return parts;
  }

  drawStage() {
    const { question, posed, round, truth, tallies, open } = this.header;
    const head = el("h2", {}, ...spans(question)),
      box = el("div", {});
    this.stage.replaceChildren(head);
    if (!open) return;
    if (round > 1) head.append(el("small", { class: "muted" }, ` asked for the ${ordinal(round)} time`));
    if (truth) this.stage.append(...tallies.map((tally, i) => this.histogram(posed, truth, tally, i, tallies.length)));
    this.stage.append(box);
    if (!truth) {
      box.inert = true; // the pupils answer, not this screen
      box.className = "watched";
      drawQuestion(box, posed, () => {});
      return;
    }
    drawTruth(box, posed, truth, null, tallies.at(-1));
  }

  // A square for each pupil above what they chose; of a drawn row, above its highest bar.
  histogram(posed, truth, { counts, count }, at, of) {
    const figure = el("figure", { class: "squares" }),
      words = namesOf(posed);
    if (!counts || !count) return figure;
    const its = answerPlace(posed, truth);
    const said = posed.ask === "row" ? "where your highest bar stood" : "what you said";
    const which = of > 1 ? `${ordinal(at + 1)} time: ` : "";
    figure.append(el("figcaption", { class: "muted" }, `${which}${said}, ${count} of you`));
    const columns = el("div", { class: "columns-of", role: "list" });
    counts.forEach((many, i) => {
      if (posed.ask !== "choice" && !many && i !== its) return; // of many words or heads, those that somebody chose
      const column = el("div", { role: "listitem", class: i === its ? "its" : "" });
      const label = `${words[i]}: ${many}${i === its ? ", as the model" : ""}`;
      column.setAttribute("aria-label", label);
      const pile = el("div", { class: "pile" }, bold(many ? String(many) : ""));
      for (let n = 0; n < many; n++) pile.append(el("i"));
      column.append(pile, el("span", {}, ...spans(words[i])));
      columns.append(column);
    });
    figure.append(columns);
    return figure;
  }

  drawBar() {
    const { joined, answered, locked, truth, open, at, steps, looking } = this.header;
    const state = !open
      ? "This step is not asked yet."
      : truth
        ? "Revealed."
        : locked
          ? "Answers are closed."
          : "Answers are open.";
    const said = el("span", { class: "said muted" }, open ? `${state} ${answered} of ${joined} answered` : state);
    const button = (label, pick, kind = "second", off = false) => {
      const node = el("button", { type: "button", class: kind }, label);
      node.disabled = off;
      node.onclick = () => this.emit("pick", pick);
      return node;
    };
    const calls = [];
    if (looking) calls.push(button("Release the screens", { act: "release" }));
    if (at > 0) calls.push(button("Back", { step: steps[at - 1].name }));
    if (open) {
      calls.push(button("Talk, then ask again", { act: "again" }));
      calls.push(
        button(
          locked && !truth ? "Open answers" : "Lock answers",
          { act: locked ? "unlock" : "lock" },
          "second",
          !!truth,
        ),
      );
      calls.push(button("Reveal", { act: "reveal" }, truth ? "second" : "primary", !!truth));
    } else calls.push(button("Ask this step", { act: "open" }, "primary"));
    const next = steps[at + 1];
    if (next) calls.push(button("Next", { step: next.name }, truth ? "primary" : "second"));
    const focus = this.bar.contains(this.root.getRootNode().activeElement)
      ? this.root.getRootNode().activeElement.textContent
      : null;
    this.bar.replaceChildren(said, ...calls);
    if (focus) calls.find(node => node.textContent === focus)?.focus();
  }
}

function namesOf(posed) {
  if (posed.ask !== "head") return posed.choices ?? posed.labels;
  return Array.from({ length: posed.layers * posed.heads }, (_, i) => {
    const layer = Math.floor(i / posed.heads) + 1;
    return `${layer}.${(i % posed.heads) + 1}`;
  });
}

function answerPlace(posed, { answer }) {
  if (posed.ask === "head") return (answer[0] - 1) * posed.heads + answer[1] - 1;
  return posed.ask === "row" ? answer.indexOf(Math.max(...answer)) : answer;
}
