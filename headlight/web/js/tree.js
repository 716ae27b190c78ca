// A search as player.js draws it: its tree (transformer/decoding/tree.py), where each node stands (ui/decoding/lanes.py),
// the candidates of each step, and what was looked at.

import { bound, decode, FINISHED, LIVE, penalty, PRUNED, topK } from "./decoding.js";
import { switchOff } from "./network.js";

const WINNER = 0,
  ENDED = 1,
  ALIVE = 2,
  DROPPED = 3,
  LOST = 4; // outcomes, from the best
const TOP = 6; // candidates that are shown of each distribution

// What one row of a decode looked along, as Network's taps tell it: [L, H, K] for each kind.
class Rows {
  constructor({ n_layers: layers, n_heads: heads }) {
    this.layers = layers;
    this.heads = heads;
    this.rows = [];
  }

  take(at, layer, head, pattern) {
    (this.rows[at] ??= [])[layer * this.heads + head] = pattern.slice();
  }

  // [R, L, H, width]; 0 stands where a row has no key.
  dense(width) {
    const size = this.layers * this.heads * width,
      data = new Float32Array(this.rows.length * size);
    this.rows.forEach((row, r) => row.forEach((pattern, h) => data.set(pattern, r * size + h * width)));
    return data;
  }
}

// The header and arrays of the player, but for what the page adds. `pause` is awaited between two tokens, and says whether
// to go on; null where it said no.
export async function searchOf({ network, source, target }, ids, { strategy, size, alpha, off, forced }, pause) {
  const { config } = network,
    own = new Rows(config.decoder),
    cross = new Rows(config.decoder),
    encoder = new Rows(config.encoder);
  let before = 0; // rows of earlier steps
  const record = ({ stack, layer, kind }, head, row, pattern) => {
    if (stack === "encoder") encoder.take(row, layer, head, pattern);
    else (kind === "cross" ? cross : own).take(before + row, layer, head, pattern);
  };
  const tree = new Tree(),
    candidates = [];
  for (const step of decode(network, ids, { size, alpha, tap: switchOff(off), forced, record })) {
    const children = tree.grow(step, size);
    step.logProbs.forEach((row, parent) => candidates.push(candidatesOf(row, parent, step.candidates, children)));
    before += step.logProbs.length;
    if (!(await pause())) return null;
  }
  const { nodes } = tree.finish(),
    flat = candidates.flat(),
    strings = new Map(),
    stringOf = text => strings.get(text) ?? (strings.set(text, strings.size), strings.size - 1),
    sos = config.sos_id,
    most = bound(ids, config);
  const header = {
    strategy: { name: strategy, searches: size > 1, draws: false, size, temperature: 1 },
    normalises: nodes.some(({ score, total }) => score !== total),
    bound: most,
    vocabulary: config.target_vocab_size,
    steps: Math.max(...nodes.map(({ step }) => step)),
    top: TOP,
    never: [config.pad_id, sos].filter(id => id !== config.eos_id).sort((a, b) => a - b),
    source: ids.map(id => source.label(id)),
    nodes: {
      parent: nodes.map(({ parent }) => parent),
      step: nodes.map(({ step }) => step),
      name: nodes.map(({ token }, i) => stringOf(target.label(i ? token : sos))),
      outcome: nodes.map(({ outcome }) => outcome),
      answer: nodes.map(({ answer }) => answer),
      lane: tree.lanes(true),
      lane_unpruned: tree.lanes(false),
    },
    candidates: {
      first: candidates.reduce((firsts, { length }) => [...firsts, firsts.at(-1) + length], [0]),
      id: flat.map(({ id }) => id),
      name: flat.map(({ id }) => stringOf(target.label(id))),
      node: flat.map(({ node }) => node),
    },
    hypotheses: tree.hypotheses().map(node => ({
      node,
      text: target.decode(tree.ids(node)),
      ended: nodes[node].token === config.eos_id,
      at_best: (nodes[node].score * penalty(nodes[node].step, alpha)) / penalty(most, alpha),
    })),
    hides: network.causal,
    encoder_heads: headsOf(config.encoder),
    decoder_heads: headsOf(config.decoder),
    only: null,
    strings: [...strings.keys()],
  };
  const numbers = values => Float32Array.from(values),
    probability = numbers(flat.map(({ logProb }) => Math.exp(logProb)));
  const arrays = {
    log_prob: numbers(nodes.map(({ logProb }) => logProb)),
    total: numbers(nodes.map(({ total }) => total)),
    score: numbers(nodes.map(({ score }) => score)),
    probability,
    seen: probability,
    encoder: byLayer(encoder, ids.length),
    decoder: own.dense(header.steps),
    cross: cross.dense(ids.length),
  };
  return { header, arrays };
}

const headsOf = ({ n_layers: layers, n_heads: heads }) => ({ layers, heads });

// Rows [S, L, H, S] as [L, H, S, S].
function byLayer(rows, length) {
  const dense = rows.dense(length),
    count = rows.layers * rows.heads,
    data = new Float32Array(dense.length);
  for (let row = 0; row < length; row++) {
    for (let h = 0; h < count; h++) {
      const at = (row * count + h) * length;
      data.set(dense.subarray(at, at + length), (h * length + row) * length);
    }
  }
  return data;
}

// The likeliest tokens after a row, and those that the step considered, most probable first.
function candidatesOf(row, parent, considered, children) {
  const nodes = new Map(considered.flatMap((one, i) => (one.parent === parent ? [[one.token, children[i]]] : [])));
  const ids = topK(row, TOP),
    more = [...nodes.keys()].filter(id => !ids.includes(id));
  return [...ids, ...more]
    .sort((one, other) => row[other] - row[one])
    .map(id => ({ id, logProb: row[id], node: nodes.get(id) ?? -1 }));
}

class Tree {
  nodes = [
    { parent: -1, step: 0, token: -1, logProb: 0, total: 0, score: 0, outcome: DROPPED, answer: -1, children: [] },
  ];
  live = [0];
  answers = 0;

  // Takes a step of `decode` in; returns the nodes of its candidates.
  grow({ written, logProbs, candidates }, size) {
    for (const index of this.live) this.nodes[index].answer = this.answers++;
    const parents = this.live;
    this.live = [];
    return candidates.map(({ parent, token, total, score, fate }, place) => {
      const node = this.nodes.length,
        outcome = fate === FINISHED ? ENDED : fate === PRUNED && place >= size ? LOST : ALIVE,
        logProb = logProbs[parent][token];
      const above = parents[parent];
      this.nodes.push({
        parent: above,
        step: written[parent].length + 1,
        token,
        logProb,
        total,
        score,
        outcome,
        answer: -1,
        children: [],
      });
      this.nodes[above].children.push(node);
      if (fate === LIVE) this.live.push(node);
      return node;
    });
  }

  // Whether one node's outcome is better than another's, and of equal ones its score.
  before = (one, other) =>
    this.nodes[one].outcome - this.nodes[other].outcome || this.nodes[other].score - this.nodes[one].score;

  // The best of what comes after it becomes the outcome of each node, and the best sentence the winner.
  finish() {
    const { nodes } = this,
      ends = nodes.flatMap(({ children }, i) => (children.length ? [] : [i]));
    // It lived, and none of what came after it was worth considering.
    for (const i of ends) if (nodes[i].answer >= 0) nodes[i].outcome = DROPPED;
    nodes[ends.reduce((best, i) => (this.before(i, best) < 0 ? i : best))].outcome = WINNER;
    for (let i = nodes.length - 1; i >= 0; i--) {
      const { children } = nodes[i],
        passed = children.map(child => (nodes[child].outcome === LOST ? DROPPED : nodes[child].outcome));
      if (children.length) nodes[i].outcome = Math.min(DROPPED, ...passed);
    }
    return this;
  }

  hypotheses() {
    const ends = this.nodes.flatMap(({ children, outcome }, i) => (!children.length && outcome <= ALIVE ? [i] : []));
    return ends.sort(this.before);
  }

  // What was written up to a node.
  ids(index) {
    const ids = [];
    for (let i = index; i > 0; i = this.nodes[i].parent) ids.unshift(this.nodes[i].token);
    return ids;
  }

  // The lane of each node, from 0 at the top, -1 of those that have none: a hypothesis stays in its lane, and a branch
  // takes the nearest free one.
  lanes(withPruned) {
    const lanes = this.nodes.map(() => null),
      taken = new Set();
    for (const run of this.runs(withPruned)) {
      const steps = run.map(i => this.nodes[i].step),
        { parent } = this.nodes[run[0]],
        home = parent < 0 ? 0 : lanes[parent],
        isFree = lane => steps.every(step => !taken.has(`${step} ${lane}`));
      let lane = home;
      for (let away = 0; !isFree(lane); away++) {
        lane = home + ((away + 2) >> 1) * (away % 2 ? -1 : 1);
      }
      for (const step of steps) taken.add(`${step} ${lane}`);
      for (const i of run) lanes[i] = lane;
    }
    const top = Math.min(...lanes.filter(lane => lane !== null));
    return lanes.map(lane => (lane === null ? -1 : lane - top));
  }

  // The nodes in runs, each from where it leaves another to its end: the best sentence first, leaves last.
  runs(withPruned) {
    const { nodes } = this,
      runs = [],
      starts = [0];
    while (starts.length) {
      const run = [starts.pop()];
      for (;;) {
        const after = nodes[run.at(-1)].children.filter(i => withPruned || nodes[i].outcome !== LOST);
        if (!after.length) break;
        const [heir, ...others] = after.sort(this.before);
        starts.push(...others);
        run.push(heir);
      }
      runs.push(run);
    }
    const key = ([first]) => nodes[first];
    return runs.sort(
      (one, other) => key(one).outcome - key(other).outcome || key(one).step - key(other).step || one[0] - other[0],
    );
  }
}
