// The tokenizers that models of ours have (transformer/tokenizers.py): byte pair encoding, words, or characters, as their
// tokenizer.json describes them.

const SPACE = "\u2581";
const SPECIALS = ["[PAD]", "[UNK]", "[SOS]", "[EOS]"];
// What the tokenizers library's Punctuation cuts off: ASCII's, and all that Unicode calls punctuation.
const PUNCTUATION = /[!-/:-@[-`{-~\p{P}]/u;
const BYTE = /^<0x([0-9A-F]{2})>$/;

export class Tokenizer {
  constructor(content) {
    const { model, cut } = content;
    this.kind = model.type === "BPE" ? "bpe" : cut === "Split" ? "characters" : "words";
    this.ids = new Map(Object.entries(model.vocab));
    this.pieces = [];
    for (const [piece, id] of this.ids) this.pieces[id] = piece;
    this.unknown = this.ids.get(SPECIALS[1]);
    this.special = new Set(SPECIALS.map(name => this.ids.get(name)));
    this.inBytes = !!model.byte_fallback;
    this.ranks = new Map((model.merges ?? []).map(([left, right], rank) => [`${left} ${right}`, rank]));
    this.known = new Map(); // word to ids
  }

  // The ids of a text, without special tokens around it.
  encode(text) {
    const normal = text
      .replace(/\p{Surrogate}/gu, "?") // half of a pair is no character
      .normalize("NFC")
      .replace(/[\p{White_Space}\u2581]+/gu, " ")
      .replace(/^ | $/g, "");
    if (!normal) return [];
    if (this.kind === "characters") return Array.from(normal, letter => this.ids.get(letter) ?? this.unknown);
    const words = (SPACE + normal.replaceAll(" ", SPACE)).split(/(?=\u2581)/u);
    const parts = words.flatMap(word => (this.kind === "bpe" ? cutPunctuation(word) : cutWords(word)));
    const ids = parts.flatMap(part => this.ofPart(part));
    return ids.map(id => (this.special.has(id) ? this.unknown : id));
  }

  ofPart(part) {
    if (this.kind === "words") return [this.ids.get(part) ?? this.unknown];
    if (!this.known.has(part)) {
      if (this.known.size > 10_000) this.known.clear();
      this.known.set(part, this.merged(part));
    }
    return this.known.get(part);
  }

  // Byte pair encoding (Sennrich et al. 2016): of all neighbours, those whose merge was learned first become one.
  merged(part) {
    const symbols = this.symbols(part);
    for (;;) {
      let best = Infinity,
        at = -1;
      for (let i = 0; i + 1 < symbols.length; i++) {
        const rank = this.ranks.get(`${symbols[i]} ${symbols[i + 1]}`) ?? Infinity;
        if (rank < best) [best, at] = [rank, i];
      }
      if (at < 0) break;
      symbols.splice(at, 2, symbols[at] + symbols[at + 1]);
    }
    return symbols.map(symbol => this.ids.get(symbol));
  }

  // A character that is not in the vocabulary becomes its bytes, or, with those beside it, one unknown token.
  symbols(part) {
    const symbols = [];
    for (const letter of part) {
      if (this.ids.has(letter)) symbols.push(letter);
      else if (this.inBytes) symbols.push(...bytesOf(letter));
      else if (symbols.at(-1) !== SPECIALS[1]) symbols.push(SPECIALS[1]);
    }
    return symbols;
  }

  // The text of ids; special tokens are left out.
  decode(ids) {
    const pieces = ids.filter(id => !this.special.has(id)).map(id => this.pieces[id]);
    const text = this.inBytes ? joined(pieces) : pieces.join("");
    return text.replaceAll(SPACE, " ").split(/\s+/u).filter(Boolean).join(" ");
  }

  // What people see of a token.
  label(id) {
    return this.pieces[id].replaceAll(" ", SPACE);
  }
}

// The tokens of a sentence, as people see them.
export const describeTokens = (tokenizer, ids) => ({
  ids,
  labels: ids.map(id => tokenizer.label(id)),
  special: ids.map(id => tokenizer.special.has(id)),
});

const bytesOf = letter =>
  Array.from(new TextEncoder().encode(letter), byte => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`);

function cutPunctuation(word) {
  const parts = [];
  let inWord = false;
  for (const letter of word) {
    const alone = PUNCTUATION.test(letter);
    if (alone || !inWord) parts.push(letter);
    else parts[parts.length - 1] += letter;
    inWord = !alone;
  }
  return parts;
}

const cutWords = word =>
  word.match(/\u2581?(?:[\p{L}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]+|[^\p{L}\p{M}\p{Nd}\p{Pc}\u2581])/gu) ?? [];

// Bytes that stand together are the characters that they spell, as the library's ByteFallback decodes them: each is
// U+FFFD where they spell none.
function joined(pieces) {
  let text = "",
    bytes = [];
  const spell = () => {
    if (!bytes.length) return;
    try {
      text += new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
    } catch {
      text += "\ufffd".repeat(bytes.length);
    }
    bytes = [];
  };
  for (const piece of pieces) {
    const byte = BYTE.exec(piece);
    if (byte) bytes.push(parseInt(byte[1], 16));
    else {
      spell();
      text += piece;
    }
  }
  spell();
  return text;
}
