// The worker of the page: it reads the model once, and then translates what it is asked to, one request at a time. A newer
// request ends the one before between two tokens.
//
// Asked { id, text, off: names of heads that are off }, it answers { id, ... } with the tokens, the patterns of every head
// in the pass that wrote them, and the log-probability of each token; asked for a `strategy` too, with the whole search;
// or { id, error: { message, values } }. Of a lesson it computes what a step names.

import { InputError, translatable } from "./errors.js";
import { Network, switchOff } from "./network.js";
import { decode, finish, recordPass } from "./decoding.js";
import { readModel } from "./weights.js";
import { describeTokens, Tokenizer } from "./tokenizer.js";
import { LessonComputer } from "./lessons.js";
import { searchOf } from "./tree.js";

const BEAM = 5,
  LENGTH_PENALTY = 1,
  EMPTY = translatable("There is nothing to translate: the text is empty. Type a sentence.");

let model = null, // that translates
  newest = 0,
  opening = Promise.resolve();
const models = new Map(), // by their names, the small ones too that only lessons use
  lessonComputer = new LessonComputer(models);

async function open(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { header, tensors } = readModel(await new Response(stream).arrayBuffer());
  const network = new Network(header.config, tensors),
    source = new Tokenizer(header.source_tokenizer),
    target = header.target_tokenizer ? new Tokenizer(header.target_tokenizer) : source;
  const { config, name, card, words, lessons } = header;
  models.set(name, { network, source, target });
  if (model) return; // one that comes with the page's own
  model = models.get(name);
  postMessage({ opened: { config, name, card, words, lessons } });
}

// Lets messages that wait be heard.
const pause = () => {
  const { port1, port2 } = new MessageChannel();
  return new Promise(resolve => {
    port1.onmessage = resolve;
    port2.postMessage(null);
  });
};

async function write(ids, tap, id) {
  const steps = [];
  for (const step of decode(model.network, ids, { size: BEAM, alpha: LENGTH_PENALTY, tap })) {
    steps.push({ written: step.written, candidates: step.candidates });
    await pause();
    if (id !== newest) return null;
  }
  return finish(steps)[0];
}

async function translate({ id, text, off }) {
  const { network, source, target } = model,
    { config } = network,
    tap = switchOff(off);
  const read = source.encode(text);
  if (!read.length) throw new InputError(EMPTY);
  const ids = [...read, config.eos_id],
    best = await write(ids, tap, id);
  if (!best) return null;
  const written = [config.sos_id, ...best.ids];
  return {
    id,
    text,
    translation: target.decode(best.ids),
    finished: best.finished,
    source: describeTokens(source, ids),
    target: describeTokens(target, written),
    ...recordPass(network, ids, written, tap),
  };
}

// What a step of a lesson names: { id, compute: expressions, base } to { id, values }.
async function compute({ id, compute: expressions, base }) {
  const values = [];
  for (const named of expressions) {
    await pause();
    if (id !== newest) return null;
    values.push(lessonComputer.value(named, base));
  }
  return { id, values };
}

// The search of the Decoding view: { text, off, strategy, size, forced } to { id, search: { header, arrays } }.
async function search(asked) {
  const read = model.source.encode(asked.text);
  if (!read.length) throw new InputError(EMPTY);
  const goesOn = async () => {
    await pause();
    return asked.id === newest;
  };
  const ids = [...read, model.network.config.eos_id],
    found = await searchOf(model, ids, { ...asked, alpha: LENGTH_PENALTY }, goesOn);
  return found && { id: asked.id, search: found, text: asked.text };
}

// What the page can say of an error: nothing where people can do nothing about it.
function saidOf(error) {
  if (error instanceof InputError) return error.said;
  return error instanceof RangeError ? { message: error.message } : null;
}

onmessage = async ({ data }) => {
  try {
    if (data.model) return await (opening = opening.catch(() => {}).then(() => open(data.model)));
    newest = data.id;
    await pause();
    if (data.id !== newest) return;
    await opening.catch(() => {}); // what was damaged is said where it is missed
    const act = data.compute ? compute : data.strategy ? search : translate,
      answer = await act(data);
    if (answer) postMessage(answer);
  } catch (error) {
    postMessage({ id: data.id, error: saidOf(error), detail: String(error) });
  }
};
