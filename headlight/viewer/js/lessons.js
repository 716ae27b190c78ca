// The list of lessons, with what this browser's owner has done of each.

const ASKED_BY = { word: "hand", choice: "hand", row: "bars", head: "grid", number: "gauge", order: "list" };
const ASKED_AS = {
  word: translatable("guess"),
  choice: translatable("guess"),
  row: translatable("draw"),
  head: translatable("choose"),
  number: translatable("estimate"),
  order: translatable("order"),
};

const MAX_LISTED_MISTAKES = 8; // of the questions that went wrong, listed at once

function mountLessons(root, payload, emit) {
  return mounted(LessonsView, root, payload, emit);
}

class LessonsView {
  /** @type {Emit} */ emit;

  constructor(root) {
    this.root = root;
    this.list = el("ol", { class: "lessons" });
    this.again = el("section", { class: "again-of" });
    this.note = el("span", { role: "status" });
    this.copy = clickButton(
      { class: "link" },
      () => this.copyLink(),
      icon("copy", 16),
      el("span", {}, gettext("Copy link with my progress")),
    );
    root.replaceChildren(
      el(
        "div",
        { class: "lessons-note" },
        el("span", {}, gettext("Every step asks, then shows what the model did. Start anywhere; nothing is graded.")),
        el("span", {}, this.note, this.copy),
      ),
      this.again,
      this.list,
    );
    this.list.onkeydown = event => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key],
        links = [...this.list.querySelectorAll("a")];
      if (!step) return;
      event.preventDefault();
      links[clamp(links.indexOf(event.target) + step, 0, links.length - 1)].focus();
    };
  }

  dispose() {}

  update({ header: { lessons, done, address } }) {
    this.lessons = lessons;
    this.address = address ?? "?"; // what stands before the parameters of a link
    themeOf(this.root);
    if (done && done !== this.taken) takeProgress((this.taken = done), lessons);
    const all = progress();
    this.list.replaceChildren(...lessons.map(lesson => this.row(lesson, all[lesson.name] ?? {})));
    this.drawAgain(all);
    this.note.textContent = gettext("{done}, kept in this browser only", { done: doneOf(lessons, all) });
    this.copy.hidden = !progressText(lessons, all);
  }

  row({ name, number, title, question, minutes, steps }, done) {
    const { next, begun, at } = whereIn(steps, done);
    const kinds = [...new Map(steps.map(step => [gettext(ASKED_AS[step.ask]), ASKED_BY[step.ask]]))].slice(0, 3);
    const right = steps.filter(
      step => done[step.name] && !wentWrong(done[step.name]) && done[step.name].score !== null,
    ).length;
    const state =
      begun && next > 0
        ? gettext("Go on at step {number}", { number: at + 1 })
        : begun && next < 0
          ? gettext("{right} of {all} as guessed", { right, all: steps.length })
          : ngettext("{count} step", "{count} steps", steps.length);
    const dots = steps.map((step, i) => el("i", { class: done[step.name] ? "full" : begun && i === at ? "next" : "" }));
    const link = el(
      "a",
      {
        href: `${this.address}${new URLSearchParams({ lesson: name, step: steps[at].name })}`,
        class: begun && next >= 0 ? "begun" : "",
      },
      el("span", { class: "thumb-of", "aria-hidden": "true" }, glyph(steps)),
      el(
        "span",
        { class: "about" },
        el("b", {}, el("span", { class: "nth" }, `${number}`), title),
        el("small", {}, question),
      ),
      el("span", { class: "kinds" }, ...kinds.map(([text, sign]) => el("span", {}, icon(sign, 16), text))),
      el("span", { class: "minutes" }, gettext("{minutes}\u00a0min", { minutes })),
      el(
        "span",
        { class: "state" },
        el("span", { class: "dots", "aria-hidden": "true" }, ...dots),
        el("small", {}, state),
      ),
      icon("forward", 18),
    );
    link.onclick = event => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.emit("pick", { lesson: name, step: steps[at].name });
    };
    return el("li", {}, link);
  }

  // The questions that went wrong, to be asked once more.
  drawAgain(all) {
    const wrong = wrongOnes(this.lessons, all);
    this.again.hidden = !wrong.length;
    if (!wrong.length) return;
    const shown = wrong.slice(0, MAX_LISTED_MISTAKES).map(({ lesson, step, done }) => {
      const link = clickButton(
        { class: "link" },
        () => {
          keepReturn({ lesson: lesson.name, step: step.name, onto: "" });
          this.emit("pick", { lesson: lesson.name, step: step.name, again: true });
        },
        `${lesson.number}. ${step.title}`,
      );
      const sure = done.sure === SURE ? [el("small", { class: "muted" }, gettext("you were sure"))] : [];
      return el("li", {}, link, ...sure);
    });
    const many = ngettext("{count} question went wrong.", "{count} questions went wrong.", wrong.length);
    this.again.replaceChildren(
      el("h3", {}, gettext("Again")),
      el("p", { class: "muted" }, many),
      el("ul", {}, ...shown),
    );
  }

  async copyLink() {
    const done = new URLSearchParams({ done: progressText(this.lessons, progress()) }),
      address = new URL(`${this.address}${done}`, location.href);
    const said = this.copy.lastElementChild;
    await copyText(address.href);
    said.textContent = gettext("Copied");
    setTimeout(() => (said.textContent = gettext("Copy link with my progress")), 2000);
  }
}

// How far one is in a lesson: its first step that is not done, or -1; whether one is; and the step to open.
function whereIn(steps, done) {
  const next = steps.findIndex(step => !done[step.name]);
  return { next, begun: steps.some(step => done[step.name]), at: Math.max(0, next) };
}

function doneOf(lessons, all) {
  const isDone = name => step => step.name === YOUR_SENTENCE || all[name]?.[step.name];
  const finished = lessons.filter(({ name, steps }) => steps.every(isDone(name)));
  return gettext("{number} of {all} done", { number: finished.length, all: lessons.length });
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // not allowed outside https and localhost
    const field = document.body.appendChild(el("textarea"));
    field.value = text;
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

// What a lesson asks for, as a small picture: one column for each step, as high as its kind is demanding.
function glyph(steps) {
  const high = { choice: 10, word: 14, number: 18, order: 22, head: 26, row: 30 },
    wide = 34 / steps.length;
  return svg(
    "svg",
    { viewBox: "0 0 40 40", width: 40, height: 40 },
    ...steps.map(({ ask }, i) =>
      svg("rect", {
        x: 3 + i * wide,
        y: 35 - high[ask],
        width: Math.max(1, wide - 1.5),
        height: high[ask],
        rx: 1,
        class: ask,
      }),
    ),
  );
}
