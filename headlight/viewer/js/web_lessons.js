// The lessons of a published page: the app's list and steps (lessons.js, lesson.js). What a step names is computed by the
// page's worker: before the guess what the question needs, after it the answer.
//
// A step is what headlight/web/lessons.py writes. A text is in parts, of which those at odd places are expressions.

const LESSONS_ADDRESS = "#page=lessons&",
  MAX_SENTENCE_CHARACTERS = 300, // of the last question, about a typed sentence
  ASKING = gettext("Asking the model\u2026"),
  RECORDED = gettext("This step needs what is not in this file: its numbers were recorded when the file was made.");

// ---- a step as a question, and as its answer (headlight/teaching/lessons/posing.py) -------------------

const expressionsOf = text => text.filter((_, i) => i % 2);

const expressionsOfQuestion = ({ text, question, options, view }) => [
  ...[text, question, ...options.map(option => option.text)].flatMap(expressionsOf),
  ...(view ? [view] : []),
];

const expressionsOfAnswer = ({ explanation, answer, row, options }) => [
  ...expressionsOf(explanation),
  ...(answer ? [answer] : []),
  ...(row ? [row] : []),
  ...options.map(option => option.by),
];

// A value as a text says it: "35 %", "0.98", "encoder layer 2, head 2", the words themselves.
function written({ share, kind }, value) {
  if (typeof value === "boolean") return value ? gettext("yes") : gettext("no");
  if (typeof value === "string") return value;
  if (value.shares) return value.labels[value.shares.indexOf(Math.max(...value.shares))];
  if (value.values) return gettext(HEADS_IN_TEXT[kind], { layer: value.head[0], head: value.head[1] });
  return share ? percent(value) : lessonNumber(value);
}

// The text with its expressions replaced; `values` maps them to their values.
const filled = (text, values) => text.map((part, i) => (i % 2 ? written(part, values.get(part)) : part)).join("");

function poseStep({ ask, question, scale, view, options }, values) {
  const texts = options.map(({ text }) => filled(text, values)),
    listed = ask === "choice" ? { choices: texts } : ask === "order" ? { items: texts } : {};
  return { ask, question: filled(question, values), ...scale, ...(view && values.get(view)), ...listed };
}

function truthOf(step, values) {
  const { betrays, explanation } = step;
  return { ...answerOf(step, values), ...(betrays && { betrays }), explanation: filled(explanation, values) };
}

function answerOf({ ask, answer, row, scale, options }, values) {
  const value = values.get(answer),
    decided = options.map(({ by }) => values.get(by));
  switch (ask) {
    case "word":
      return { answer: value.shares.indexOf(Math.max(...value.shares)), row: value.shares };
    case "row":
      return { answer: value.shares, row: value.shares };
    case "head":
      return { answer: value.head, values: value.values, smallest: value.smallest };
    case "number":
      return { answer: value * (scale.unit === "%" ? 100 : 1), ...(row && { row: values.get(row).shares }) };
    case "choice":
      if (decided.filter(Boolean).length !== 1)
        throw new RangeError(gettext("None of the choices alone is right with this model."));
      return { answer: decided.indexOf(true) };
    default:
      return { answer: decided.map((_, i) => i).sort((one, other) => decided[other] - decided[one]), values: decided };
  }
}

// ---- the page -----------------------------------------------------------------------------------------

class WebLessons {
  posed = new Map(); // by step: { text, posed }
  told = new Map(); // by step: { guess, truth, judged }

  // `model` is the page's own by its name. `compute(expressions, step, act)` asks the worker, and calls act(values), or act(null, error); `go` follows { lesson,
  // step }.
  constructor(lessons, model, compute, go) {
    this.lessons = lessons.map(({ transfer, ...lesson }) => ({
      ...lesson,
      steps: transfer
        ? [...lesson.steps, { ...transfer, typed: { sentence: "", refused: "", most: MAX_SENTENCE_CHARACTERS } }]
        : lesson.steps,
    }));
    this.model = model;
    this.compute = compute;
    this.go = go;
    this.title = el("h2", { class: "lesson-title", tabindex: -1 });
    this.number = el("span", { class: "muted" });
    this.all = clickButton({ class: "plain" }, () => this.leave(), gettext("All lessons"));
    this.status = el("p", { class: "step-note", role: "status" });
    this.step = el("div", { class: "hl" });
    this.list = el("div", { class: "hl" });
    this.source = el("p", { class: "step-note" });
    const heading = el("div", { class: "lesson-heading" }, this.title, this.number, this.all);
    const meaning = el("div", { class: "meaning", role: "tooltip", popover: "manual", hidden: "" });
    const parts = [heading, this.status, this.list, this.step, this.source, el("div", { class: "terms" }, meaning)];
    this.node = el("div", { class: "lessons-page" }, ...parts);
    mountTerms({ parentElement: this.node });
  }

  // The list, or one step of a lesson, by their names.
  show({ lesson: name, step: at, done }) {
    this.lesson = this.lessons.find(lesson => lesson.name === name) ?? null;
    this.at = Math.max(0, this.lesson?.steps.findIndex(step => step.name === at) ?? 0);
    this.done = done;
    if (this.waiting) this.mounted?.unmount(); // for an answer that does not come any more
    this.waiting = false;
    this.draw();
    if (this.lesson && !this.posed.has(this.current) && !this.isUntyped) this.pose(this.current);
  }

  get current() {
    return this.lesson?.steps[this.at];
  }

  get isUntyped() {
    return !!this.current?.typed && !this.current.base.text;
  }

  // A sentence for the last question of a lesson; null takes it back.
  type(step, typed) {
    const sentence = (typed ?? "").replace(/[\p{Cc}\s]+/gu, " ").trim();
    this.posed.delete(step);
    this.told.delete(step);
    step.typed.refused = "";
    step.base.text = step.sentence = "";
    if (typed !== null) step.typed.sentence = sentence.slice(0, MAX_SENTENCE_CHARACTERS);
    if (typed !== null && !/\p{L}/u.test(sentence))
      step.typed.refused = gettext("Type a sentence with at least one word.");
    else if (sentence.length > MAX_SENTENCE_CHARACTERS)
      step.typed.refused = gettext("Type one sentence of at most {most} characters.", {
        most: MAX_SENTENCE_CHARACTERS,
      });
    else step.base.text = step.sentence = sentence;
    if (this.isUntyped) this.draw();
    else this.pose(step);
  }

  pose(step) {
    if (step.recorded) {
      this.posed.set(step, step.recorded);
      this.draw();
      return;
    }
    this.ask(step, expressionsOfQuestion(step), values => {
      this.posed.set(step, { text: filled(step.text, values), posed: poseStep(step, values) });
    });
  }

  // Computes, and then draws what became known.
  ask(step, expressions, act) {
    this.error = null;
    this.waiting = true;
    this.compute(expressions, step, (values, error) => {
      if (step !== this.current) return;
      this.waiting = false;
      try {
        if (!values) throw new RangeError(error ?? gettext("This step could not be computed. Load the page again."));
        act(new Map(expressions.map((named, i) => [named, values[i]])));
      } catch ({ message }) {
        if (step.typed && !this.posed.has(step)) {
          step.typed.refused = message; // of this sentence
          step.base.text = "";
        } else this.error = message;
        this.mounted?.unmount(); // its buttons wait for an answer
      }
      this.draw();
    });
  }

  reveal(step, guess) {
    const tell = truth => {
      const judged = guess === null ? null : judge(this.posed.get(step).posed, truth, guess);
      this.told.set(step, { guess, truth, judged });
    };
    if (!step.recorded) this.ask(step, expressionsOfAnswer(step), values => tell(truthOf(step, values)));
    else {
      tell(step.recorded.truth);
      this.draw();
    }
  }

  leave() {
    this.go({ lesson: null, step: null });
    this.title.focus({ preventScroll: true });
  }

  draw() {
    const { lesson, current: step, lessons } = this,
      asked = step && (this.isUntyped ? { text: "", posed: null } : this.posed.get(step)),
      all = lessons.length;
    this.title.textContent = lesson ? lesson.title : gettext("Lessons");
    this.number.textContent = !lesson
      ? gettext("What do you expect? Guess first, then look.")
      : lessons.every(({ number }, i) => number === i + 1)
        ? gettext("Lesson {number} of {all}", { number: lesson.number, all })
        : gettext("Lesson {number}", { number: lesson.number }); // a page may have some only
    this.all.hidden = !lesson;
    this.list.hidden = !!lesson;
    this.step.hidden = !asked;
    this.status.textContent = this.error ?? (lesson && !asked ? ASKING : "");
    this.source.textContent = asked?.posed ? this.computedFrom(step) : "";
    if (asked) this.mounted = mountLesson(this.step, { header: this.header(asked) }, (_, pick) => this.picked(pick));
    else if (!lesson) {
      const header = { lessons, done: this.done, address: LESSONS_ADDRESS };
      mountLessons(this.list, { header }, (_, pick) => this.open(pick));
    }
  }

  // What the numbers of a step come from, where it is not the model of the page.
  computedFrom({ recorded, models }) {
    if (recorded) return RECORDED;
    const small = models.filter(name => name !== this.model);
    if (!small.length) return "";
    return gettext("Computed in this browser from {models}, smaller than this page's model, with weights in 8 bits.", {
      models: new Intl.ListFormat(MESSAGES.language).format(small),
    });
  }

  // All lessons in a row, as links, to stand below another page.
  strip() {
    const all = progress(),
      list = el("ol", {}, ...this.lessons.map(lesson => el("li", {}, this.card(lesson, all[lesson.name] ?? {}))));
    const title = el("h2", {}, gettext("Lessons: guess first, then see"));
    return el("section", { class: "lessons-strip" }, title, el("p", {}, doneOf(this.lessons, all)), list);
  }

  card({ name, number, title, minutes, steps }, done) {
    const { next, begun, at } = whereIn(steps, done),
      state =
        next < 0
          ? gettext("done")
          : begun
            ? gettext("Go on at step {number}", { number: at + 1 })
            : gettext("{minutes}\u00a0min", { minutes }),
      href = LESSONS_ADDRESS + new URLSearchParams({ lesson: name, step: steps[at].name });
    const parts = [el("span", {}, `${number}`), el("b", {}, title), el("small", {}, state)];
    return el("a", { href, class: begun && next >= 0 ? "begun" : "" }, ...parts);
  }

  get following() {
    return this.lessons[this.lessons.indexOf(this.lesson) + 1] ?? null;
  }

  header({ text, posed }) {
    const { lesson, current: step, at } = this,
      { hint, sentence, own, typed } = step;
    return {
      lesson: { name: lesson.name, title: lesson.title, number: lesson.number },
      following: this.following && { name: this.following.name, title: this.following.title },
      steps: lesson.steps.map(({ name, title, ask }) => ({ name, title, ask })),
      at,
      text,
      sentence,
      question: posed ? posed.question : step.question.join(""),
      hint,
      posed,
      own,
      typed: typed ? { ...typed } : null,
      earlier: this.lessons.slice(0, this.lessons.indexOf(lesson)),
      only: false,
      told: this.told.get(step) ?? null,
    };
  }

  // Opens a step; one that is asked once more forgets the guess of this visit.
  open({ lesson: name, step: at, again = false }) {
    const lesson = this.lessons.find(one => one.name === name),
      step = lesson?.steps.find(one => one.name === at);
    if (again && step) this.told.delete(step);
    this.go({ lesson: name, step: at || null });
  }

  picked(pick) {
    const { lesson, current: step } = this;
    if ("guess" in pick) this.reveal(step, pick.guess);
    else if ("sentence" in pick) this.type(step, pick.sentence);
    else if (pick.skip) this.reveal(step, null);
    else if (pick.lesson) this.open(pick);
    else if (pick.again) {
      this.told.delete(step);
      this.draw();
    } else if (pick.following) this.go({ lesson: this.following.name, step: null });
    else if (pick.list) this.leave();
    else this.go({ lesson: lesson.name, step: pick.step });
  }
}

// Within a sentence.
const HEADS_IN_TEXT = {
  encoder: translatable("encoder layer {layer}, head {head}"),
  decoder: translatable("decoder layer {layer}, head {head}"),
  cross: translatable("cross-attention layer {layer}, head {head}"),
};
