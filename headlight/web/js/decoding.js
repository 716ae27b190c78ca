// Greedy decoding and beam search, as transformer/decoding has them: a step after the other, each with its candidates.

import { chain, Recorder } from "./network.js";

export const LIVE = 0,
  FINISHED = 1,
  UNFINISHED = 2,
  PRUNED = 3;

// In place: [V] logits of one row to log-probabilities.
export function logSoftmax(row) {
  let largest = -Infinity,
    sum = 0;
  for (const value of row) largest = Math.max(largest, value);
  for (const value of row) sum += Math.exp(value - largest);
  const log = largest + Math.log(sum);
  for (let i = 0; i < row.length; i++) row[i] -= log;
  return row;
}

// The places of the `count` largest numbers, largest first; of equal ones the first.
export function topK(values, count) {
  const best = [];
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (best.length === count && !(value > values[best[count - 1]])) continue;
    let at = best.length;
    while (at && value > values[best[at - 1]]) at--;
    best.splice(at, 0, i);
    if (best.length > count) best.pop();
  }
  return best;
}

// What a log-probability is divided by, so that longer sentences can win: equation 14 of Wu et al. 2016.
export const penalty = (length, alpha) => ((5 + length) / 6) ** alpha;

// The most tokens to write, [EOS] included.
export const bound = (source, config) => Math.min(2 * source.length + 10, config.max_length);

// Yields for each token { written [N][t], logProbs [N] of Float32Array(V), candidates }, where a candidate is { parent,
// token, total, score, fate }, best first. `size` 1 is greedy. `forced` are the ids that must be written first. `tap` may
// change every pattern; `record(site, head, row, pattern)` is told of the encoder's rows, and of what the newest token of
// each hypothesis looks along.
export function* decode(network, source, { size = 5, alpha = 1, tap = null, forced = [], record = null } = {}) {
  const { config } = network,
    { eos_id: eos } = config,
    never = [config.pad_id, config.sos_id].filter(id => id !== eos),
    most = bound(source, config),
    memory = network.read(source, chain(tap, record));
  let live = [{ ids: [], total: 0, cache: network.start() }],
    finished = []; // the best scores of those that ended, best first
  for (let length = 1; live.length; length++) {
    const advance = network.stepwise ? stepped : whole,
      { rows, caches } = advance(network, live, memory, tap, record);
    const candidates = [];
    rows.forEach((row, parent) => {
      const must = forced[length - 1] ?? null;
      const allowed = must === null ? allowedTokens(row, never, 2 * size) : [must];
      for (const token of allowed) candidates.push({ parent, token, total: live[parent].total + row[token] });
    });
    candidates.sort((a, b) => b.total - a.total);
    candidates.length = Math.min(candidates.length, size === 1 ? 1 : 2 * size);
    candidates.forEach((candidate, place) => {
      const kept = place < size;
      candidate.score = size === 1 ? candidate.total : candidate.total / penalty(length, alpha);
      const end = candidate.token === eos ? FINISHED : length === most ? UNFINISHED : LIVE;
      candidate.fate = kept ? end : PRUNED;
      if (candidate.fate === FINISHED) finished.push(candidate.score);
    });
    finished = finished.toSorted((a, b) => b - a).slice(0, size);
    // More tokens only lower a log-probability: where the best that is live cannot reach the last of the finished ones,
    // the search is over.
    const hope = candidates.find(({ fate }) => fate === LIVE)?.total ?? -Infinity;
    if (size > 1 && finished.length === size && hope / penalty(most, alpha) <= finished[size - 1]) {
      for (const candidate of candidates) if (candidate.fate === LIVE) candidate.fate = PRUNED;
    }
    yield { written: live.map(({ ids }) => ids), logProbs: rows, candidates };
    live = candidates
      .filter(({ fate }) => fate === LIVE)
      .map(({ parent, token, total }) => ({ ids: [...live[parent].ids, token], total, cache: caches[parent] }));
  }
}

function allowedTokens(row, never, count) {
  const kept = never.map(id => row[id]);
  for (const id of never) row[id] = -Infinity;
  const best = topK(row, count).filter(id => row[id] > -Infinity); // a small vocabulary may have fewer
  never.forEach((id, i) => (row[id] = kept[i]));
  return best;
}

const rowsOf = (logits, count, width) =>
  Array.from({ length: count }, (_, row) => logSoftmax(logits.subarray(row * width, (row + 1) * width)));

function stepped(network, live, memory, tap, record) {
  const { sos_id: sos, target_vocab_size: width } = network.config;
  const newest = live.map(({ ids }) => ids.at(-1) ?? sos);
  const caches = live.map(({ cache }) => cache);
  const next = network.next(newest, caches, memory, chain(tap, record));
  return { rows: rowsOf(next.logits, live.length, width), caches: next.caches };
}

// Where earlier rows change with later tokens, as in a model without a look-ahead mask, every prefix is computed anew.
function whole(network, live, memory, tap, record) {
  const { sos_id: sos, target_vocab_size: width } = network.config;
  const rows = live.map(({ ids }, hypothesis) => {
    const newest = (site, head, row, pattern) => row === ids.length && record?.(site, head, hypothesis, pattern);
    const logits = network.write([sos, ...ids], memory, chain(tap, newest));
    return logSoftmax(logits.slice(ids.length * width));
  });
  return { rows, caches: live.map(({ cache }) => cache) };
}

// The hypotheses that a decode ended with, best first: { ids, total, score, finished }.
export function finish(steps) {
  const ended = [];
  for (const { written, candidates } of steps) {
    for (const { parent, token, total, score, fate } of candidates) {
      if (fate === FINISHED || fate === UNFINISHED) {
        ended.push({ ids: [...written[parent], token], total, score, finished: fate === FINISHED });
      }
    }
  }
  return ended.sort((a, b) => b.finished - a.finished || b.score - a.score);
}

// One pass over a source and a target from [SOS] on: the patterns of every head, and the log-probability of each token
// that was written.
export function recordPass(network, source, target, tap) {
  const { config } = network,
    width = config.target_vocab_size,
    recorder = new Recorder(config, source.length, target.length - 1),
    both = chain(tap, recorder.tap);
  const logits = network.write(target.slice(0, -1), network.read(source, both), both);
  const logProbs = target.slice(1).map((id, t) => logSoftmax(logits.subarray(t * width, (t + 1) * width))[id]);
  return { patterns: recorder.kinds, lookAhead: !network.causal, logProbs };
}
