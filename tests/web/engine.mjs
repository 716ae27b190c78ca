// Runs the page's engine in Node: reads a model and { sentences, off }, writes what it computed, and the numbers behind it.

import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { decode, finish } from "../../headlight/web/js/decoding.js";
import { chain, Network, Recorder, switchOff } from "../../headlight/web/js/network.js";
import { Tokenizer } from "../../headlight/web/js/tokenizer.js";
import { readModel } from "../../headlight/web/js/weights.js";

const [, , modelFile, askedFile, answerFile, numbersFile] = process.argv;
const packed = gunzipSync(readFileSync(modelFile));
const { header, tensors } = readModel(packed.buffer.slice(packed.byteOffset, packed.byteOffset + packed.length));
const { config } = header,
  network = new Network(config, tensors),
  source = new Tokenizer(header.source_tokenizer),
  target = header.target_tokenizer ? new Tokenizer(header.target_tokenizer) : source;
const { sentences, off } = JSON.parse(readFileSync(askedFile, "utf8")),
  tap = switchOff(off),
  answers = [],
  numbers = [];

for (const text of sentences) {
  const ids = [...source.encode(text), config.eos_id],
    [greedy] = finish(decode(network, ids, { size: 1, tap })),
    beam = finish(decode(network, ids, { size: 5, tap })).slice(0, 5),
    written = [config.sos_id, ...greedy.ids.slice(0, -1)],
    recorder = new Recorder(config, ids.length, written.length),
    both = chain(tap, recorder.tap);
  const logits = network.write(written, network.read(ids, both), both);
  for (const array of [logits, ...Object.values(recorder.kinds).map(({ data }) => data)]) numbers.push(array);
  answers.push({ ids, greedy: greedy.ids, beam, text: target.decode(greedy.ids), labels: ids.map(id => source.label(id)) });
}
writeFileSync(answerFile, JSON.stringify(answers));
writeFileSync(numbersFile, Buffer.concat(numbers.map(array => new Uint8Array(array.buffer, array.byteOffset, array.byteLength))));
