// One step of a lesson: a text, a question, the means to answer it, and then the answer beside the guess.
//
// Header: lesson {name, title, number}, following {name, title} or null, steps [{name, title, ask}], at, text, sentence,
// question, hint, posed, own (an address), only, earlier: the lessons before this one, as a list has them,
// typed: of the step about a sentence of one's own {sentence, refused, most characters}, else null,
// told: null before the answer, else {guess, truth, judged}.

function mountLesson(root, payload, emit) {
  return mounted(LessonView, root, payload, emit);
}

class LessonView {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.bar = el("nav", { class: "steps", "aria-label": gettext("Steps of this lesson") });
    this.say = el("div", { class: "say" });
    this.view = el("div", { class: "view" });
    root.replaceChildren(this.bar, el("div", { class: "stage-of" }, this.say, this.view));
    this.key = event => {
      const used = event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey;
      if (event.key === "Enter" && onNothing(event) && !used) this.say.querySelector(".primary:enabled")?.click();
      else if (["PageUp", "PageDown"].includes(event.key) && onNothing(event) && !used && !this.header.only) {
        event.preventDefault();
        this.go(this.header.at + (event.key === "PageUp" ? -1 : 1));
      }
    };
    document.addEventListener("keydown", this.key);
  }

  dispose() {
    document.removeEventListener("keydown", this.key);
  }

  go(at) {
    const step = this.header.steps[at];
    if (step) this.emit("pick", { step: step.name });
  }

  update({ header }) {
    const before = this.header,
      theme = themeOf(this.root).name;
    this.header = header;
    if (JSON.stringify(before) === JSON.stringify(header) && theme === this.theme) return; // a guess that is being made stays as it is
    this.theme = theme;
    const { lesson, steps, at, told } = header;
    if (told) noteDone(lesson.name, steps[at].name, told.guess, told.judged, this.sure);
    if (told || !this.isAt(before)) this.sure = null;
    this.done = progress()[lesson.name] ?? {};
    const same = this.isAt(before);
    const kept = keptReturn();
    this.back = kept && kept.lesson === lesson.name && kept.step === steps[at].name ? kept : null;
    if (kept && !this.back) keepReturn(null); // one went elsewhere
    this.drawBar();
    if (told) this.tell(told);
    else this.ask();
    if (same && told && !before.told) this.say.querySelector(".primary")?.focus({ preventScroll: true });
    else if (before && !same) this.root.scrollIntoView({ block: "nearest" });
  }

  isAt(header) {
    const { lesson, at } = this.header;
    return !!header && header.lesson.name === lesson.name && header.at === at;
  }

  drawBar() {
    const { steps, at, only } = this.header;
    this.bar.hidden = only || !!this.back;
    const arrow = (sign, label, by) => {
      const node = clickButton(
        { class: "arrow", "aria-label": label, title: label },
        () => this.go(at + by),
        icon(sign),
      );
      node.disabled = !steps[at + by];
      return node;
    };
    const list = el("ol", {});
    steps.forEach(({ name, title, ask }, i) => {
      const look = {
        class: i === at ? "now" : this.done[name] ? "done" : "",
        "aria-label": spokenStep(i + 1, title, this.done[name]),
        ...(i === at && { "aria-current": "step" }),
      };
      const node = clickButton(look, () => this.go(i), icon(ASKED_BY[ask], 17), el("span", {}, title));
      list.append(el("li", {}, node));
    });
    this.bar.replaceChildren(arrow("back", gettext("Step back"), -1), arrow("forward", gettext("Next step"), 1), list);
  }

  ask() {
    const { lesson, steps, at, question, hint, posed, typed } = this.header;
    if (typed && !posed) return this.askSentence();
    let guess = null;
    const answer = pick => {
      this.waiting(true);
      this.emit("pick", pick);
    };
    const reveal = clickButton({ class: "primary" }, () => answer({ guess }), gettext("Reveal")),
      skip = clickButton({ class: "link" }, () => answer({ skip: true }), gettext("Show me without a guess"));
    const parts = [...this.before(), introduction(this.header), el("h2", {}, ...spans(question))];
    if (hint) {
      const node = el(
          "button",
          { type: "button", class: "link hint-of", "aria-expanded": "false" },
          icon("bulb", 17),
          gettext("Hint"),
        ),
        place = el("div", { role: "status" });
      node.onclick = () => {
        node.hidden = true;
        place.replaceChildren(el("div", { class: "hint" }, prose(hint)));
      };
      parts.push(node, place);
    }
    this.say.classList.remove("told");
    const sureness = askSure(sure => (this.sure = sure), this.sure);
    this.say.replaceChildren(...parts, el("div", { class: "calls" }, sureness, reveal, skip));
    const take = given => {
      guess = given;
      reveal.disabled = given === null;
    };
    take(null);
    reveal.setAttribute("aria-keyshortcuts", "Enter");
    reveal.title = "Enter";
    // From where the guess is made: by the Tab key the button is dozens of stops away. Enter on what is not chosen yet, or
    // on another button, is for that.
    this.view.onkeydown = event => {
      const own = event.target.closest?.("button") && event.target.getAttribute("aria-checked") !== "true";
      if (event.key !== "Enter" || own || reveal.disabled) return;
      event.preventDefault();
      reveal.click();
    };
    const earlier = this.back || typed ? null : (this.done[steps[at].name]?.guess ?? null);
    this.view.replaceChildren(el("div"));
    this.lesson = lesson.name;
    try {
      drawQuestion(this.view.firstElementChild, posed, take, earlier);
      if (earlier !== null && guess === null) take(earlier);
    } catch {
      // what was stored belongs to an older question of that name
      take(null);
      drawQuestion(this.view.firstElementChild, posed, take);
    }
  }

  // What stands before a question: where it comes from, or that one of an earlier lesson may come first.
  before() {
    const { earlier, lesson, at, only } = this.header;
    if (this.back)
      return [
        el(
          "p",
          { class: "muted" },
          gettext("Once more, from the lesson \u201c{title}\u201d.", { title: lesson.title }),
        ),
      ];
    const asked = only || at > 0 || stored("sessionStorage", RETURNED_KEY) === lesson.name;
    const first = !asked ? returningTo(earlier ?? [], lesson.name) : null;
    if (!first) return [];
    const title = first.step.title,
      from = first.lesson.title;
    const open = clickButton({ class: "link" }, () => this.openReturn(first, lesson.name), gettext("Answer it first"));
    const text = gettext("Do you still know? \u201c{title}\u201d, from \u201c{from}\u201d.", { title, from });
    return [el("div", { class: "return-of" }, el("span", {}, text), open)];
  }

  openReturn({ lesson, step }, onto) {
    keepReturn({ lesson: lesson.name, step: step.name, onto });
    this.emit("pick", { lesson: lesson.name, step: step.name, again: true });
  }

  onwards() {
    return this.back.onto ? gettext("On with the lesson") : gettext("Back to the lessons");
  }

  goBack() {
    const { onto } = this.back;
    keepReturn(null);
    if (onto) store("sessionStorage", RETURNED_KEY, onto);
    this.emit("pick", onto ? { lesson: onto, step: "" } : { list: true });
  }

  // The question about a sentence of one's own, before there is one.
  askSentence() {
    const { question, typed } = this.header;
    const input = el("input", {
        type: "text",
        maxlength: typed.most,
        autocomplete: "off",
        id: "own-sentence",
        required: "",
      }),
      send = el("button", { class: "primary" }, gettext("Ask about it")),
      refused = el("p", { class: "refused", role: "alert" }, typed.refused ?? "");
    input.value = typed.sentence ?? "";
    const label = el("label", { for: "own-sentence" }, gettext("Type a sentence of your own"));
    const form = el("form", { class: "own-of" }, label, input, refused, el("div", { class: "calls" }, send));
    form.onsubmit = event => {
      event.preventDefault();
      if (!input.value.trim()) return;
      send.disabled = true;
      send.textContent = gettext("Asking the model \u2026");
      this.emit("pick", { sentence: input.value });
    };
    this.say.classList.remove("told");
    this.say.replaceChildren(el("h2", {}, ...spans(question)));
    this.view.onkeydown = null;
    this.view.replaceChildren(form);
  }

  otherSentence() {
    return clickButton({ class: "link" }, () => this.emit("pick", { sentence: null }), gettext("Another sentence"));
  }

  waiting(on) {
    for (const button of this.say.querySelectorAll(".calls button")) button.disabled = on;
    this.say.querySelector(".primary").textContent = on ? gettext("Asking the model \u2026") : gettext("Reveal");
  }

  tell({ guess, truth, judged }) {
    const { lesson, steps, at, question, posed, own, only, following, typed } = this.header;
    const last = at + 1 === steps.length;
    const calls = el("div", { class: "calls" });
    if (!only) {
      const next = clickButton(
        { class: "primary" },
        () => (this.back ? this.goBack() : last ? this.emit("pick", { list: true }) : this.go(at + 1)),
        this.back ? this.onwards() : last ? gettext("Finish") : gettext("Next"),
      );
      calls.append(next);
      if (typed) calls.append(this.otherSentence());
      if (last && following && !this.back) {
        const on = clickButton(
          { class: "link" },
          () => this.emit("pick", { following: true }),
          gettext("Next lesson: {title}", { title: following.title }),
        );
        calls.append(on);
      }
      if (own)
        calls.append(
          el(
            "a",
            // what stands in this very page needs no other tab
            { class: "second", href: own, ...(own.startsWith("#") ? {} : { target: "_blank", rel: "noopener" }) },
            icon("edit", 17),
            gettext("Try your own sentence"),
          ),
        );
    }
    calls.append(clickButton({ class: "link" }, () => this.emit("pick", { again: true }), gettext("Guess again")));
    this.say.classList.add("told");
    const parts = [introduction(this.header), el("h2", {}, ...spans(question))];
    if (judged) parts.push(verdict(judged));
    if (judged?.betrays) parts.push(misconception(judged.betrays));
    parts.push(el("div", { class: "why" }, prose(truth.explanation)));
    if (last && !this.back && !only) parts.push(...sureSummary(steps, progress()[lesson.name] ?? {}));
    this.say.replaceChildren(...parts, calls);
    this.view.replaceChildren(el("div"));
    drawTruth(this.view.firstElementChild, posed, truth, guess);
  }
}

// Where one was sure and wrong, and unsure and right.
function sureSummary(steps, done) {
  const named = steps.filter(({ name }) => done[name]?.sure),
    titles = those => those.map(({ title }) => gettext("\u201c{title}\u201d", { title })).join(", ");
  if (!named.length) return [];
  const wrong = named.filter(({ name }) => done[name].sure === SURE && wentWrong(done[name])),
    right = named.filter(({ name }) => done[name].sure === NOT_SURE && done[name].right);
  const parts = [el("h3", {}, gettext("How sure you were"))];
  if (wrong.length) parts.push(el("p", {}, gettext("Sure, and wrong: {steps}.", { steps: titles(wrong) })));
  if (right.length) parts.push(el("p", {}, gettext("Unsure, and right: {steps}.", { steps: titles(right) })));
  if (!wrong.length) parts.push(el("p", {}, gettext("Where you were sure, you were right.")));
  return [el("div", { class: "sureness" }, ...parts)];
}

// The difference as a number: the overlap of a drawn row always beside that of spreading evenly.
function verdict(judged) {
  const { overlap, evenly, sentence } = judged;
  if (overlap === undefined) return el("div", { class: "verdict", role: "status" }, el("p", {}, sentence));
  const rail = el("div", { class: "rail", "aria-hidden": "true" });
  rail.append(placed("i", "evenly", `${evenly}%`), placed("i", "overlap", `${overlap}%`));
  const note = el(
    "span",
    { class: "evenly-note" },
    gettext("spread evenly {number}\u00a0%", { number: Math.round(evenly) }),
  );
  rail.style.setProperty("--overlap", `${overlap}%`);
  return el(
    "div",
    { class: "verdict", role: "status" },
    el(
      "div",
      { class: "share-of" },
      bold(percent(Math.round(overlap) / 100)),
      el("span", { class: "muted" }, gettext("overlap: so much of your row lies where the head looks")),
    ),
    rail,
    el("div", { class: "ends muted" }, note, el("span", {}, gettext("100\u00a0% the same row"))),
  );
}

function spokenStep(number, title, done) {
  return done
    ? gettext("Step {number}, {title}, done", { number, title })
    : gettext("Step {number}, {title}", { number, title });
}
