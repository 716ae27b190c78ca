// Writes a search as the Decoding view of the page has it, for the test to hold it to the app's.

import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Network } from "../../headlight/web/js/network.js";
import { Tokenizer } from "../../headlight/web/js/tokenizer.js";
import { searchOf } from "../../headlight/web/js/tree.js";
import { readModel } from "../../headlight/web/js/weights.js";

const [, , modelFile, askedFile, answerFile] = process.argv;
const packed = gunzipSync(readFileSync(modelFile));
const { header, tensors } = readModel(packed.buffer.slice(packed.byteOffset, packed.byteOffset + packed.length));
const source = new Tokenizer(header.source_tokenizer),
  target = header.target_tokenizer ? new Tokenizer(header.target_tokenizer) : source,
  model = { network: new Network(header.config, tensors), source, target },
  { text, ...options } = JSON.parse(readFileSync(askedFile, "utf8"));
const ids = [...source.encode(text), header.config.eos_id],
  { header: found, arrays } = await searchOf(model, ids, { alpha: 1, off: [], forced: [], ...options }, async () => true);
const listed = Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, Array.from(array)]));
writeFileSync(answerFile, JSON.stringify({ header: found, arrays: listed }));
