// Plays the lessons of a page in Node: reads { models: files by name, lessons }, writes for each step that is computed its
// text, the question, the answer, and what a guess is worth. `viewer` has the functions of the viewer's scripts.

import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { LessonComputer } from "../../headlight/web/js/lessons.js";
import { Network } from "../../headlight/web/js/network.js";
import { Tokenizer } from "../../headlight/web/js/tokenizer.js";
import { readModel } from "../../headlight/web/js/weights.js";

const [, , askedFile, answerFile, viewer] = process.argv,
  { expressionsOfQuestion, expressionsOfAnswer, filled, poseStep, truthOf, judge } = await import(viewer),
  { models, lessons } = JSON.parse(readFileSync(askedFile, "utf8"));

function opened(file) {
  const packed = gunzipSync(readFileSync(file)),
    { header, tensors } = readModel(packed.buffer.slice(packed.byteOffset, packed.byteOffset + packed.length)),
    source = new Tokenizer(header.source_tokenizer);
  const target = header.target_tokenizer ? new Tokenizer(header.target_tokenizer) : source;
  return { network: new Network(header.config, tensors), source, target };
}

const computer = new LessonComputer(new Map(Object.entries(models).map(([name, file]) => [name, opened(file)]))),
  played = {};
for (const { name, steps, transfer } of lessons) {
  // The last question, about a sentence that is typed.
  const typed = transfer ? [{ ...transfer, base: { ...transfer.base, text: "We are going to the beach today." } }] : [];
  for (const step of [...steps, ...typed].filter(({ recorded }) => !recorded)) {
    const of = expressions => new Map(expressions.map(named => [named, computer.value(named, step.base)])),
      question = of(expressionsOfQuestion(step)),
      posed = poseStep(step, question),
      truth = truthOf(step, of(expressionsOfAnswer(step)));
    const labels = posed.labels ?? [],
      guesses = {
        word: 0,
        row: labels.map(() => 100 / labels.length),
        head: [1, 2],
        number: posed.least,
        choice: 0,
        order: (posed.items ?? []).map((_, i) => i),
      };
    const guess = guesses[step.ask];
    played[`${name} ${step.name}`] = { text: filled(step.text, question), posed, truth, judged: judge(posed, truth, guess), guess };
  }
}
writeFileSync(answerFile, JSON.stringify(played));
