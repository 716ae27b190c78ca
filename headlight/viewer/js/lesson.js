// One step of a lesson: a text, a question, the means to answer it, and then the answer beside the guess.
//
// Header: lesson {name, title, number}, following {name, title} or null, steps [{name, title, ask}], at, text, sentence,
// question, hint, posed, own (an address), only,
// told: null before the answer, else {guess, truth, judged}.

function mountLesson(root, payload, emit) {
  return mounted(LessonView, root, payload, emit);
}

class LessonView {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.bar = el("nav", { class: "steps", "aria-label": "Steps of this lesson" });
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
    const shown =
      this.header && JSON.stringify({ ...this.header, arrays: 0 }) === JSON.stringify({ ...header, arrays: 0 });
    const before = this.header;
    this.header = header;
    const theme = themeOf(this.root).name;
    if (shown && theme === this.theme) return; // a guess that is being made stays as it is
    this.theme = theme;
    const { lesson, steps, at, told } = header;
    if (told) noteDone(lesson.name, steps[at].name, told.guess, told.judged?.score ?? null);
    this.done = progress()[lesson.name] ?? {};
    const same = before && before.lesson.name === lesson.name && before.at === at;
    this.drawBar();
    if (told) this.tell(told);
    else this.ask();
    if (same && told && !before.told) this.say.querySelector(".primary")?.focus({ preventScroll: true });
    else if (before && !same) this.root.scrollIntoView({ block: "nearest" });
  }

  drawBar() {
    const { steps, at, only } = this.header;
    this.bar.hidden = only;
    const arrow = (sign, label, by) => {
      const node = el("button", { type: "button", class: "arrow", "aria-label": label, title: label }, icon(sign));
      node.disabled = !steps[at + by];
      node.onclick = () => this.go(at + by);
      return node;
    };
    const list = el("ol", {});
    steps.forEach(({ name, title, ask }, i) => {
      const node = el(
        "button",
        { type: "button", class: i === at ? "now" : this.done[name] ? "done" : "" },
        icon(ASKED_BY[ask], 17),
        el("span", {}, title),
      );
      node.setAttribute("aria-label", `Step ${i + 1}, ${title}${this.done[name] ? ", done" : ""}`);
      if (i === at) node.setAttribute("aria-current", "step");
      node.onclick = () => this.go(i);
      list.append(el("li", {}, node));
    });
    this.bar.replaceChildren(arrow("back", "Step back", -1), arrow("forward", "Next step", 1), list);
  }

  ask() {
    const { lesson, steps, at, question, hint, posed } = this.header;
    let guess = null;
    const reveal = el("button", { type: "button", class: "primary" }, "Reveal"),
      skip = el("button", { type: "button", class: "link" }, "Show me without a guess");
    reveal.onclick = () => {
      this.waiting(true);
      this.emit("pick", { guess });
    };
    skip.onclick = () => {
      this.waiting(true);
      this.emit("pick", { skip: true });
    };
    const parts = [introduction(this.header), el("h2", {}, ...spans(question))];
    if (hint) {
      const node = el(
          "button",
          { type: "button", class: "link hint-of", "aria-expanded": "false" },
          icon("bulb", 17),
          "Hint",
        ),
        place = el("div", { role: "status" });
      node.onclick = () => {
        node.hidden = true;
        place.replaceChildren(el("div", { class: "hint" }, prose(hint)));
      };
      parts.push(node, place);
    }
    this.say.classList.remove("told");
    this.say.replaceChildren(...parts, el("div", { class: "calls" }, reveal, skip));
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
    const earlier = this.done[steps[at].name]?.guess ?? null;
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

  waiting(on) {
    for (const button of this.say.querySelectorAll(".calls button")) button.disabled = on;
    this.say.querySelector(".primary").textContent = on ? "Asking the model \u2026" : "Reveal";
  }

  tell({ guess, truth, judged }) {
    const { steps, at, question, posed, own, only, following } = this.header;
    const last = at + 1 === steps.length;
    const calls = el("div", { class: "calls" });
    if (!only) {
      const next = el("button", { type: "button", class: "primary" }, last ? "Finish" : "Next");
      next.onclick = () => (last ? this.emit("pick", { list: true }) : this.go(at + 1));
      calls.append(next);
      if (last && following) {
        const on = el("button", { type: "button", class: "link" }, `Next lesson: ${following.title}`);
        on.onclick = () => this.emit("pick", { following: true });
        calls.append(on);
      }
      if (own)
        calls.append(
          el(
            "a",
            // what stands in this very page needs no other tab
            { class: "second", href: own, ...(own.startsWith("#") ? {} : { target: "_blank", rel: "noopener" }) },
            icon("edit", 17),
            "Try your own sentence",
          ),
        );
    }
    const again = el("button", { type: "button", class: "link" }, "Guess again");
    again.onclick = () => this.emit("pick", { again: true });
    calls.append(again);
    this.say.classList.add("told");
    const parts = [introduction(this.header), el("h2", {}, ...spans(question))];
    if (judged) parts.push(verdict(judged));
    this.say.replaceChildren(...parts, el("div", { class: "why" }, prose(truth.explanation)), calls);
    this.view.replaceChildren(el("div"));
    drawTruth(this.view.firstElementChild, posed, truth, guess);
  }
}

// The difference as a number: the overlap of a drawn row always beside that of spreading evenly.
function verdict(judged) {
  const { overlap, evenly, sentence } = judged;
  if (overlap === undefined) return el("div", { class: "verdict", role: "status" }, el("p", {}, sentence));
  const rail = el("div", { class: "rail", "aria-hidden": "true" });
  rail.append(placed("i", "evenly", `${evenly}%`), placed("i", "overlap", `${overlap}%`));
  const note = el("span", { class: "evenly-note" }, `spread evenly ${Math.round(evenly)}${NBSP}%`);
  rail.style.setProperty("--overlap", `${overlap}%`);
  return el(
    "div",
    { class: "verdict", role: "status" },
    el(
      "div",
      { class: "share-of" },
      bold(`${Math.round(overlap)}${NBSP}%`),
      el("span", { class: "muted" }, "overlap: so much of your row lies where the head looks"),
    ),
    rail,
    el("div", { class: "ends muted" }, note, el("span", {}, `100${NBSP}% the same row`)),
  );
}
