// Sentences in the reader's language, as headlight/language.py has them for Python. MESSAGES stands before this file.

// "{count} of {total}", { count: 3, total: 8 } is "3 of 8".
const fillIn = (text, values) => text.replace(/\{(\w+)\}/g, (name, key) => String(values[key] ?? name));

const gettext = (message, values = {}) => fillIn(MESSAGES.texts[message] ?? message, values);

// A word that has several translations: the context says which is meant.
const pgettext = (context, message, values = {}) =>
  fillIn(MESSAGES.texts[`${context}\u0004${message}`] ?? message, values);

function ngettext(singular, plural, count, values = {}) {
  const form = MESSAGES.singular.includes(count) ? 0 : 1;
  return fillIn((MESSAGES.texts[singular] ?? [singular, plural])[form], { count: integer(count), ...values });
}

// The text around its {names}, with nodes in their places: parts of which those at odd places are the nodes.
const inParts = (text, nodes) => text.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? nodes[part] : part));

// For constants: the catalogues get the message, and whoever shows it translates it.
const translatable = message => message;

// A number that toFixed wrote, with the decimal sign of the language.
const localized = text => (MESSAGES.decimal === "." ? text : text.replaceAll(".", MESSAGES.decimal));

const integer = count => count.toLocaleString(MESSAGES.language);
