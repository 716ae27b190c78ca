// A question of a lesson, and its answer beside the guess. Pupils' phones load these files too, so they stand on core.js
// and prose.js alone: `element` is any element inside of one with the class "hl".
//
// posed, truth and guess are the plain values that headlight/teaching/lessons documents. What is to be guessed is not in
// `posed`.

// Draws the question and the means to answer. `onGuess` gets the guess at every change, null while it is unfinished.
function drawQuestion(element, posed, onGuess, guess = null) {
  element.classList.add("question");
  const draw = { word: askWord, row: askRow, head: askHead, number: askNumber, choice: askChoice, order: askOrder };
  draw[posed.ask](element, posed, onGuess, guess);
}

// Draws the same with the answer: what was guessed is hollow, what is the model's is solid, and words stay where they
// were. Without a guess (null) only the answer is shown. `tally` is a class's: { counts } for each thing that can be
// chosen, { mean, spread } of rows in per cent, { values } of numbers, or { orders } as lists of indices.
function drawTruth(element, posed, truth, guess, tally = null) {
  element.classList.add("question");
  const draw = {
    word: tellWord,
    row: tellRow,
    head: tellHead,
    number: tellNumber,
    choice: tellChoice,
    order: tellOrder,
  };
  draw[posed.ask](element, posed, truth, guess, tally);
}

// What a question builds on: the step's introduction, and the sentence that the model reads where neither the
// introduction nor the question quotes it whole.
function introduction({ text, sentence, question }) {
  const box = el("div", { class: "introduction" });
  if (text) box.append(prose(text));
  const quoted = `${text} ${question}`.replaceAll("**", "");
  if (!sentence || quoted.includes(sentence)) return box;
  const read = el("span", {}, gettext("\u201c{text}\u201d", { text: isolated(sentence) }));
  box.append(el("p", { class: "sentence" }, ...inParts(gettext("The model reads {sentence}"), { sentence: read })));
  return box;
}

const KINDS_IN_WORDS = {
  encoder: translatable("Encoder layer {layer}, head {head}"),
  decoder: translatable("Decoder layer {layer}, head {head}"),
  cross: translatable("Cross-attention layer {layer}, head {head}"),
};

// "Encoder layer 2, head 2, from “it” to every word", where the question is about one row of one head.
function ofWhich({ picture, query }) {
  const line = el("div", { class: "of-which" });
  if (picture) line.append(bold(gettext(KINDS_IN_WORDS[picture.kind], { layer: picture.layer, head: picture.head })));
  if (query)
    line.append(
      el("span", { class: "muted" }, gettext("from \u201c{word}\u201d to every word", { word: isolated(query) })),
    );
  return line;
}

function legend(guess, tally, mine, its) {
  const line = el("div", { class: "legend" });
  if (guess !== null) line.append(el("span", {}, el("i", { class: "hollow" }), mine));
  if (tally) line.append(el("span", {}, el("i", { class: "class" }), gettext("the class")));
  line.append(el("span", {}, el("i", { class: "solid" }), its));
  return line;
}

// Buttons of which one is chosen: one stop for the Tab key, and arrow keys that choose, as of radio buttons. `across` is
// how many stand beside each other, for the arrows up and down; `rtl` that they run from right to left.
function radios(box, buttons, chosen, pick, { across = 1, rtl = false } = {}) {
  box.setAttribute("role", "radiogroup");
  const choose = at => {
    chosen = at;
    buttons.forEach((button, i) => {
      button.setAttribute("aria-checked", i === at);
      button.tabIndex = i === (at ?? 0) ? 0 : -1;
    });
  };
  buttons.forEach((button, i) => {
    button.setAttribute("role", "radio");
    button.onclick = () => {
      choose(i);
      pick(i);
    };
  });
  box.onkeydown = event => {
    const along = event.key.startsWith("Arrow") && stepOf(event, rtl),
      step = along || { ArrowDown: across, ArrowUp: -across }[event.key];
    const from = buttons.indexOf(event.target);
    if (!step || from < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const to = from + step;
    if (to < 0 || to >= buttons.length) return;
    buttons[to].focus();
    buttons[to].click();
  };
  choose(chosen);
}

// Three steps of sureness, of which none need be chosen: `take` gets 1, 2 or 3, or null where it is taken back.
function askSure(take, chosen = null) {
  const labels = [gettext("Unsure"), gettext("Fairly sure"), gettext("Sure")];
  const box = el("div", { class: "sure-of", role: "group", "aria-label": gettext("How sure are you?") });
  const draw = () => buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(chosen === i + 1)));
  const buttons = labels.map((label, i) =>
    clickButton(
      {},
      () => {
        chosen = chosen === i + 1 ? null : i + 1;
        draw();
        take(chosen);
      },
      label,
    ),
  );
  draw();
  box.append(el("span", { class: "muted" }, gettext("How sure are you?")), ...buttons);
  return box;
}

// ---- a word --------------------------------------------------------------------------------------

function askWord(element, posed, onGuess, guess) {
  const rtl = rightToLeft(posed.labels),
    box = el("div", { class: "words", "aria-label": gettext("Words"), dir: directionOf(posed.labels) });
  const buttons = posed.labels.map(label => el("button", { type: "button", dir: direction(label, rtl) }, label));
  box.append(...buttons);
  radios(box, buttons, guess, onGuess, { rtl });
  element.replaceChildren(ofWhich(posed), box, matrix(posed, null));
}

function tellWord(element, posed, truth, guess, tally) {
  const rtl = rightToLeft(posed.labels),
    box = el("div", { class: "words told", role: "list", dir: directionOf(posed.labels) }),
    theme = themeOf(element.closest(".hl"));
  posed.labels.forEach((label, i) => {
    const share = truth.row ? truth.row[i] / 100 : null,
      word = el("span", { class: "word", dir: direction(label, rtl) }, label);
    if (share !== null) {
      const colour = attentionColour(share, theme);
      word.style.background = cssColour(colour);
      word.style.color = luminance(colour) > 140 ? "#141821" : "#ffffff";
    }
    const notes = [share === null ? null : percent(share), ofClass(tally, i)].filter(Boolean);
    const item = el("div", { role: "listitem", dir: "ltr" }, word, el("small", {}, notes.join(", ") || NBSP));
    mark(item, i === guess, i === truth.answer);
    box.append(item);
  });
  element.replaceChildren(ofWhich(posed), box, matrix(posed, truth.row));
}

// What was guessed and what is right, in the look and in words.
function mark(node, mine, its) {
  node.classList.toggle("mine", mine);
  node.classList.toggle("its", its);
  if (mine || its)
    node.append(
      el(
        "small",
        { class: "mark" },
        mine && its ? gettext("you and the model") : mine ? gettext("you") : gettext("the model"),
      ),
    );
}

const ofClass = (tally, i) =>
  tally?.counts?.[i] ? gettext("{number} of the class", { number: tally.counts[i] }) : null;

// ---- one of several sentences ----------------------------------------------------------------------

function askChoice(element, posed, onGuess, guess) {
  const box = el("div", { class: "choices-of", "aria-label": gettext("Answers") });
  const buttons = posed.choices.map(text => el("button", { type: "button" }, el("span", {}, ...spans(text))));
  box.append(...buttons);
  radios(box, buttons, guess, onGuess);
  element.replaceChildren(box);
}

function tellChoice(element, posed, truth, guess, tally) {
  const box = el("div", { class: "choices-of told", role: "list" });
  posed.choices.forEach((text, i) => {
    const item = el("div", { role: "listitem" }, el("span", {}, ...spans(text)));
    if (ofClass(tally, i)) item.append(el("small", {}, ofClass(tally, i)));
    mark(item, i === guess, i === truth.answer);
    box.append(item);
  });
  element.replaceChildren(box);
}

// ---- a number --------------------------------------------------------------------------------------

// A number of the slider with its unit. One that is too small for its steps is not nothing.
function withUnit(value, { unit, step }) {
  const small = value > 0 && value < step / 2;
  const text = small ? gettext("under {number}", { number: lessonNumber(step) }) : lessonNumber(value);
  if (unit === "%") return percentSign(text);
  return unit ? text + NBSP + unit : text;
}

const endsOf = posed =>
  el("div", { class: "ends muted" }, ...[posed.least, posed.most].map(end => el("span", {}, withUnit(end, posed))));

function askNumber(element, posed, onGuess, guess) {
  const { least, most, step } = posed;
  const said = el("output", { class: "number" }, guess === null ? "?" : withUnit(guess, posed));
  const rail = el("input", { type: "range", min: least, max: most, step, "aria-label": gettext("Your guess") });
  rail.value = String(guess ?? least + (most - least) / 2);
  const take = () => {
    said.textContent = withUnit(+rail.value, posed);
    rail.setAttribute("aria-valuetext", said.textContent);
    onGuess(+rail.value);
  };
  rail.setAttribute("aria-valuetext", guess === null ? gettext("no guess yet") : said.textContent);
  rail.oninput = take;
  rail.onclick = take; // where it stands already is a guess as well
  rail.onkeydown = event => {
    if (event.key === " ") take();
  };
  element.replaceChildren(ofWhich(posed), said, rail, endsOf(posed), ...seen(element, posed, null));
}

function tellNumber(element, posed, truth, guess, tally) {
  const { least, most } = posed,
    line = el("div", { class: "line" });
  const at = value => `${(100 * clamp((value - least) / (most - least), 0, 1)).toFixed(2)}%`;
  for (const value of tally?.values ?? []) line.append(placed("i", "class", at(value)));
  if (guess !== null) line.append(placed("b", "mine", at(guess)));
  line.append(placed("b", "its", at(truth.answer)));
  const said = el("div", { class: "number" }, withUnit(truth.answer, posed));
  if (guess !== null)
    said.append(
      " \u00b7 ",
      el("small", { class: "muted" }, gettext("you said {number}", { number: withUnit(guess, posed) })),
    );
  const marks = legend(guess, tally, gettext("your guess"), gettext("the model"));
  element.replaceChildren(ofWhich(posed), said, line, endsOf(posed), marks, ...seen(element, posed, truth.row));
}

function placed(tag, name, left) {
  const node = el(tag, { class: name });
  node.style.left = left;
  return node;
}
