// Texts of any script: cut between what is read as one letter, and run the way they are written. Which way that is,
// headlight/graphemes.py decides by the same rules.
//
// A sentence written from right to left runs so wherever its tokens stand in a row: as words, and as the columns of a map,
// the first at the right. Rows of a map and the lists of the line view run down in any case. Letters join only within a
// token, since a token is shown as what it is; nothing is added to what can be copied.

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });
// The blocks that the Unicode bidirectional algorithm keeps for scripts written from right to left.
const TO_THE_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
// [SOS], </s>, <0xD7>, >>heb<<, __he__: no words of the text.
const SPECIAL_NAME = /^\u2581?(\[.+\]|<.+>|>>.+<<|__.+__)$/;

const graphemes = text => Array.from(GRAPHEMES.segment(text), ({ segment }) => segment);

// A text, or as much of it as fits into so many pixels and an ellipsis; never less than its first letter.
function cutTo(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  const letters = graphemes(text),
    short = count => letters.slice(0, count).join("") + "\u2026";
  let [least, most] = [1, letters.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (pen.measureText(short(middle)).width <= room) least = middle;
    else most = middle - 1;
  }
  return short(least);
}

// For each letter whether it runs to the left. Digits and punctuation have no direction of their own.
const strong = text => (text.match(/\p{L}/gu) ?? []).map(letter => TO_THE_LEFT.test(letter));

// Whether a sentence of these tokens runs from right to left: most of its letters do. The first would not tell, since a
// sentence may begin with a Latin name.
function rightToLeft(labels) {
  const letters = labels.filter(label => !SPECIAL_NAME.test(label)).flatMap(strong);
  return 2 * letters.filter(Boolean).length > letters.length;
}

const directionOf = labels => (rightToLeft(labels) ? "rtl" : "ltr");

// Of one token: as its first letter runs, and where it has none, as its sentence does.
const direction = (label, rtl = false) => ((strong(label)[0] ?? rtl) ? "rtl" : "ltr");

// For the middle of a sentence in English, whose order neither changes then.
const isolated = text => (strong(text).includes(true) ? `\u2068${text}\u2069` : text);

// A token on a canvas, cut to its room.
function write(context, label, rtl, room, x, y) {
  context.direction = direction(label, rtl);
  context.fillText(cutTo(context, label, room), x, y);
  context.direction = "ltr";
}
