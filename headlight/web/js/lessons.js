// Computes what lessons name from the models of the page, as headlight/teaching/lessons/measuring.py does.
//
// An expression is what headlight/web/lessons.py writes of one: { what, head, words, run, ... }, without what is not said.
// `run` is what is different about the run: { text, target, without, broken, model }.

import { InputError, translatable } from "./errors.js";
import { decode, finish, logSoftmax, recordPass } from "./decoding.js";
import { MEASURES, shareRows } from "./measures.js";
import { chain, Network, switchOff } from "./network.js";
import { describeTokens } from "./tokenizer.js";

const WORD_START = "\u2581",
  BEAM_SIZE = 5, // of a translation of which nothing else is said
  ALPHA = 1,
  MAX_CACHED_RESULTS = 200; // traces and translations

// What each mistake changes in the configuration; a mistake may also have a tap.
const MISTAKES = {
  "no-causal-mask": { look_ahead_mask: "never" },
  "mask-thrown-away": { look_ahead_mask: "never", padding_mask: "never" },
  "no-positions": { positions: "none" },
  "no-scaling": { mistake: "no-scaling" },
  "softmax-over-queries": { mistake: "softmax-over-queries" },
  "padding-mask-inverted": {},
  "no-residual": { residual: false },
  "no-norms": { norm_form: "none", final_norm: false, embedding_norm: false },
  "no-feed-forward": { mistake: "no-feed-forward" },
  "no-non-linearity": { activation: "none" },
  "no-embedding-scale": { scale_embeddings: false },
};
// Without padding all words of the source are hidden alike, and each gets the same.
const MISTAKE_TAPS = {
  "padding-mask-inverted": ({ stack, kind }, _head, _row, pattern) => {
    if (stack === "encoder" || kind === "cross") pattern.fill(1 / pattern.length);
  },
};

const COMPARE = {
  "=": (one, other) => one === other,
  "!=": (one, other) => one !== other,
  "<": (one, other) => one < other,
  "<=": (one, other) => one <= other,
  ">": (one, other) => one > other,
  ">=": (one, other) => one >= other,
  has: (one, other) => String(one).toLowerCase().includes(String(other).toLowerCase()),
};

// A token's label without the mark of a space.
const plain = label => label.replace(/^\u2581+/, "") || label;

// Whether a token has a letter, and is none of the model's own, such as [EOS].
const isWord = label => /\p{L}/u.test(label) && !/^(\[\w+\]|<.*>)$/.test(label);

const rounded = (value, digits) => Math.round(value * 10 ** digits) / 10 ** digits;

const largestAt = values => values.reduce((best, value, i) => (value > values[best] ? i : best), 0);

// What two values are compared by: a row by its highest word, a head by its name.
function comparable(value) {
  if (value.shares) return value.labels[largestAt(value.shares)];
  if (value.values) return value.head.join(".");
  return typeof value === "boolean" ? +value : value;
}

export class LessonComputer {
  cache = new Map();
  networks = new Map(); // of models with a mistake

  // `models` maps names to { network, source, target }.
  constructor(models) {
    this.models = models;
  }

  // The value of an expression for a step whose view says `base` { text, target, model }: a number, a text, a truth, a
  // row { labels, shares }, a head { head, values, smallest }, or what there is to look at. Throws RangeError.
  value(named, base) {
    this.base = base;
    return this.compute(named);
  }

  compute(named) {
    const run = this.whole(named.run ?? {}),
      [kind, layer, head] = named.head ?? [named.kind];
    switch (named.what) {
      case "constant":
        return named.number ?? 0;
      case "string":
        return named.string ?? "";
      case "row":
      case "top":
        return this.row(named, run);
      case "weight":
        return this.cells(named.words, kind, run)[layer - 1][head - 1];
      case "measure":
        return this.measured(named.measure, kind, run)[layer - 1][head - 1];
      case "extreme":
        return this.extreme(named, run);
      case "count":
        return this.measured(named.measure, kind, run)
          .flat()
          .filter(value => value > named.number).length;
      case "probability":
        return Math.exp(this.wordLogProb(named.words, run));
      case "log-probability":
        return this.trace(run).logProbs.reduce((sum, value) => sum + value, 0);
      case "translation":
        return this.translation(run, named.number);
      case "tokens":
        return this.trace(run).source.ids.length;
      case "effect":
        return this.effect(named.words, run);
      case "similarity":
        return this.similarity(named.positions, run);
      case "compare":
        return COMPARE[named.measure](...named.parts.map(part => comparable(this.compute(part))));
      case "and":
        return named.parts.every(part => this.compute(part));
      case "row view":
        return this.rowView(named, run);
      case "heads view":
        return this.headsView(named, kind, run);
      default:
        throw new RangeError(`A page does not compute ${named.what}.`);
    }
  }

  // ---- runs -----------------------------------------------------------------------------------------

  // With what the view says where the run says nothing. A sentence of its own has no translation from there.
  whole({ text = null, target = null, without = [], broken = null, model = null }) {
    const given = text === null && model === null ? (this.base.target ?? null) : null;
    return {
      text: text ?? this.base.text ?? null,
      target: target ?? given,
      without,
      broken,
      model: model ?? this.base.model,
    };
  }

  once(key, compute) {
    const name = JSON.stringify(key);
    if (!this.cache.has(name)) {
      if (this.cache.size >= MAX_CACHED_RESULTS) this.cache.clear();
      this.cache.set(name, compute());
    }
    return this.cache.get(name);
  }

  // The model of a run, and the tap that each of its passes needs.
  model({ model: name, broken, without }) {
    const model = this.models.get(name);
    if (!model) {
      const missing = translatable("The model {name} in this file is damaged or missing; get the file again.");
      throw new InputError(missing, { name });
    }
    const off = without.map(([kind, layer, head]) => `${kind} ${layer - 1} ${head - 1}`),
      tap = chain(MISTAKE_TAPS[broken], switchOff(off));
    if (!broken) return { ...model, tap };
    const key = `${name} ${broken}`,
      { config, tensors } = model.network;
    if (!this.networks.has(key)) this.networks.set(key, new Network({ ...config, ...MISTAKES[broken] }, tensors));
    return { ...model, network: this.networks.get(key), tap };
  }

  read({ source, network }, text) {
    const ids = source.encode(text ?? "");
    if (!ids.length)
      throw new InputError(translatable("There is nothing to translate: the text is empty. Type a sentence."));
    return [...ids, network.config.eos_id];
  }

  search({ network, tap }, ids, size) {
    return finish([...decode(network, ids, { size, alpha: ALPHA, tap })])[0];
  }

  translation(run, size) {
    return this.once(["translation", run, size], () => {
      const model = this.model(run);
      return model.target.decode(this.search(model, this.read(model, run.text), size).ids);
    });
  }

  // What the model of a run looked at. A changed model is shown on the words that the whole one writes, unless others are
  // given.
  trace(run) {
    return this.once(["trace", run], () => {
      const model = this.model(run),
        { network, source, target, tap } = model,
        { sos_id: sos, eos_id: eos } = network.config,
        ids = this.read(model, run.text);
      const changed = run.without.length || run.broken,
        given = run.target ?? (changed ? this.trace({ ...run, without: [], broken: null }).translation : null);
      const written = given === null ? this.search(model, ids, BEAM_SIZE).ids : [...target.encode(given), eos];
      return {
        translation: target.decode(written),
        source: describeTokens(source, ids),
        target: describeTokens(target, [sos, ...written]),
        ...recordPass(network, ids, [sos, ...written], tap),
      };
    });
  }

  // The labels of the rows and columns of a kind, and the place of a row that a query stands in.
  axes(trace, kind) {
    const labels = side => side.labels.map(plain);
    const source = labels(trace.source),
      target = labels(trace.target);
    if (kind === "encoder") return { rows: source, columns: source };
    return { rows: target.slice(1), columns: kind === "cross" ? source : target.slice(0, -1) };
  }

  // What a row may not look at, [Q][K].
  mask(trace, kind) {
    const { rows, columns } = this.axes(trace, kind),
      hides = kind === "decoder" && !trace.lookAhead;
    return rows.map((_row, q) => columns.map((_column, k) => hides && k > q));
  }

  // The place of a word, [text, which of the same].
  place([text, which], labels) {
    if (!text) {
      const spoken = labels.flatMap((label, i) => (isWord(label) ? [i] : []));
      if (!spoken.length) {
        const wordless = translatable("There is no word to ask about among the tokens: {tokens}.");
        throw new InputError(wordless, { tokens: labels.join(" ") });
      }
      return spoken.at(which === 1 ? 0 : -1);
    }
    const same = labels.flatMap((label, i) => (label === text ? [i] : []));
    if (same.length < which)
      throw new RangeError(`There is no \u201c${text}\u201d among the tokens: ${labels.join(" ")}.`);
    return same[which - 1];
  }

  // ---- patterns -------------------------------------------------------------------------------------

  // One pattern as rows [Q][K]; layer and head from 1.
  pattern(trace, kind, layer, head) {
    const { shape, data } = trace.patterns[kind],
      [layers, heads, queries, keys] = shape;
    if (!(layer >= 1 && layer <= layers && head >= 1 && head <= heads)) {
      throw new RangeError(`There is no ${kind} ${layer}.${head}: the model has ${layers} layers of ${heads}.`);
    }
    const at = ((layer - 1) * heads + head - 1) * queries * keys;
    return Array.from({ length: queries }, (_, q) => Array.from(data.subarray(at + q * keys, at + (q + 1) * keys)));
  }

  // Something of every head of a kind, [L][H].
  everyHead(trace, kind, act) {
    const [layers, heads] = trace.patterns[kind].shape;
    return Array.from({ length: layers }, (_layer, l) =>
      Array.from({ length: heads }, (_head, h) => act(l + 1, h + 1)),
    );
  }

  row({ head: [kind, layer, head], words }, run) {
    const trace = this.trace(run),
      { rows, columns } = this.axes(trace, kind),
      query = this.place(words[0], rows),
      shares = this.pattern(trace, kind, layer, head)[query];
    const masked = this.mask(trace, kind)[query],
      seen = columns.map((_, k) => k).filter(k => !masked[k]);
    return { labels: seen.map(k => columns[k]), shares: seen.map(k => rounded(100 * shares[k], 3)) };
  }

  // The weight in one cell of every head, [L][H].
  cells(words, kind, run) {
    const trace = this.trace(run),
      { rows, columns } = this.axes(trace, kind),
      [query, key] = [this.place(words[0], rows), this.place(words[1], columns)];
    return this.everyHead(trace, kind, (layer, head) => this.pattern(trace, kind, layer, head)[query][key]);
  }

  measured(measure, kind, run) {
    const trace = this.trace(run),
      masked = this.mask(trace, kind).flat(),
      keys = trace.patterns[kind].shape[3];
    return this.everyHead(trace, kind, (layer, head) => {
      const pattern = Float32Array.from(this.pattern(trace, kind, layer, head).flat()),
        value = MEASURES[measure](shareRows(pattern, keys), masked);
      if (Number.isNaN(value)) throw new RangeError(`${measure} means nothing in ${kind} attention here.`);
      return value;
    });
  }

  extreme({ measure, words, kind, largest = true }, run) {
    const values = measure ? this.measured(measure, kind, run) : this.cells(words, kind, run),
      heads = values[0].length,
      at = largestAt(values.flat().map(value => (largest ? value : -value)));
    const exact = values.map(layer => layer.map(value => rounded(value, 5)));
    return { head: [Math.floor(at / heads) + 1, (at % heads) + 1], values: exact, smallest: !largest };
  }

  // A head's matrix without the row that is asked for, as posing.py has it.
  rowView(named, run) {
    const [kind, layer, head] = named.head,
      trace = this.trace(run),
      { rows, columns } = this.axes(trace, kind),
      asked = this.place(named.words[0], rows);
    const weights = this.pattern(trace, kind, layer, head).map((row, q) =>
      row.map(value => (q === asked ? null : rounded(value, 3))),
    );
    const masked = this.mask(trace, kind);
    return {
      labels: this.row(named, run).labels,
      query: named.words[0][0] || rows[asked],
      head: `${kind} ${layer}.${head}`,
      picture: { kind, layer, head, rows, columns, weights, masked, asked },
    };
  }

  // Every head of a kind, small.
  headsView({ words }, kind, run) {
    const trace = this.trace(run),
      { rows, columns } = this.axes(trace, kind),
      [layers, heads] = trace.patterns[kind].shape;
    const thumbnails = this.everyHead(trace, kind, (layer, head) =>
      this.pattern(trace, kind, layer, head).map(row => row.map(value => rounded(value, 2))),
    );
    const masked = this.mask(trace, kind),
      asked = words && { asked: { row: this.place(words[0], rows), column: this.place(words[1], columns) } };
    return { kind, layers, heads, thumbnails, masked, rows, columns, ...asked };
  }

  // ---- what is written ------------------------------------------------------------------------------

  // The log-probability of a word where the whole model's own translation has `at`, after the words before it.
  wordLogProb([word, at], run) {
    const written = this.trace({ ...run, without: [], broken: null }),
      step = this.place(at, this.axes(written, "cross").rows),
      ids = written.target.ids;
    const model = this.model(run),
      id = namedToken(model.target, word[0], ids[step + 1]);
    return this.logProbsAfter(model, written.source.ids, ids.slice(0, step + 1))[id];
  }

  // [V] log-probabilities of the token after `prefix`.
  logProbsAfter({ network, tap }, source, prefix) {
    const logits = network.write(prefix, network.read(source, tap), tap);
    return logSoftmax(logits.slice((prefix.length - 1) * network.config.target_vocab_size));
  }

  // How much less probable a written word becomes when a source word is taken out, in nats.
  effect([word, written], run) {
    const trace = this.trace(run),
      model = this.model(run),
      { source, target } = trace,
      gone = this.place(word, this.axes(trace, "cross").columns),
      step = this.place(written, this.axes(trace, "cross").rows);
    const without = source.ids.filter((_, i) => i !== gone),
      id = target.ids[step + 1];
    return trace.logProbs[step] - this.logProbsAfter(model, without, target.ids.slice(0, step + 1))[id];
  }

  // The cosine of two rows of the table of sines.
  similarity([one, other], run) {
    const { width } = this.model(run).network;
    let sum = 0;
    for (let i = 0; i < width; i += 2) sum += Math.cos((one - other) * 10000 ** (-i / width));
    return sum / Math.ceil(width / 2);
  }
}

// The id of the token that is written `text`; of "▁il" and "il" the one that begins a word as `like` does.
function namedToken(tokenizer, text, like) {
  const bare = text.replace(/^\u2581/, ""),
    first = text.startsWith(WORD_START) || tokenizer.pieces[like].startsWith(WORD_START),
    both = [WORD_START + bare, bare];
  const id = (first ? both : both.reverse()).map(piece => tokenizer.ids.get(piece)).find(found => found !== undefined);
  if (id === undefined) throw new RangeError(`No single token is written \u201c${text}\u201d.`);
  return id;
}
