// Which steps of which lessons were done. It stays in this browser, and in the links that its owner copies; no server is
// told of it.

const KEPT = "headlight-lessons"; // {lesson: {step: {guess, score}}}

function progress() {
  try {
    return JSON.parse(stored("localStorage", KEPT)) ?? {};
  } catch {
    return {}; // something else wrote there
  }
}

function keepProgress(all) {
  store("localStorage", KEPT, JSON.stringify(all));
}

function noteDone(lesson, step, guess, score) {
  const all = progress();
  all[lesson] = { ...all[lesson], [step]: { guess, score } };
  keepProgress(all);
}

// As a link has it: for each lesson that was begun its name and a sign for each step, 0 to 9 for the score of a guess,
// s where it was shown without one, - where it is not done.
function progressText(lessons, all) {
  const sign = done => (!done ? "-" : typeof done.score === "number" ? `${Math.round(9 * done.score)}` : "s");
  return lessons
    .filter(({ name }) => Object.keys(all[name] ?? {}).length)
    .map(({ name, steps }) => `${name}:${steps.map(step => sign(all[name][step.name])).join("")}`)
    .join(",");
}

// Adds what a link says to what this browser knows, which counts where both say something.
function takeProgress(text, lessons) {
  const all = progress();
  for (const part of text.split(",")) {
    const [name, signs = ""] = part.split(":"),
      lesson = lessons.find(one => one.name === name);
    if (!lesson || !/^[0-9s-]+$/.test(signs)) continue;
    lesson.steps.forEach((step, i) => {
      const sign = signs[i] ?? "-";
      if (sign === "-" || all[name]?.[step.name]) return;
      all[name] = { ...all[name], [step.name]: { guess: null, score: sign === "s" ? null : +sign / 9 } };
    });
  }
  keepProgress(all);
}
