// The little Markdown of lessons as elements: paragraphs, lists, **strong**, *emphasis*, `code`, and what explains a term
// (headlight/glossary.py): [text](#term-name "meaning").

function prose(text) {
  const node = el("div", { class: "prose" });
  for (const block of text.trim().split(/\n\s*\n/)) {
    const lines = block.split("\n").map(line => line.trim());
    if (lines.every(line => /^[-*] /.test(line)))
      node.append(el("ul", {}, ...lines.map(line => el("li", {}, ...spans(line.slice(2))))));
    else if (block.trim()) node.append(el("p", {}, ...spans(lines.join(" "))));
  }
  return node;
}

const SPAN = /(\*\*.+?\*\*|\*[^*\s](?:[^*]*[^*\s])?\*|`[^`]+`|\[[^\]]+\]\(#term-[\w-]+ "(?:\\.|[^"\\])*"\))/;

function spans(text) {
  return text.split(SPAN).map((part, i) => {
    if (i % 2 === 0) return part;
    if (part.startsWith("**")) return el("strong", {}, ...spans(part.slice(2, -2)));
    if (part.startsWith("[")) {
      const [, term, href, title] = part.match(/^\[(.+?)\]\((\S+) "(.*)"\)$/);
      return el("a", { href, title: title.replace(/\\(.)/g, "$1") }, term);
    }
    return part.startsWith("*") ? el("em", {}, part.slice(1, -1)) : el("code", {}, part.slice(1, -1));
  });
}

// What a wrong choice betrays.
function misconception({ belief, correction }) {
  return el(
    "div",
    { class: "betrays" },
    el("p", {}, bold(gettext("Many believe: \u201c{belief}\u201d", { belief }))),
    el("p", {}, correction),
  );
}

// What the wrong answers of a class suggest that it believes: [{ belief, correction, count }], the most frequent first.
function beliefs(misconceptions) {
  if (!misconceptions.length) return [];
  const items = misconceptions.map(({ belief, correction, count }) =>
    el("li", {}, bold(`${count}`), el("div", {}, belief, el("p", { class: "muted" }, correction))),
  );
  return [
    el("h3", { class: "beliefs" }, gettext("What wrong answers suggest")),
    el("ul", { class: "beliefs" }, ...items),
  ];
}
