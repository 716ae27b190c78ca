// The page: a sentence, its translation, and below them every head, one of them large with its lines, or the search that
// wrote the translation, step by step; and lessons (web_lessons.js). All is computed in a worker (headlight/web/js/); the
// views are those of the app.
//
// Beside this script stands MODEL_BLOCK, the id of the data block with the model.

const KIND_NAMES = ["encoder", "decoder", "cross"],
  PAGE_NAMES = ["attention", "decoding", "lessons"],
  PAGE_TITLES = [translatable("Every head"), translatable("Step by step"), translatable("Lessons")],
  MAX_NAMED_WORDS = 3,
  MAX_TEXT_CHARACTERS = 5000, // letters; a model says by itself how many tokens it reads
  SPACE_MARK = "\u2581",
  UNSURE = 0.5; // below it a token was guessed rather than known
const CAUTION_TEXT = gettext("Attention shows where a head looked, not why a word was chosen."),
  OFFLINE = gettext("Works offline. Nothing is sent anywhere.");

// ---- words that the model never read (headlight/analysis/typical.py) ---------------------------------

const WORDS = /[\p{L}\p{Nl}\p{No}]+/gu;
const folded = word => word.toLowerCase().replaceAll("\u00df", "ss");

function unreadWords(text, translation, known) {
  const copied = new Set((translation.match(WORDS) ?? []).map(folded));
  const fresh = (text.match(WORDS) ?? []).filter(word => !known.has(folded(word)) && !copied.has(folded(word)));
  return [...new Set(fresh)];
}

// What to say of a translation that the model is unsure of, in parts of text and elements; or null.
function noticeOf(text, translation, logProb, { card, words }) {
  const typical = card.typical;
  if (typeof typical?.log_prob_per_token !== "number") return null;
  const guessed =
    words.size && logProb < typical.unread_log_prob_per_token ? unreadWords(text, translation, words) : [];
  if (guessed.length) {
    const named = guessed.slice(0, MAX_NAMED_WORDS),
      more = guessed.length - named.length,
      items = [...named, ...(more ? [gettext("{number} more", { number: more })] : [])],
      list = new Intl.ListFormat(MESSAGES.language === "en" ? "en-GB" : MESSAGES.language).formatToParts(items);
    let left = named.length; // what follows them, "2 more", is no word of the sentence
    const unread = list.map(({ type, value }) => (type === "element" && left-- > 0 ? el("b", {}, value) : value));
    return inParts(gettext("The model has never read {words}; it will guess."), { words: unread }).flat();
  }
  if (logProb >= typical.log_prob_per_token) return null;
  return [gettext("This sentence is unlike those that the model learned from, so its translation may be wrong.")];
}

// ---- one translation, as the views take it ----------------------------------------------------------

const SUBSCRIPTS = "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089";

// Labels that occur more than once are numbered.
function numbered(labels) {
  const times = new Map(),
    taken = new Set(labels),
    number = new Map();
  for (const label of labels) times.set(label, (times.get(label) ?? 0) + 1);
  return labels.map(label => {
    let name = label;
    while (times.get(label) > 1 && taken.has(name)) {
      number.set(label, (number.get(label) ?? 0) + 1);
      name = label + String(number.get(label)).replace(/\d/g, digit => SUBSCRIPTS[digit]);
    }
    taken.add(name);
    return name;
  });
}

class Trace {
  /** @type {any} */ source;
  /** @type {any} */ target;
  patterns;
  lookAhead;
  logProbs;
  translation;
  text;
  made = {};
  firsts = {};

  constructor(answer) {
    Object.assign(this, answer);
  }

  // The tokens at both axes of a kind, [from, to) of their sentence.
  axes(kind) {
    const { source, target } = this,
      part = ({ labels, special }, from = 0, to = undefined) => ({
        labels: labels.slice(from, to),
        special: special.slice(from, to),
      }),
      whole = part(source),
      read = part(target, 0, -1),
      written = part(target, 1);
    if (kind === "encoder") return { rows: whole, columns: whole, reads: null };
    return { rows: written, columns: kind === "cross" ? whole : read, reads: read };
  }

  of(kind) {
    return (this.made[kind] ??= this.overview(kind));
  }

  overview(kind) {
    const { shape, data } = this.patterns[kind],
      [layers, heads, queries, keys] = shape,
      { rows, columns, reads } = this.axes(kind),
      size = queries * keys,
      masked = new Uint8Array(size);
    if (kind === "decoder" && !this.lookAhead) {
      for (let q = 0; q < queries; q++) for (let k = q + 1; k < keys; k++) masked[q * keys + k] = 1;
    }
    const labels = numbered(columns.labels),
      patterns = Array.from({ length: layers * heads }, (_, n) => data.subarray(n * size, (n + 1) * size));
    const texts = describeHeads(patterns, masked, columns.special, labels, kind),
      byLayer = values => Array.from({ length: layers }, (_, l) => values.slice(l * heads, (l + 1) * heads));
    const { thumb, ...thumbs } = thumbsOf(data, layers * heads, [queries, keys], masked, 1);
    const header = {
      layers,
      heads,
      queries,
      keys,
      rtl: rightToLeft(labels),
      thumb,
      scale: "fixed",
      peak: 1,
      captions: byLayer(texts),
      off: byLayer(patterns.map(pattern => (pattern.some(weight => weight) ? "" : "off"))),
      rows: numbered(rows.labels),
      columns: labels,
      rows_read: reads && reads.labels,
      given: null,
    };
    return { header, arrays: { ...thumbs, masked } };
  }

  layer(kind, layer) {
    const { shape, data } = this.patterns[kind],
      size = shape[1] * shape[2] * shape[3];
    return data.subarray(layer * size, (layer + 1) * size);
  }

  head(kind, layer, head) {
    const { shape } = this.patterns[kind],
      size = shape[2] * shape[3];
    return this.layer(kind, layer).subarray(head * size, (head + 1) * size);
  }

  // The layer and head of a kind to open first: as headlight/analysis/layout.py chooses it.
  first(kind) {
    return (this.firsts[kind] ??= this.narrowest(kind));
  }

  narrowest(kind) {
    const { header, arrays } = this.of(kind),
      { layers, heads } = header,
      patterns = Array.from({ length: layers * heads }, (_, n) => this.head(kind, Math.floor(n / heads), n % heads)),
      best = narrowestHead(patterns, arrays.masked, this.axes(kind).columns.special);
    return [Math.floor(best / heads), best % heads];
  }
}

// ---- the search, as the player takes it ----------------------------------------------------------------

const SIZES = [1, 2, 3, 5]; // of the beam; 1 is greedy

// The ids that lead to the answer of the model numbered so, and then `id`.
function idsThrough({ nodes, candidates }, answer, id) {
  const ids = [id];
  for (let node = nodes.answer.indexOf(answer); node > 0; node = nodes.parent[node]) {
    ids.unshift(candidates.id[candidates.node.indexOf(node)]);
  }
  return ids;
}

// What the page and a gallery say of the model below everything.
const aboutModel = (name, { title, parameters }) =>
  gettext("{model}, {parameters}. Its weights have 10 bits; all is computed in this browser.", {
    model: title ?? name,
    parameters: parameters ?? "",
  });

// What the worker says of an error: a message with its values; null where it is none that people can mend.
const errorText = error => error && gettext(error.message, error.values);

// ---- what the address says ---------------------------------------------------------------------------

const CHANGE = /^(encoder|decoder|cross)\.(\d{1,3})\.(\d{1,3})$/;

// As the app spells it (ui/attention/view.py, ui/decoding/view.py), behind "#"; `page` stands in the app's path.
function viewIn(query) {
  const kind = KIND_NAMES.includes(query.get("kind")) ? query.get("kind") : "cross";
  return {
    text: query.get("text")?.slice(0, MAX_TEXT_CHARACTERS) ?? null,
    kind,
    ...headIn(query),
    off: (query.get("changes") ?? "").split(",").filter(change => CHANGE.test(change)),
    page: PAGE_NAMES.includes(query.get("page")) ? query.get("page") : "attention",
    lesson: query.get("lesson"),
    step: query.get("step"),
    at: wholeFrom1(query.get("step")), // of the search
    pruned: query.get("pruned") !== "0",
    future: query.get("future") !== "0",
    under: query.get("under") in UNDER ? query.get("under") : "total",
    done: query.get("done"),
    size:
      query.get("strategy") === "greedy"
        ? 1
        : SIZES.includes(Number(query.get("size")))
          ? Number(query.get("size"))
          : 3,
    forced: [],
  };
}

// ---- the page ----------------------------------------------------------------------------------------

class App {
  asked = 0; // the id of the answer that is waited for
  trace = null;
  found = null; // the search that the player shows
  lessons = null; // where the file has some
  views = null;
  facts = null;

  // `sheet` is what stands around it: of the page, or of a figure.
  constructor(body, engine, sheet) {
    this.engine = engine;
    this.sheet = sheet;
    this.view = viewIn(sheet.query());
    this.input = el("input", {
      id: "sentence",
      type: "text",
      maxlength: MAX_TEXT_CHARACTERS,
      autocomplete: "off",
      spellcheck: "false",
    });
    this.label = el("label", { for: "sentence" }, gettext("Type a sentence"));
    this.examples = el("div", { class: "examples", role: "group", "aria-label": gettext("Examples") });
    this.written = el("div", {
      class: "written",
      "aria-live": sheet.apart ? "off" : "polite",
      "aria-labelledby": "written-label",
    });
    this.writtenLabel = el("div", { class: "label", id: "written-label" }, gettext("Its translation"));
    this.notice = el("p", { class: "notice", role: "status" });
    this.heads = el("div", { class: "switches" });
    this.place = el(sheet.tag, {});
    this.pages = new Chips(gettext("What to look at"), at => this.turn(PAGE_NAMES[at]));
    this.sizes = new Chips(gettext("How the next token is chosen"), at => this.search({ size: SIZES[at], forced: [] }));
    this.branch = el("p", { class: "branch", role: "status" });
    this.steps = el("div", { class: "hl" });
    this.exports = new ExportMenu(() => this.exported());
    sheet.redraw = () => this.redraw();
    this.typed = this.sentence();
    sheet.append(this.top(), this.typed, this.place, this.foot());
    this.turned();
    sheet.open();
    this.input.oninput = () => {
      this.written.ariaLive = "polite"; // of many figures, those in which somebody types
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.ask(), 350);
    };
    this.input.onkeydown = event => {
      if (event.key === "Enter") this.ask();
    };
    sheet.onAddress(() => this.follow());
    onWidth(body, () => this.views?.draw());
    this.say(gettext("Opening the model\u2026"));
    engine.facts.then(
      facts => this.opened(facts),
      error => this.say(error.message),
    );
  }

  top() {
    const tools = el("div", { class: "tools" }, this.sheet.theme);
    if (location.protocol.startsWith("http") && !document.getElementById(MODEL_BLOCK)?.dataset.file) {
      const saved = { class: "plain", href: location.pathname, download: "headlight.html" },
        save = el("a", saved, gettext("Save this page"));
      tools.prepend(save);
    }
    const pages = el("nav", { class: "hl pages", "aria-label": gettext("Pages") }, this.pages.node);
    return el("header", {}, el("h1", {}, "Headlight"), pages, el("p", { class: "claim" }, OFFLINE), tools);
  }

  sentence() {
    const typed = el("div", {}, this.label, this.input, this.examples, this.notice);
    return el("section", { class: "say" }, typed, el("div", {}, this.writtenLabel, this.written));
  }

  foot() {
    return (this.about = el("footer", {}));
  }

  redraw() {
    this.views?.draw();
    if (this.found && this.view.page === "decoding") this.play();
    if (this.view.page === "lessons") this.lessons?.draw();
  }

  // In the place of the translation.
  say(text) {
    this.written.replaceChildren(el("p", { class: "says" }, text));
  }

  opened({ config, name, card, words, lessons }) {
    if (lessons?.length) {
      const compute = (named, step, act) => this.compute(named, step, act),
        go = ({ lesson, step }) => this.turn("lessons", { lesson, step });
      this.lessons = new WebLessons(lessons, name, compute, go);
    }
    this.facts = { config, name, card, words: new Set(words) };
    this.view.off = this.view.off.filter(change => this.exists(change));
    const { source, target, examples } = card;
    if (source) this.label.textContent = gettext("Type a sentence in {language}", { language: source });
    this.writtenLabel.textContent = target
      ? gettext("The model writes {language}; below each token, its probability in per cent", { language: target })
      : gettext("The model writes; below each token, its probability in per cent");
    this.about.textContent = aboutModel(name, card);
    this.examples.replaceChildren(
      ...examples.slice(0, 3).map(({ text, why }) =>
        clickButton(
          { title: why },
          () => {
            this.input.value = text;
            this.ask();
          },
          text,
        ),
      ),
    );
    this.input.value = this.view.text ?? examples[0]?.text ?? "";
    this.show();
  }

  ask() {
    clearTimeout(this.timer);
    const text = this.input.value.trim();
    if (!this.facts) return;
    if (!text) {
      this.asked = 0;
      this.say(gettext("Type a sentence, and the model translates it while you watch."));
      this.notice.replaceChildren();
      return;
    }
    if (text !== this.view.text)
      Object.assign(this.view, { forced: [], at: this.view.text === null ? this.view.at : null });
    this.view.text = text;
    this.address();
    this.written.classList.add("waiting");
    this.request({ text, off: this.off });
  }

  request(message) {
    this.asked = this.engine.ask(this, message);
  }

  // Whether the model has a head that an address names.
  exists(change) {
    const [, kind, layer, head] = CHANGE.exec(change),
      { n_layers: layers, n_heads: heads } = this.facts.config[kind === "encoder" ? kind : "decoder"];
    return +layer >= 1 && +layer <= layers && +head >= 1 && +head <= heads;
  }

  // The heads that are off, as the worker calls them.
  get off() {
    return this.view.off.map(change => {
      const [, kind, layer, head] = CHANGE.exec(change);
      return `${kind} ${Number(layer) - 1} ${Number(head) - 1}`;
    });
  }

  answered(answer) {
    if (answer.id !== this.asked) return;
    this.written.classList.remove("waiting");
    if (this.computed?.id === answer.id) {
      this.computed.act(answer.values, errorText(answer.error));
      return;
    }
    if (answer.search) {
      this.found = answer.search;
      this.play();
      return;
    }
    if (!answer.patterns) {
      if (!answer.error) console.error(answer.detail);
      this.say(
        errorText(answer.error) ?? gettext("This sentence could not be translated. Change it, or load the page again."),
      );
      return;
    }
    this.trace = new Trace(answer);
    this.tell();
    this.show();
  }

  // The page that was chosen, of the sentence that was translated.
  show() {
    this.turned();
    if (this.view.page === "lessons") {
      if (!this.lessons.node.isConnected) {
        this.place.replaceChildren(this.lessons.node);
        scrollTo(0, 0); // a link to a lesson stands far below
      }
      this.lessons.show(this.view);
    } else if (!this.trace || this.trace.text !== this.input.value.trim()) this.ask();
    else if (this.view.page === "decoding") this.search({});
    else this.draw();
  }

  turned() {
    if (this.facts && !this.lessons && this.view.page === "lessons") this.view.page = "attention";
    this.pages.show(
      PAGE_TITLES.slice(0, this.lessons ? 3 : 2).map(title => gettext(title)),
      PAGE_NAMES.indexOf(this.view.page) % (this.lessons ? 3 : 2),
    );
    this.typed.hidden = !!this.lessons && this.view.page === "lessons";
  }

  turn(page, changes = {}) {
    Object.assign(this.view, { page, done: null }, changes);
    this.address();
    this.turned();
    if (this.facts) this.show();
  }

  // Asks the worker for what a step of a lesson names; a small model of which it tells is opened when it is first needed.
  async compute(expressions, { base, models }, act) {
    const computed = { act, id: 0 };
    this.computed = computed;
    this.asked = 0;
    try {
      for (const name of models) await this.engine.open(`${MODEL_BLOCK}-${name}`);
    } catch (error) {
      act(null, error instanceof NotFetched ? error.message : DAMAGED);
      return;
    }
    if (this.computed !== computed || this.asked) return; // something else was asked meanwhile
    this.request({ compute: expressions, base });
    computed.id = this.asked;
  }

  // ---- step by step -------------------------------------------------------------------------------------

  search(changes) {
    if (Object.keys(changes).length) this.view.at = null; // another search
    Object.assign(this.view, changes);
    this.address();
    const { size, forced } = this.view,
      strategy = size === 1 ? "greedy" : "beam";
    this.sizes.show(
      SIZES.map(n => (n === 1 ? gettext("Greedy") : gettext("Beam of {size}", { size: n }))),
      SIZES.indexOf(size),
    );
    this.request({ text: this.trace.text, off: this.off, strategy, size, forced });
  }

  play() {
    const { header, arrays } = this.found,
      chosen = this.view.layer !== null && this.view.head !== null,
      [layer, head] = chosen ? this.withinDecoder() : this.trace.first("cross"),
      end = header.hypotheses[0].node,
      begun = this.view.forced.length;
    let node = end;
    const step = this.view.at === null ? Math.max(1, begun) : this.view.at + 1;
    while (header.nodes.step[node] > step) node = header.nodes.parent[node];
    const { pruned, under, future } = this.view,
      start = { id: this.asked, node, end, layer, head, chosen, pruned, under, future, apart: this.sheet.apart };
    const language = this.facts.card.source ?? gettext("source"),
      data = { header: { ...header, start, language, source: numbered(header.source) }, arrays };
    this.branching();
    this.place.replaceChildren(
      el("div", { class: "hl" }, labelled(gettext("Next token"), this.sizes.node)),
      this.branch,
      el("div", { class: "search" }, this.steps),
    );
    mountPlayer(this.steps, data, (name, pick) => {
      if (name === "pick" && "id" in pick) this.search({ forced: idsThrough(header, pick.answer, pick.id) });
      if (name === "shown") this.stepped(pick, header);
    });
  }

  // The head that the address names, or the last one where the decoder has fewer.
  withinDecoder() {
    const { layers, heads } = this.trace.of("cross").header;
    return [Math.min(this.view.layer, layers - 1), Math.min(this.view.head, heads - 1)];
  }

  // The reader moved in the search: a link opens it there.
  stepped({ node, end, layer, head, pruned, under, future }, { nodes, hypotheses }) {
    const at = end === hypotheses[0].node ? nodes.step[node] - 1 : null;
    Object.assign(this.view, { at, pruned, under, future }, layer === null ? {} : { layer, head });
    this.address();
  }

  // What the reader changed is said, and can be taken back: a token chosen in the model's place, and heads that are off.
  branching() {
    const { forced } = this.view,
      back = this.button(gettext("Let it choose again"), () => this.search({ forced: [] })),
      said = gettext("You chose the token of step {step}; the model goes on from there.", { step: forced.length });
    this.branch.replaceChildren(...(forced.length ? [said, " ", back] : []), ...this.headsOff());
  }

  exported() {
    const { views, trace, facts, view } = this;
    return { views, trace, model: { name: facts.name, ...facts.card }, off: view.off };
  }

  button(text, act) {
    return clickButton({ class: "plain" }, act, text);
  }

  switchOff(heads) {
    this.view.off = heads;
    this.ask();
  }

  // How many heads are off, and what switches them on again; nothing where all are on.
  headsOff() {
    const { length } = this.view.off,
      count = ngettext("{count} head is off", "{count} heads are off", length);
    return length ? [el("span", {}, count), this.button(gettext("All on"), () => this.switchOff([]))] : [];
  }

  // ---- every head ---------------------------------------------------------------------------------------

  // The translation's tokens, each with the model's probability; and what makes it doubtful.
  tell() {
    const { target, logProbs, translation, text } = this.trace,
      labels = target.labels.slice(1),
      rtl = rightToLeft(labels);
    this.written.dir = directionOf(labels);
    this.written.replaceChildren(
      ...labels.map((label, i) => {
        const p = Math.exp(logProbs[i]),
          bar = el("i", { "aria-hidden": "true" }),
          share = el("small", {}, percent(p).replace(/\s?%/, ""));
        bar.style.width = `${100 * p}%`;
        const starts = label.startsWith(SPACE_MARK) || target.special[i + 1];
        const kind = `token${starts ? " starts" : ""}${target.special[i + 1] ? " special" : ""}${p < UNSURE ? " guessed" : ""}`;
        const word = label.slice(label.startsWith(SPACE_MARK) && label.length > 1 ? 1 : 0);
        return el("span", { class: kind }, el("b", { dir: direction(label, rtl) }, word), el("u", {}, bar), share);
      }),
    );
    const perToken = logProbs.reduce((sum, value) => sum + value, 0) / logProbs.length,
      notice = this.view.off.length ? null : noticeOf(text, translation, perToken, this.facts);
    this.notice.replaceChildren(...(notice ?? []));
  }

  draw() {
    const { kind } = this.view,
      { header } = this.trace.of(kind),
      first = this.trace.first(kind),
      within = (asked, count, other) => (asked !== null && asked < count ? asked : other),
      layer = within(this.view.layer, header.layers, first[0]),
      head = within(this.view.head, header.heads, first[1]);
    if (!this.views) {
      this.views = new Views(this.trace, KIND_NAMES, [kind, layer, head], CAUTION_TEXT);
      this.views.chose = () => this.chosen();
      this.views.bar.append(this.heads, this.exports.node);
    }
    this.place.replaceChildren(this.views.bar, this.views.main, ...(this.lessons ? [this.lessons.strip()] : []));
    this.views.source = this.trace;
    this.views.choose(kind, layer, head);
    this.switches();
  }

  chosen() {
    const { kind, layer, head } = this.views;
    Object.assign(this.view, { kind, layer, head });
    this.address();
    this.switches();
  }

  // The chosen head can be switched off, and all that are off switched on again.
  switches() {
    const { kind, layer, head } = this.views,
      here = `${kind}.${layer + 1}.${head + 1}`,
      { off } = this.view,
      isOff = off.includes(here);
    const one = isOff
      ? this.button(gettext("Switch this head on"), () => this.switchOff(off.filter(other => other !== here)))
      : this.button(gettext("Switch this head off"), () => this.switchOff([...off, here]));
    this.heads.replaceChildren(one, ...this.headsOff());
  }

  address() {
    const { text, kind, layer, head, off, page, size, lesson, step, at, pruned, future, under } = this.view;
    if (page === "lessons") {
      const named = Object.entries({ page, lesson, step }).filter(([, value]) => value);
      this.sheet.address(new URLSearchParams(named));
      return;
    }
    const query = new URLSearchParams({ text: text ?? this.input.value });
    if (kind !== "cross") query.set("kind", kind);
    if (layer !== null) query.set("layer", String(layer + 1));
    if (head !== null) query.set("head", String(head + 1));
    if (off.length) query.set("changes", off.join(","));
    if (page === "decoding") {
      query.set("page", page);
      if (at) query.set("step", String(at + 1));
      if (!pruned) query.set("pruned", "0");
      if (!future) query.set("future", "0");
      if (under !== "total") query.set("under", under);
      if (size === 1) query.set("strategy", "greedy");
      else query.set("size", String(size));
    }
    this.sheet.address(query);
  }

  // A link to another view of this page was followed.
  follow() {
    if (!this.facts) return;
    const { lesson, step } = this.view;
    this.view = viewIn(this.sheet.query());
    if (this.view.page !== "lessons") Object.assign(this.view, { lesson, step }); // to go on with
    this.view.off = this.view.off.filter(change => this.exists(change));
    this.input.value = this.view.text ?? this.input.value;
    this.sheet.open();
    if (this.view.page === "lessons") this.show();
    else this.ask();
  }
}
