// What each head does in one sentence, in the words of headlight/analysis/description.py, which says when a pattern is
// named. A text is in parts, of which those at odd places are tokens.
//
// Shapes: H heads, Q queries, K keys. A pattern is [Q, K], `masked` too; `special` and `keys` [K].

const MIN_SHARE = 0.5,
  MIN_RATIO_TO_UNIFORM = 2,
  MAX_NAMED_KEYS = 3, // keys that are named together; where more get the same, they are counted
  MIN_SPECIAL_LEAD = 0.05; // how much more special tokens must get than the named key, to be named beside it
const PATTERN_TEXTS = {
  previous: translatable("looks at the previous token: {share} of its weight"),
  next: translatable("looks at the next token: {share} of its weight"),
  same: translatable("looks at the same position: {share} of its weight"),
  special: translatable("looks at special tokens: {share} of its weight"),
};

const STRONGEST_KEY_TEXTS = [
  translatable("follows no single pattern: {first} gets the most, {share} on average"),
  translatable("follows no single pattern: {first} and {second} get the most, {share} each on average"),
  translatable("follows no single pattern: {first}, {second} and {third} get the most, {share} each on average"),
];

class Described {
  constructor(pattern, masked, special, keys) {
    const K = keys.length;
    this.masked = masked;
    this.special = special;
    this.keys = keys;
    this.K = K;
    this.rows = shareRows(pattern, K);
    this.isOff = this.rows.every(row => row === null);
  }

  measure(name) {
    return MEASURES[name](this.rows, this.masked);
  }

  // What a key gets from all rows, as a mean over them.
  total(k) {
    return this.rows.reduce((sum, row) => sum + (row ? row[k] : 0), 0) / this.rows.length;
  }

  // The mean share that the rows which may see a key give it.
  share(k) {
    return meanOf(this.rows.map((row, q) => (row && !this.masked[q * this.K + k] ? row[k] : null)));
  }

  strongest() {
    let best = 0;
    for (let k = 1; k < this.K; k++) if (this.total(k) > this.total(best)) best = k;
    return best;
  }

  specialShare() {
    return meanOf(this.rows.map(row => row && row.reduce((sum, p, k) => sum + (this.special[k] ? p : 0), 0)));
  }

  shares(kind) {
    const found = {
      same: this.measure("same"),
      special: this.specialShare(),
    };
    if (kind !== "cross") Object.assign(found, { previous: this.measure("previous"), next: this.measure("next") });
    found.key = this.share(this.strongest());
    found.row = this.measure("sharpness");
    return found;
  }
}

// The pattern of a head that looks everywhere alike.
const uniformOver = masked => Float32Array.from(masked, hidden => (hidden ? 0 : 1));

// Which of the heads has the narrowest pattern that lies least on special tokens; the first where none has one.
function narrowestHead(patterns, masked, special) {
  const described = pattern => new Described(pattern, masked, special, special),
    widest = described(uniformOver(masked)).measure("entropy"),
    scores = patterns.map(described).map(head => head.measure("entropy") / widest + head.specialShare());
  return Math.max(0, scores.indexOf(Math.min(...scores.filter(score => !Number.isNaN(score)))));
}

// A text for each of the heads, to stand after its name.
function describeHeads(patterns, masked, special, keys, kind) {
  const chance = new Described(uniformOver(masked), masked, special, keys).shares(kind);
  const least = Object.fromEntries(
    Object.entries(chance).map(([what, share]) => [what, Math.max(MIN_SHARE, MIN_RATIO_TO_UNIFORM * share)]),
  );
  return patterns.map(pattern => describeHead(new Described(pattern, masked, special, keys), kind, least));
}

function describeHead(head, kind, least) {
  if (head.isOff) return [gettext("is off: its measures are not defined")];
  const clear = Object.fromEntries(Object.entries(head.shares(kind)).filter(([what, share]) => share >= least[what]));
  const sharp = clear.row;
  delete clear.row;
  // The key's own name says more than that it is a special token.
  if ("key" in clear && (clear.special ?? 0) <= clear.key + MIN_SPECIAL_LEAD) delete clear.special;
  const named = Object.keys(clear).sort((one, other) => clear[other] - clear[one]);
  if (named.length) return joinTexts(named.map(what => describeShare(what, clear[what], head)));
  if (sharp !== undefined) {
    const count = new Set(head.rows.map(row => (row ? row.indexOf(Math.max(...row)) : 0))).size;
    return [
      ngettext(
        "looks mainly at one token in each row, {share} on average: always the same one in all",
        "looks mainly at one token in each row, {share} on average: {count} different tokens in all",
        count,
        { share: percent(sharp) },
      ),
    ];
  }
  return describeMost(head);
}

function describeShare(what, share, head) {
  const given = { share: percent(share) };
  if (what !== "key") return [gettext(PATTERN_TEXTS[what], given)];
  return inParts(gettext("looks at {token}: {share} of its weight", given), { token: head.keys[head.strongest()] });
}

// The texts one after the other; tokens stay at odd places.
function joinTexts(texts) {
  const whole = [...texts[0]];
  for (const [begin, ...rest] of texts.slice(1)) {
    whole[whole.length - 1] += `; ${begin}`;
    whole.push(...rest);
  }
  return whole;
}

// The keys that get the most, all that read the same.
function describeMost(head) {
  const places = head.keys.map((_, k) => k).sort((one, other) => head.total(other) - head.total(one));
  const read = places.map(k => [percent(head.total(k)), percent(head.share(k))]);
  const tied = places.filter((_, i) => String(read[i]) === String(read[0])).map(k => head.keys[k]);
  const best = read[0][1];
  if (tied.length > MAX_NAMED_KEYS) {
    return [
      ngettext(
        "follows no single pattern: {count} token gets the most, {share} on average",
        "follows no single pattern: {count} tokens get the most, {share} each on average",
        tied.length,
        { share: best },
      ),
    ];
  }
  const [first, second, third] = tied;
  return inParts(gettext(STRONGEST_KEY_TEXTS[tied.length - 1], { share: best }), { first, second, third });
}
