// Steps through a decode: the sentence as a scrubber, what could come next, what was looked at, and the tree.
//
// Header: start { id, node, end, layer, head, chosen, pruned, under, future, apart (whether it takes no keys from elsewhere) }, strategy { name, searches, draws, size, ... }, normalises, bound,
//   vocabulary, steps T, top (how many candidates are shown in any case), never [ids], source [labels], language, strings, nodes { parent, step, name, outcome, answer, lane, lane_unpruned },
//   candidates { first, id, name, node } of all answers, found [{ node, text, ended, at_best }] best first,
//   encoder_heads and decoder_heads { layers, heads }, hides (whether what is not written yet is masked), only null or the [layer, head] whose patterns are here.
// Arrays: log_prob, total, score of the nodes; probability, seen of the candidates (seen: as the search has it); encoder
//   [L, H, S, S], decoder [answers, L, H, T], cross [answers, L, H, S].
// Emits "shown" { node, end, layer, head, pruned, under, future, at } some time after the last move (no layer and head
//   where nobody chose one), and "pick"
//   { answer, id } or { answer, word, heads } for a branch.
//
// For whoever measures: the root's .player has data-step, each .stop of the scrubber too, and the chosen one
// aria-current="step"; they change in the same task as everything that the step shows.

const STEP_MS = 900,
  REPORT_DELAY_MS = 400,
  NARROW_PLAYER = 720,
  ANYWHERE = /^(Arrow|h$)/i; // keys that also act where nothing has the focus

const DOES_AT_STEP = {
  writes: translatable("Step {step}: it writes {token}"),
  considers: translatable("Step {step}: it considers {token}"),
};
const DOES_AT_STEP_OF = {
  writes: translatable("Step {step} of {last}: it writes {token}"),
  considers: translatable("Step {step} of {last}: it considers {token}"),
};

class Player {
  /** @type {Emit} */ emit;
  /** @type {Theme} */ theme;
  header;
  content;
  arrays;

  constructor(root) {
    this.root = root;
    this.beam = new BeamView(
      root,
      node => this.choose(node),
      () => this.tell(),
    );
    this.looks = new Looks(
      new Tooltip(root),
      () => this.tell(),
      pick => this.emit("pick", pick),
    );
    this.candidates = new Candidates(pick => this.emit("pick", pick));
    this.hypotheses = new Hypotheses(end => {
      this.follow(end);
      this.go(this.step);
    });
    this.build();
    root.append(this.box);
    this.box.onkeydown = event => this.key(event);
    this.anywhere = event =>
      onNothing(event) && !this.header?.start.apart && ANYWHERE.test(keyOf(event)) && this.key(event);
    this.asked = () => this.header && shareHead(this.looks.layer, this.looks.head);
    document.addEventListener("keydown", this.anywhere);
    window.addEventListener("headlight:head-asked", this.asked);
    this.stop = onWidth(root, () => this.resize());
  }

  dispose() {
    clearInterval(this.timer);
    clearTimeout(this.telling);
    document.removeEventListener("keydown", this.anywhere);
    window.removeEventListener("headlight:head-asked", this.asked);
    this.stop();
  }

  build() {
    this.first = button("first", gettext("First step (Home)"), () => this.go(1));
    this.back = button("back", gettext("Step back"), () => this.go(this.step - 1));
    this.playButton = button("play", gettext("Play"), () => this.toggle());
    this.forward = button("forward", gettext("Step forward"), () => this.go(this.step + 1));
    this.playButton.classList.add("play");
    this.playing();
    const name = gettext("Step");
    this.track = el("div", { class: "track", role: "slider", tabindex: 0, "aria-label": name, "aria-valuemin": 1 });
    const buttons = el("div", { class: "buttons" }, this.first, this.back, this.playButton, this.forward);
    this.ahead = el(
      "span",
      { class: "stop ahead", title: gettext("What comes next") },
      el("span", { class: "text" }, "\u2026"),
      el("i", { class: "line" }),
      el("i", { class: "knob" }),
    );
    this.ahead.onclick = () => this.go(this.step + 1);
    this.hides = el("input", { type: "checkbox", "aria-keyshortcuts": "h" });
    this.hides.onchange = () => this.showFuture(!this.hides.checked);
    const hides = el("label", { class: "hides" }, this.hides, gettext("Hide what comes later"), el("kbd", {}, "H"));
    hides.title = gettext("Words, masked tokens and hypotheses appear when their step is reached (H)");
    const scrub = el("div", { class: "scrub" }, buttons, el("div", { class: "rail" }, this.track), hides);
    this.title = el("h2", { "aria-live": "polite" });
    this.before = el("p", { class: "sub" });
    this.facts = el("p", { class: "facts" });
    this.fate = el("p", { class: "fate" });
    const { node, legend } = this.candidates;
    const left = el(
      "section",
      { class: "choice", "aria-label": gettext("What comes next") },
      this.title,
      this.before,
      node,
      legend,
      this.facts,
      this.fate,
    );
    const hero = el("div", { class: "hero" }, left, this.looks.node);
    this.box = el("div", { class: "player" }, scrub, hero, this.beam.node, this.hypotheses.node);
  }

  // ---- data ----------------------------------------------------------------------------------------

  // After a step the server sends the same again, which changes nothing.
  update({ header, arrays }) {
    const content = `${header.start.id} ${header.only}`,
      theme = themeOf(this.root);
    if (content === this.content && theme.name === this.theme.name) return;
    Object.assign(this, { content, theme, header, arrays });
    const { nodes, strings, normalises } = header,
      text = places => places.map(place => strings[place]);
    const { log_prob, total, score } = arrays;
    const ended = new Set(header.hypotheses.flatMap(sentence => (sentence.ended ? [sentence.node] : [])));
    this.nodes = { ...nodes, label: text(nodes.name), log_prob, total, score, normalises, ended };
    this.names = text(header.candidates.name);
    if (header.start.id !== this.started) this.open(header.start);
    this.narrow();
    this.beam.update(header, this.nodes);
    this.hypotheses.update(header, this.nodes);
    this.show();
    shareHead(this.looks.layer, this.looks.head);
  }

  open(start) {
    this.pause();
    clearTimeout(this.telling);
    this.started = start.id;
    this.future = start.future;
    this.hides.checked = !start.future;
    this.looks.open(start);
    this.beam.open(start);
    this.follow(start.end);
    this.step = this.nodes.step[start.node];
  }

  // The hypothesis that ends in this node is the one that is stepped through.
  follow(end) {
    this.end = end;
    this.path = [];
    for (let i = end; i >= 0; i = this.nodes.parent[i]) this.path.unshift(i);
    this.labels = this.path.map(i => this.nodes.label[i]);
    this.reads = this.labels.slice(0, -1);
    this.rtl = rightToLeft(this.labels);
    this.track.dir = directionOf(this.labels);
    this.back.title = this.rtl ? gettext("Step back (right arrow)") : gettext("Step back (left arrow)");
    this.forward.title = this.rtl ? gettext("Step forward (left arrow)") : gettext("Step forward (right arrow)");
    for (const button of [this.back, this.forward]) button.ariaLabel = button.title;
    this.chips();
  }

  // The best end that a node leads to; a node comes after its parent.
  endOf(node) {
    const { parent, outcome, score } = this.nodes;
    const better = (i, j) => outcome[i] < outcome[j] || (outcome[i] === outcome[j] && score[i] > score[j]);
    for (;;) {
      let best = -1;
      for (let i = node + 1; i < parent.length; i++) if (parent[i] === node && (best < 0 || better(i, best))) best = i;
      if (best < 0) return node;
      node = best;
    }
  }

  // The answer of the model that a step chose from.
  get answer() {
    return this.nodes.answer[this.path[this.step - 1]];
  }

  // The last step that may be seen: every one, once the winner is whole.
  get horizon() {
    const over = this.end === this.header.hypotheses[0].node && this.step === this.last;
    return this.future || over ? Infinity : this.step;
  }

  // ---- moves ---------------------------------------------------------------------------------------

  get last() {
    return this.path.length - 1;
  }

  showFuture(future) {
    this.future = future;
    this.hides.checked = !future;
    this.show();
    this.tell();
  }

  go(step) {
    this.step = clamp(step, 1, this.last);
    this.show();
    this.tell();
  }

  choose(node) {
    if (!this.path.includes(node)) this.follow(this.endOf(node));
    this.go(this.nodes.step[node]);
  }

  toggle() {
    if (this.timer) this.pause();
    else this.play();
  }

  play() {
    if (this.step >= this.last) this.go(1);
    this.timer = setInterval(() => {
      this.go(this.step + 1);
      if (this.step >= this.last) this.pause();
    }, STEP_MS);
    this.playing();
  }

  pause() {
    if (!this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
    this.playing();
    this.tell();
  }

  playing() {
    this.playButton.replaceChildren(icon(this.timer ? "pause" : "play", 24));
    this.playButton.setAttribute("aria-label", this.timer ? gettext("Pause") : gettext("Play"));
    this.playButton.title = this.timer ? gettext("Pause (space)") : gettext("Play (space)");
  }

  // The address need not follow every step: it is updated when the reader rests.
  tell() {
    clearTimeout(this.telling);
    if (this.timer) return;
    this.telling = setTimeout(() => {
      const { pruned, under } = this.beam,
        { chosen, layer, head } = this.looks;
      const looked = chosen ? { layer, head } : { layer: null, head: null };
      // The time makes each telling new: the address may have changed by itself since the last.
      const place = { node: this.path[this.step], end: this.end, future: this.future };
      this.emit("shown", { ...place, ...looked, pruned, under, at: Date.now() });
    }, REPORT_DELAY_MS);
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches?.("select, input:not([type=checkbox])"))
      return;
    if (event.key === "Escape" && this.looks.edit) return this.looks.point(false);
    const onButton = event.target.closest?.("button, [role=button]");
    const moves = {
      Home: () => this.go(1),
      End: () => this.go(this.last),
      " ": onButton ? null : () => this.toggle(),
      h: () => this.showFuture(!this.future),
    };
    const { key } = event,
      by = stepOf(event, this.rtl),
      move = by ? () => this.go(this.step + by) : moves[key.length === 1 ? key.toLowerCase() : key];
    if (!move) return;
    event.preventDefault();
    move();
  }

  // ---- drawing -------------------------------------------------------------------------------------

  narrow() {
    this.box.classList.toggle("narrow", this.root.clientWidth < NARROW_PLAYER);
  }

  resize() {
    if (!this.header) return;
    this.narrow();
    this.beam.resize();
    this.show();
  }

  chips() {
    const stop = (i, step) => {
      const word = el(
        "span",
        {
          class: `text${/^\[[A-Z]+\]$/.test(this.nodes.label[i]) ? " special" : ""}`,
          dir: direction(this.nodes.label[i], this.rtl),
        },
        this.nodes.label[i],
      );
      const node = el(
        "span",
        { class: "stop", "data-step": step },
        word,
        el("i", { class: "line" }),
        el("i", { class: "knob" }),
      );
      node.title = this.nodes.label[i];
      if (step) node.onclick = () => this.go(step);
      return node;
    };
    this.tokens = this.path.map(stop);
    this.seen = null;
  }

  // The words up to the horizon; all that comes after them is one place without a word.
  timeline(horizon) {
    const { tokens, last, step } = this,
      seen = Math.min(tokens.length, horizon + 1),
      more = seen < tokens.length;
    if (seen !== this.seen) this.track.replaceChildren(...tokens.slice(0, seen), ...(more ? [this.ahead] : []));
    this.seen = seen;
    const token = isolated(this.labels[step]),
      spoken =
        horizon < Infinity
          ? gettext("step {step}: {token}", { step, token })
          : gettext("step {step} of {last}: {token}", { step, last, token });
    this.track.setAttribute("aria-valuemax", more ? step + 1 : last);
    this.track.setAttribute("aria-valuenow", step);
    this.track.setAttribute("aria-valuetext", spoken);
  }

  show() {
    const { step, header, arrays, theme, answer, horizon } = this,
      node = this.path[step],
      masked = horizon < this.reads.length ? ["\u2026"] : [],
      reads = horizon < Infinity ? [...this.reads.slice(0, step), ...masked] : this.reads;
    this.box.dataset.step = step;
    this.timeline(horizon);
    this.tokens.forEach((token, s) => {
      token.classList.toggle("past", s < step);
      token.classList.toggle("now", s === step);
      token.ariaCurrent = s === step ? "step" : null;
    });
    this.revealToken(this.tokens[step]);
    // Not `disabled`, which would take the focus away, and the keys with it.
    for (const button of [this.first, this.back]) button.setAttribute("aria-disabled", step === 1);
    this.forward.setAttribute("aria-disabled", step === this.last);
    this.choice(node, horizon);
    this.looks.update({ header, arrays, theme, step, label: this.labels[step], reads, answer });
    this.beam.mark(node, this.path, horizon);
    this.hypotheses.mark(this.end);
    this.hypotheses.node.hidden = horizon < Infinity;
  }

  revealToken(token) {
    const rail = this.track.parentElement,
      left = token.offsetLeft,
      right = left + token.offsetWidth;
    const room = rail.clientWidth,
      seen = left > rail.scrollLeft + 40 && right < rail.scrollLeft + room - 120;
    if (!seen) rail.scrollLeft = left - room / 2;
  }

  choice(node, horizon) {
    const { step } = this,
      label = this.nodes.label[node],
      lost = this.nodes.outcome[node] === 4;
    const values = { step, last: this.last, token: quoted(label) };
    this.title.replaceChildren(
      horizon < Infinity
        ? gettext(lost ? DOES_AT_STEP.considers : DOES_AT_STEP.writes, values)
        : gettext(lost ? DOES_AT_STEP_OF.considers : DOES_AT_STEP_OF.writes, values),
    );
    const begun = this.labels.slice(0, step),
      end = begun.length > 14 ? ["\u2026", ...begun.slice(-13)] : begun;
    this.before.textContent = gettext("after {words}", { words: quoted(end.join(" ")) });
    const { answer } = this,
      { first, id, node: nodes } = this.header.candidates,
      list = [];
    for (let c = first[answer]; c < first[answer + 1]; c++) {
      const there = nodes[c],
        kept = there >= 0 && this.nodes.outcome[there] < 4 && this.header.strategy.searches;
      list.push({
        id: id[c],
        name: this.names[c],
        probability: this.arrays.probability[c],
        seen: this.arrays.seen[c],
        node: there,
        kept,
      });
    }
    const chosen = list.find(candidate => candidate.node === node);
    const shown = list.filter((candidate, rank) => rank < this.header.top || candidate.kept || candidate === chosen);
    this.candidates.update({
      list: shown,
      chosen,
      others: this.header.vocabulary - shown.length,
      strategy: this.header.strategy,
      answer,
      never: this.header.never,
    });
    this.facts.textContent = numbersOf(this.nodes, node).join(" \u00b7 ");
    this.outcome(horizon);
  }

  // What became of the hypothesis, where it is not the best.
  outcome(horizon) {
    const { end } = this,
      { outcome } = this.nodes;
    this.fate.hidden = outcome[end] === 0 || horizon < Infinity;
    if (this.fate.hidden) return;
    const back = clickButton(
      { class: "link" },
      () => this.choose(this.header.hypotheses[0].node),
      gettext("Back to the winner"),
    );
    const words = [
      "",
      gettext("This is another finished hypothesis."),
      gettext("This is a hypothesis that was still live when the search stopped."),
      gettext("This is a hypothesis that was dropped after step {step}.", { step: this.last }),
      gettext("This is a hypothesis that was pruned at step {step}.", { step: this.last }),
    ][outcome[end]];
    this.fate.replaceChildren(`${words} `, back);
  }
}

const mountPlayer = (root, payload, emit) => mounted(Player, root, payload, emit);
