// Which steps of which lessons were done. It stays in this browser, and in the links that its owner copies; no server is
// told of it.

const PROGRESS_KEY = "headlight-lessons", // {lesson: {step: {guess, score, right, sure}}}; what was kept by older pages lacks the last two
  YOUR_SENTENCE = "your-sentence", // the step about a sentence of one's own
  RETURN_KEY = "headlight-return", // {lesson, step, onto: the name of the lesson that goes on after it, or "" for the list}
  RETURNED_KEY = "headlight-returned", // the lesson before which a question of an earlier one was asked: one is enough
  SURE = 3, // of 1 unsure, 2 fairly sure, 3 sure
  NOT_SURE = 1;

function progress() {
  try {
    return JSON.parse(stored("localStorage", PROGRESS_KEY)) ?? {};
  } catch {
    return {}; // something else wrote there
  }
}

function keepProgress(all) {
  store("localStorage", PROGRESS_KEY, JSON.stringify(all));
}

// `judged` is null where the answer was shown without a guess: what was guessed before stays.
function noteDone(lesson, step, guess, judged, sure = null) {
  const all = progress(),
    before = all[lesson]?.[step];
  if (guess === null && before && before.guess !== null) return;
  const same = before && JSON.stringify(before.guess) === JSON.stringify(guess); // it is only drawn once more
  const noted = { guess, score: judged?.score ?? null, right: judged?.right ?? null };
  all[lesson] = { ...all[lesson], [step]: { ...noted, sure: sure ?? (same ? (before.sure ?? null) : null) } };
  keepProgress(all);
}

// Whether a guess went wrong; of what older pages kept its score alone says it.
const wentWrong = done =>
  !!done && (done.right === false || (typeof done.right !== "boolean" && (done.score ?? 1) < 0.5));

// The steps of lessons that went wrong, those first of which one was sure: [{ lesson, step, done }].
function wrongOnes(lessons, all = progress()) {
  const wrong = lessons.flatMap(lesson =>
    lesson.steps
      .filter(({ name }) => name !== YOUR_SENTENCE && wentWrong(all[lesson.name]?.[name]))
      .map(step => ({ lesson, step, done: all[lesson.name][step.name] })),
  );
  return wrong.sort((one, other) => (other.done.sure ?? 0) - (one.done.sure ?? 0));
}

// What to ask once more before a lesson is begun: of the lessons before it what went wrong, else the last that was done.
function returningTo(earlier, name, all = progress()) {
  if (Object.keys(all[name] ?? {}).length) return null;
  const done = earlier.flatMap(lesson =>
    lesson.steps.filter(step => all[lesson.name]?.[step.name]).map(step => ({ lesson, step })),
  );
  return wrongOnes(earlier, all)[0] ?? done.filter(({ step }) => step.name !== YOUR_SENTENCE).at(-1) ?? null;
}

function keptReturn() {
  try {
    return JSON.parse(stored("sessionStorage", RETURN_KEY));
  } catch {
    return null; // something else wrote there
  }
}

const keepReturn = kept => store("sessionStorage", RETURN_KEY, kept && JSON.stringify(kept));

// As a link has it: for each lesson that was begun its name and a sign for each step, 0 to 9 for the score of a guess,
// s where it was shown without one, - where it is not done. Behind another colon stands how sure one was, 0 where one did
// not say, and 4 more where the guess was right.
function progressText(lessons, all) {
  const sign = done => (!done ? "-" : typeof done.score === "number" ? `${Math.round(9 * done.score)}` : "s");
  const sureSign = done => (done && typeof done.right === "boolean" ? `${(done.sure ?? 0) + 4 * +done.right}` : "-");
  return lessons
    .filter(({ name }) => Object.keys(all[name] ?? {}).length)
    .map(({ name, steps }) => {
      const [signs, sures] = [sign, sureSign].map(of => steps.map(step => of(all[name][step.name])).join(""));
      return `${name}:${signs}${/\d/.test(sures) ? `:${sures}` : ""}`;
    })
    .join(",");
}

// Adds what a link says to what this browser knows, which counts where both say something.
function takeProgress(text, lessons) {
  const all = progress();
  for (const part of text.split(",")) {
    const [name, signs = "", sures = ""] = part.split(":"),
      lesson = lessons.find(one => one.name === name);
    if (!lesson || !/^[0-9s-]+$/.test(signs)) continue;
    lesson.steps.forEach((step, i) => {
      const sign = signs[i] ?? "-";
      if (sign === "-" || all[name]?.[step.name]) return;
      const noted = { guess: null, score: sign === "s" ? null : +sign / 9 },
        digit = /^[0-7]$/.test(sures[i] ?? "") ? +sures[i] : null;
      const said = digit === null ? {} : { right: digit >= 4, sure: digit % 4 || null };
      all[name] = { ...all[name], [step.name]: { ...noted, ...said } };
    });
  }
  keepProgress(all);
}
