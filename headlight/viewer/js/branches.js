// Branches of a decode side by side: where each parts, what it wrote instead, what it looked at, and its scores.
//
// Header: cards [{ branch, forced, word, heads, step, tokens, differs, shared, log_prob, score, ended, same }],
//   the first as it was; source [labels], normalises, decoder_heads { layers, heads }, shown [layer, head],
//   only null or the [layer, head] whose patterns are here, reveal (a branch) or null.
// Arrays: for card n, p<n> of its tokens, decoder<n> [L, H, T, T], cross<n> [L, H, T, S].
// Emits "pick" { close: branch }.

class Branches {
  /** @type {Theme} */ theme;
  key;
  header;

  constructor(root) {
    this.root = root;
    this.tooltip = new Tooltip(root);
    this.grid = el("div", { class: "branches" });
    root.append(this.grid);
    this.onHead = event => {
      this.chosen = [event.detail.layer, event.detail.head];
      this.cards?.forEach(card => card.look());
    };
    window.addEventListener("headlight:head", this.onHead);
    this.stop = onWidth(root, () => this.fit());
  }

  dispose() {
    window.removeEventListener("headlight:head", this.onHead);
    this.stop();
  }

  // After a step the server sends the same again, which changes nothing.
  update({ header, arrays }) {
    const { reveal, ...rest } = header,
      key = JSON.stringify(rest),
      theme = themeOf(this.root);
    if (key !== this.key || theme.name !== this.theme.name) {
      Object.assign(this, { key, theme, header, arrays });
      this.draw();
    }
    const revealed = this.cards.find(card => reveal && card.card.branch === reveal);
    revealed?.node.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  draw() {
    const { header } = this;
    const at = new Map(this.cards?.map(card => [card.key, card.at]));
    this.chosen = header.shown;
    this.cards = header.cards.map((card, n) => new Card(this, card, n, at.get(`${card.branch} ${card.tokens}`)));
    this.grid.replaceChildren(...this.cards.map(card => card.node));
    this.fit();
    window.dispatchEvent(new CustomEvent("headlight:head-asked"));
  }

  fit() {
    this.grid.classList.toggle("narrow", this.root.clientWidth < 720);
  }
}

class Card {
  card;
  view;
  number;

  constructor(view, card, number, at) {
    Object.assign(this, { view, card, number, at: at ?? Math.min(card.step, card.tokens.length - 1) });
    this.key = `${card.branch} ${card.tokens}`;
    this.p = view.arrays[`p${number}`];
    this.words = new WordRow(view.tooltip);
    this.own = new WordRow(view.tooltip);
    this.heading = el("div", { class: "over" });
    this.back = el("div", { class: "over" });
    this.reads = ["[SOS]", ...card.tokens].slice(0, card.tokens.length);
    this.node = el(
      "article",
      { class: "card" },
      this.top(),
      this.sentence(),
      this.heading,
      this.words.node,
      this.back,
      this.own.node,
      this.numbers(),
    );
    this.node.dataset.branch = card.branch ?? "";
    this.look();
  }

  top() {
    const { branch, forced, word, heads, step, tokens } = this.card,
      { source } = this.view.header;
    const asked =
      forced !== null
        ? gettext("With {token}", { token: quoted(tokens[forced]) })
        : word !== null
          ? gettext("Looking at {token}", { token: quoted(source[word]) })
          : gettext("Original");
    const how =
      forced !== null
        ? gettext("forced at step {step}", { step: step + 1 })
        : word !== null
          ? gettext("{heads}, at step {step}", { heads, step: step + 1 })
          : gettext("chosen by the model");
    const line = el(
      "div",
      { class: "bar" },
      el("h3", {}, asked),
      el("span", { class: branch ? "accent" : "muted" }, how),
    );
    if (branch) {
      line.append(
        button("close", gettext("Close: {name}", { name: asked }), () => this.view.emit("pick", { close: branch })),
      );
    }
    return line;
  }

  // Each token over a bar as long as its probability; a click shows what it looked at.
  sentence() {
    const { tokens, differs, shared, forced, same } = this.card,
      rtl = rightToLeft(tokens);
    this.spans = tokens.map((label, t) => {
      const bar = el("i", { class: "line" }, el("i"));
      bar.firstChild.style.width = `${this.p[t] * 100}%`;
      const kind = t === forced ? "forced" : t < shared ? "same" : differs[t] ? "differs" : "again";
      return clickButton(
        {
          class: `token-choice ${kind}`,
          title: gettext("probability {number}", { number: weightText(this.p[t]) }),
          dir: direction(label, rtl),
        },
        () => {
          this.at = t;
          this.look();
        },
        label,
        bar,
      );
    });
    const note = same ? [el("p", { class: "muted" }, gettext("The translation is the same."))] : [];
    return el(
      "div",
      { class: "whole" },
      el(
        "div",
        { class: "sentence", role: "group", "aria-label": gettext("What it wrote"), dir: directionOf(tokens) },
        ...this.spans,
      ),
      ...note,
    );
  }

  look() {
    const { view, at, card } = this,
      { decoder_heads: heads, only, source } = view.header,
      T = card.tokens.length;
    const of = (name, keys) =>
      weightsOf(view.arrays[name + this.number], heads, only, view.chosen, 0, { size: T, at }, keys);
    const theme = view.theme,
      where = placeName(view.chosen[0], view.chosen[1]),
      label = card.tokens[at];
    this.spans.forEach((span, t) => {
      span.classList.toggle("now", t === at);
      span.setAttribute("aria-pressed", t === at);
    });
    const writing = gettext("writing {token}, {head}", { token: quoted(label), head: where });
    this.heading.replaceChildren(el("span", {}, bold(gettext("Cross")), " ", el("span", { class: "muted" }, writing)));
    this.back.replaceChildren(
      el(
        "span",
        {},
        bold(gettext("Decoder")),
        " ",
        el("span", { class: "muted" }, gettext("to the tokens written so far")),
      ),
    );
    this.words.update({
      labels: source,
      weights: of("cross", source.length),
      theme,
      text: gettext("{token}, cross-attention, {head}", { token: label, head: where }),
    });
    this.own.update({
      labels: this.reads,
      weights: of("decoder", T),
      written: at + 1,
      theme,
      text: gettext("{token}, decoder attention, {head}", { token: label, head: where }),
    });
  }

  numbers() {
    const { log_prob, score, branch, tokens, ended } = this.card,
      first = this.view.header.cards[0];
    const { normalises } = this.view.header;
    const number = (name, text) => el("div", {}, el("span", { class: "muted" }, name), el("b", {}, text));
    const plus = value => (value >= 1e-6 ? "+" : "") + signed(value);
    const parts = [number(gettext("log-probability"), gettext("{number} nats", { number: signed(log_prob) }))];
    if (normalises) parts.push(number(gettext("score"), signed(score)));
    if (branch)
      parts.push(
        number(
          normalises ? gettext("change in score") : gettext("change in log-probability"),
          plus(normalises ? score - first.score : log_prob - first.log_prob),
        ),
      );
    const length = tokens.length;
    parts.push(number(gettext("length"), ended ? `${length}` : gettext("{length}, cut at the limit", { length })));
    return el("div", { class: "numbers" }, ...parts);
  }
}

const mountBranches = (root, payload, emit) => mounted(Branches, root, payload, emit);
