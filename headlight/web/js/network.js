// The transformer's forward pass (transformer/model.py), with every pattern recorded.
//
// Shapes: S source tokens, T target tokens, R rows that are computed at once, H heads, D = d_model / H, V vocabulary.
// A matrix [R, n] is a Float32Array, row behind row.

import { InputError, translatable } from "./errors.js";

const NORM_FIRST = "pre";

// Mistakes of tutorials that a lesson makes in a model at hand (headlight/teaching/mistakes.py): `mistake` of the config.
export const NO_SCALING = "no-scaling",
  WRONG_AXIS = "softmax-over-queries",
  NO_FEED_FORWARD = "no-feed-forward";

// What this engine computes; another configuration is refused by the name of its field.
/** @type {Record<string, unknown[]>} */
const COMPUTED = {
  norm: ["pre", "post"],
  activation: ["relu", "none"],
  positions: ["sinusoidal", "learned", "stored", "none"],
  position_base: [10000, undefined],
  norm_form: ["standard", "none", undefined],
  residual: [true, false, undefined],
  tied: ["all", "output", "none"],
  padding_mask: ["applied", "never", undefined],
  look_ahead_mask: ["applied", "never", undefined],
};

export function checkConfig(config) {
  for (const [field, values] of Object.entries(COMPUTED)) {
    if (!values.includes(config[field])) throw new Error(`${field} is "${config[field]}", which is not computed here.`);
  }
  for (const field of ["source_start", "target_start", "pruned_heads"]) {
    if (config[field]?.length) throw new Error(`${field} is not empty, which is not computed here.`);
  }
  if (config.source_end) throw new Error("source_end is given, which is not computed here.");
}

// y = x Wᵀ + b, [R, n] to [R, m]. Four rows and two outputs at a time, or one row and four outputs: each number that is
// read is used more than once, which takes 0.7 of the time of plain loops.
export function linear(x, rows, { weight, bias }) {
  const [m, n] = weight.shape,
    y = new Float32Array(rows * m);
  let row = 0;
  for (; row + 4 <= rows; row += 4) fourRows(x, row * n, weight.data, y, row * m, m, n);
  for (; row < rows; row++) oneRow(x, row * n, weight.data, y, row * m, m, n);
  if (bias) for (let at = 0; at < y.length; at += m) for (let o = 0; o < m; o++) y[at + o] += bias[o];
  return y;
}

function fourRows(x, a, w, y, at, m, n) {
  const b = a + n,
    c = b + n,
    d = c + n;
  for (let o = 0; o + 2 <= m; o += 2) {
    const v = o * n,
      u = v + n;
    let va = 0,
      vb = 0,
      vc = 0,
      vd = 0,
      ua = 0,
      ub = 0,
      uc = 0,
      ud = 0;
    for (let i = 0; i < n; i++) {
      const wv = w[v + i],
        wu = w[u + i],
        xa = x[a + i],
        xb = x[b + i],
        xc = x[c + i],
        xd = x[d + i];
      va += wv * xa;
      vb += wv * xb;
      vc += wv * xc;
      vd += wv * xd;
      ua += wu * xa;
      ub += wu * xb;
      uc += wu * xc;
      ud += wu * xd;
    }
    const to = at + o;
    y[to] = va;
    y[to + 1] = ua;
    y[to + m] = vb;
    y[to + m + 1] = ub;
    y[to + 2 * m] = vc;
    y[to + 2 * m + 1] = uc;
    y[to + 3 * m] = vd;
    y[to + 3 * m + 1] = ud;
  }
  if (m % 2) for (let row = 0; row < 4; row++) y[at + (row + 1) * m - 1] = dot(x, a + row * n, w, (m - 1) * n, n);
}

function oneRow(x, a, w, y, at, m, n) {
  let o = 0;
  for (; o + 4 <= m; o += 4) {
    const p = o * n,
      q = p + n,
      r = q + n,
      s = r + n;
    let yp = 0,
      yq = 0,
      yr = 0,
      ys = 0;
    for (let i = 0; i < n; i++) {
      const v = x[a + i];
      yp += w[p + i] * v;
      yq += w[q + i] * v;
      yr += w[r + i] * v;
      ys += w[s + i] * v;
    }
    y[at + o] = yp;
    y[at + o + 1] = yq;
    y[at + o + 2] = yr;
    y[at + o + 3] = ys;
  }
  for (; o < m; o++) y[at + o] = dot(x, a, w, o * n, n);
}

function dot(x, a, w, b, n) {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += x[a + i] * w[b + i];
  return sum;
}

// LayerNorm over each row (Ba et al. 2016).
function layerNorm(x, width, { weight, bias }, eps) {
  const y = new Float32Array(x.length);
  for (let at = 0; at < x.length; at += width) {
    let mean = 0,
      variance = 0;
    for (let i = 0; i < width; i++) mean += x[at + i];
    mean /= width;
    for (let i = 0; i < width; i++) variance += (x[at + i] - mean) ** 2;
    const scale = 1 / Math.sqrt(variance / width + eps);
    for (let i = 0; i < width; i++) y[at + i] = (x[at + i] - mean) * scale * weight[i] + bias[i];
  }
  return y;
}

function softmaxInPlace(scores) {
  let largest = -Infinity,
    sum = 0;
  for (const score of scores) largest = Math.max(largest, score);
  for (let i = 0; i < scores.length; i++) sum += scores[i] = Math.exp(scores[i] - largest);
  for (let i = 0; i < scores.length; i++) scores[i] /= sum;
}

// PE(p, 2i) = sin(p / 10000^(2i / d)), PE(p, 2i + 1) = cos(of the same): section 3.5 of "Attention Is All You Need".
function sinusoidal(length, width) {
  const table = new Float32Array(length * width);
  for (let p = 0; p < length; p++) {
    for (let i = 0; i < width; i += 2) {
      const angle = p * 10000 ** (-i / width);
      table[p * width + i] = Math.sin(angle);
      if (i + 1 < width) table[p * width + i + 1] = Math.cos(angle);
    }
  }
  return { shape: [length, width], data: table };
}

// The attention of one layer: rows look at keys and values, which stand [K, d_model].
class Attention {
  constructor(net, path, heads, site) {
    this.query = net.map(`${path}.query`);
    this.key = net.map(`${path}.key`);
    this.value = net.map(`${path}.value`);
    this.output = net.map(`${path}.output`);
    this.heads = heads;
    this.site = site;
    this.mistake = net.config.mistake;
  }

  keysValues(x, rows) {
    return { keys: linear(x, rows, this.key), values: linear(x, rows, this.value) };
  }

  // `look(row)` gives { keys, values, count }: the row may look at the first `count` of the keys. `tap(site, head, row,
  // pattern)` may change a pattern after its softmax.
  forward(x, rows, look, tap) {
    const queries = linear(x, rows, this.query),
      width = this.query.weight.shape[0],
      size = width / this.heads,
      scale = this.mistake === NO_SCALING ? 1 : 1 / Math.sqrt(size),
      logSums = this.mistake === WRONG_AXIS ? this.columnLogSums(queries, rows, look, scale) : null,
      given = new Float32Array(rows * width);
    for (let row = 0; row < rows; row++) {
      const { keys, values, count } = look(row),
        pattern = new Float32Array(count);
      for (let head = 0; head < this.heads; head++) {
        const at = row * width + head * size;
        for (let k = 0; k < count; k++) {
          pattern[k] = dot(queries, at, keys, k * width + head * size, size) * scale;
        }
        if (logSums) for (let k = 0; k < count; k++) pattern[k] = Math.exp(pattern[k] - logSums[head][k]);
        else softmaxInPlace(pattern);
        tap?.(this.site, head, row, pattern);
        for (let k = 0; k < count; k++) {
          const share = pattern[k];
          if (share === 0) continue;
          for (let i = 0, value = k * width + head * size; i < size; i++) given[at + i] += share * values[value + i];
        }
      }
    }
    return linear(given, rows, this.output);
  }

  // For a softmax down the columns: log Σ exp of the scores of each key over the rows that may look at it, [H][K].
  columnLogSums(queries, rows, look, scale) {
    const width = this.query.weight.shape[0],
      size = width / this.heads;
    return Array.from({ length: this.heads }, (_, head) => {
      const columns = [];
      for (let row = 0; row < rows; row++) {
        const { keys, count } = look(row);
        for (let k = 0; k < count; k++) {
          (columns[k] ??= []).push(
            dot(queries, row * width + head * size, keys, k * width + head * size, size) * scale,
          );
        }
      }
      return columns.map(scores => {
        const largest = Math.max(...scores);
        return largest + Math.log(scores.reduce((sum, score) => sum + Math.exp(score - largest), 0));
      });
    });
  }
}

function grown(kept, more) {
  const all = new Float32Array(kept.length + more.length);
  all.set(kept);
  all.set(more, kept.length);
  return all;
}

export class Network {
  sines = null; // the table of sinusoidal positions, made once

  constructor(config, tensors) {
    checkConfig(config);
    this.config = config;
    this.tensors = tensors;
    const { d_model: width, encoder, decoder } = config;
    this.width = width;
    this.embeddings = { encoder: this.embedding("encoder"), decoder: this.embedding("decoder") };
    this.encoder = Array.from({ length: encoder.n_layers }, (_, l) => this.layer("encoder", l, ["self"]));
    this.decoder = Array.from({ length: decoder.n_layers }, (_, l) => this.layer("decoder", l, ["self", "cross"]));
    this.lastNorms = { encoder: this.lastNorm("encoder"), decoder: this.lastNorm("decoder") };
    const tied = config.tied !== "none";
    const output = tied ? this.embeddings.decoder.tokens : this.tensor("output.weight");
    this.output = { weight: output, bias: this.vector("output.bias") };
    this.causal = config.look_ahead_mask !== "never";
    this.stepwise = this.causal && config.mistake !== WRONG_AXIS; // whether a new token leaves the rows before it alone
  }

  tensor(name) {
    const tensor = this.tensors.get(name);
    if (!tensor) throw new Error(`The model has no tensor ${name}.`);
    return tensor;
  }

  vector(name) {
    return this.tensors.get(name)?.data ?? null;
  }

  // The weight and bias of a linear map.
  map(path) {
    return { weight: this.tensor(`${path}.weight`), bias: this.vector(`${path}.bias`) };
  }

  normAt(path) {
    return { weight: this.tensor(`${path}.weight`).data, bias: this.tensor(`${path}.bias`).data };
  }

  // A norm of the layers, or null in a network without them.
  layerNormAt(path) {
    return this.config.norm_form === "none" ? null : this.normAt(path);
  }

  lastNorm(stack) {
    return this.config.final_norm !== false ? this.layerNormAt(`${stack}.norm`) : null;
  }

  embedding(stack) {
    const { config, width } = this,
      path = `${stack}.embedding`;
    const shared = config.tied === "all" ? "encoder.embedding.tokens.weight" : `${path}.tokens.weight`;
    const sines = () => (this.sines ??= sinusoidal(config.max_length, width));
    return {
      tokens: this.tensor(shared),
      positions:
        config.positions === "none"
          ? null
          : config.positions === "sinusoidal"
            ? sines()
            : this.tensor(`${path}.positions.table`),
      norm: config.embedding_norm ? this.normAt(`${path}.norm`) : null,
      scale: config.scale_embeddings === false ? 1 : Math.sqrt(width),
    };
  }

  layer(stack, l, kinds) {
    const path = `${stack}.layers.${l}`,
      heads = this.config[stack].n_heads;
    const names = stack === "encoder" ? { self: "attention" } : { self: "self_attention", cross: "cross_attention" };
    const attentions = kinds.map(
      kind => new Attention(this, `${path}.${names[kind]}`, heads, { stack, layer: l, kind }),
    );
    const norms = [...kinds, "feed forward"].map((_, i) => this.layerNormAt(`${path}.residuals.${i}.norm`));
    return {
      attentions,
      inner: this.map(`${path}.feed_forward.inner`),
      outer: this.map(`${path}.feed_forward.outer`),
      norms,
    };
  }

  // Tokens as vectors at their positions: [R, d_model].
  embed(stack, ids, positions) {
    const { tokens, positions: table, norm, scale } = this.embeddings[stack],
      { width } = this;
    const x = new Float32Array(ids.length * width);
    ids.forEach((id, row) => {
      for (let i = 0; i < width; i++) {
        const place = table ? table.data[positions[row] * width + i] : 0;
        x[row * width + i] = tokens.data[id * width + i] * scale + place;
      }
    });
    return norm ? layerNorm(x, width, norm, this.config.norm_eps) : x;
  }

  residual(x, norm, sublayer) {
    const { width } = this,
      { norm: kind, norm_eps: eps, residual } = this.config,
      first = kind === NORM_FIRST,
      normed = y => (norm ? layerNorm(y, width, norm, eps) : y);
    const given = sublayer(first ? normed(x) : x);
    if (residual !== false) for (let i = 0; i < x.length; i++) given[i] += x[i];
    return first ? given : normed(given);
  }

  feedForward(x, rows, layer) {
    const { activation, mistake } = this.config;
    if (mistake === NO_FEED_FORWARD) return new Float32Array(x.length);
    const inner = linear(x, rows, layer.inner);
    if (activation !== "none") for (let i = 0; i < inner.length; i++) if (inner[i] < 0) inner[i] = 0;
    return linear(inner, rows, layer.outer);
  }

  last(x, stack) {
    const norm = this.lastNorms[stack];
    return norm ? layerNorm(x, this.width, norm, this.config.norm_eps) : x;
  }

  // Reads a sentence: its memory as the cross-attention of each decoder layer looks at it. There is no padding, since one
  // sentence is read at a time.
  read(source, tap) {
    const rows = source.length;
    if (rows > this.config.max_length) {
      const long = translatable("The sentence has {tokens} tokens and this model reads at most {longest}; shorten it.");
      throw new InputError(long, { tokens: rows, longest: this.config.max_length });
    }
    let x = this.embed(
      "encoder",
      source,
      source.map((_, i) => i),
    );
    for (const layer of this.encoder) {
      const [attention] = layer.attentions;
      x = this.residual(x, layer.norms[0], h => {
        const seen = { ...attention.keysValues(h, rows), count: rows };
        return attention.forward(h, rows, () => seen, tap);
      });
      x = this.residual(x, layer.norms[1], h => this.feedForward(h, rows, layer));
    }
    const memory = this.last(x, "encoder");
    return this.decoder.map(({ attentions: [, cross] }) => ({ ...cross.keysValues(memory, rows), count: rows }));
  }

  // Nothing written yet: what each decoder layer's self-attention has seen.
  start() {
    return this.decoder.map(() => ({ keys: new Float32Array(0), values: new Float32Array(0), count: 0 }));
  }

  // The next token of each of several hypotheses, `ids` [N], each with the layers' keys and values so far, `caches` [N],
  // which stay as they are: the logits [N, V] and the new caches.
  next(ids, caches, memory, tap) {
    const rows = ids.length;
    const grownCaches = caches.map(() => []);
    let x = this.embed(
      "decoder",
      ids,
      caches.map(cache => cache[0].count),
    );
    this.decoder.forEach((layer, l) => {
      const [self, cross] = layer.attentions;
      x = this.residual(x, layer.norms[0], h => {
        const { keys, values } = self.keysValues(h, rows),
          width = keys.length / rows;
        caches.forEach((cache, row) => {
          const part = all => all.subarray(row * width, (row + 1) * width);
          grownCaches[row].push({
            keys: grown(cache[l].keys, part(keys)),
            values: grown(cache[l].values, part(values)),
            count: cache[l].count + 1,
          });
        });
        return self.forward(h, rows, row => grownCaches[row][l], tap);
      });
      x = this.residual(x, layer.norms[1], h => cross.forward(h, rows, () => memory[l], tap));
      x = this.residual(x, layer.norms[2], h => this.feedForward(h, rows, layer));
    });
    return { logits: linear(this.last(x, "decoder"), rows, this.output), caches: grownCaches };
  }

  // A whole target at once, from [SOS] on: the logits after each of its tokens, [T, V]. `tap` sees row t of each
  // pattern with the keys that it may look at: t + 1 of them in a model that hides later tokens.
  write(target, memory, tap) {
    const rows = target.length;
    let x = this.embed(
      "decoder",
      target,
      target.map((_, i) => i),
    );
    this.decoder.forEach((layer, l) => {
      const [self, cross] = layer.attentions;
      x = this.residual(x, layer.norms[0], h => {
        const seen = self.keysValues(h, rows);
        return self.forward(h, rows, row => ({ ...seen, count: this.causal ? row + 1 : rows }), tap);
      });
      x = this.residual(x, layer.norms[1], h => cross.forward(h, rows, () => memory[l], tap));
      x = this.residual(x, layer.norms[2], h => this.feedForward(h, rows, layer));
    });
    return linear(this.last(x, "decoder"), rows, this.output);
  }
}

// Patterns [layers, heads, queries, keys] of the three kinds, filled by its tap.
export class Recorder {
  constructor(config, sourceLength, targetLength) {
    const of = (stack, queries, keys) => {
      const { n_layers: layers, n_heads: heads } = config[stack];
      return { shape: [layers, heads, queries, keys], data: new Float32Array(layers * heads * queries * keys) };
    };
    this.kinds = {
      encoder: of("encoder", sourceLength, sourceLength),
      decoder: of("decoder", targetLength, targetLength),
      cross: of("decoder", targetLength, sourceLength),
    };
    this.tap = ({ stack, layer, kind }, head, row, pattern) => {
      const { shape, data } = this.kinds[kind === "cross" ? "cross" : stack];
      data.set(pattern, ((layer * shape[1] + head) * shape[2] + row) * shape[3]);
    };
  }
}

// A tap that switches heads off: their rows become 0, so they add nothing. `heads` has names as "cross 0 2".
export function switchOff(heads) {
  const off = new Set(heads);
  if (!off.size) return null;
  return ({ stack, layer, kind }, head, _row, pattern) => {
    if (off.has(`${kind === "cross" ? "cross" : stack} ${layer} ${head}`)) pattern.fill(0);
  };
}

export const chain = (...taps) => {
  const some = taps.filter(Boolean);
  return some.length ? (...seen) => some.forEach(tap => tap(...seen)) : null;
};
