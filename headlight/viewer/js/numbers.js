// Numbers for people, in the reader's language: the counterpart of headlight/formatting.py.

const MINUS = "\u2212";

// A number that JavaScript wrote, with a real minus and the decimal sign of the language.
const minus = text => localized(text.replaceAll("-", MINUS));

// With so many decimals. Zero has no sign.
const fixed = (value, decimals) => minus(value.toFixed(decimals).replace(/^-(?=[0.]+$)/, ""));

const significant = (value, digits) => minus(String(+value.toPrecision(digits)));

// Two digits and a power of ten: "1.7e−16".
const scientific = value => minus(value.toExponential(1).replace("+", ""));

const percentSign = number => gettext("{number}\u00a0%", { number });

// Rounded, but never to nothing or to all where it is neither: as `percent` in headlight/formatting.py.
function percent(share) {
  if (share > 1e-5 && share < 0.005) return gettext("under 1\u00a0%");
  if (share >= 0.995 && share < 1 - 1e-5) return gettext("over 99\u00a0%");
  return percentSign(Math.round(share * 100));
}

// Hundredths, thousandths of a small one, "0" for zero: as `probability_text` in headlight/formatting.py.
function probabilityText(p) {
  if (p === 0) return "0";
  return p < 0.0005 ? localized("<0.001") : fixed(p, p < 0.0095 ? 3 : 2);
}

// Three decimals, or two digits of a smaller weight, written out as people write numbers.
function weightText(value) {
  if (value === 0 || value >= 0.0005) return fixed(value, 3);
  if (value < 1e-6) return gettext("under {number}", { number: localized("0.000001") });
  return fixed(value, 1 - Math.floor(Math.log10(value)));
}

// A share in two decimals; one that would read as nothing says that it is less than that.
const hundredths = share => (share > 0 && share < 0.005 ? localized("<0.01") : fixed(share, 2));

// Two decimals, or two digits of a smaller number, so that none reads as nothing; what is below a millionth is
// rounding. As `signed` in headlight/formatting.py.
function signed(value) {
  const size = Math.abs(value);
  if (size >= 1e-6 && size < 1e-3) return scientific(value);
  return fixed(value, size >= 0.1 || size < 1e-6 ? 2 : size >= 0.01 ? 3 : 4);
}

// The digits that matter: as `brief` in headlight/formatting.py.
function briefly(value) {
  if (Number.isNaN(value)) return "\u2013";
  const size = Math.abs(value);
  if (size >= 1000) return minus(integer(Math.round(value)));
  if (size >= 0.1 || value === 0) return fixed(value, size >= 10 ? 1 : 2);
  return size >= 1e-4 ? significant(value, 2) : scientific(value);
}

// As many digits as help beside a drawing: 0.592, 18.8, 213, and a power of ten where a number would look like 0.
function compact(value, decimals = 2) {
  const size = Math.abs(value);
  if (Number.isInteger(value)) return minus(String(value));
  if (size < 0.5 * 10 ** -decimals) return scientific(value);
  return fixed(value, size >= 99.95 ? 0 : size >= 9.995 ? Math.min(1, decimals) : decimals);
}

// A number in a lesson's texts and questions: as `lesson_number` in headlight/formatting.py.
function lessonNumber(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 100) return minus(String(Math.round(value)));
  return size < 1e-4 ? scientific(value) : significant(value, size < 1 ? 2 : 3);
}

// At an axis: "2.5M", "12k", "5e−5".
function tickText(value) {
  const size = Math.abs(value);
  if (size >= 1e9) return minus((+value.toPrecision(3)).toExponential().replace("+", "")); // as a perplexity that explodes
  if (size >= 1e6) return `${significant(value / 1e6, 3)}M`;
  if (size >= 1000) return `${significant(value / 1000, 3)}k`;
  return size && size < 1e-4 ? minus(value.toExponential(0)) : significant(value, 3);
}

function ordinal(n) {
  if (MESSAGES.language !== "en") return pgettext("ordinal", "{number}th", { number: integer(n) });
  const teen = n % 100 > 10 && n % 100 < 14;
  return n + ((!teen && ["th", "st", "nd", "rd"][n % 10]) || "th");
}

const SMALL_NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split(" ");
const inWords = n => (MESSAGES.language === "en" && SMALL_NUMBERS[n]) || integer(n);
