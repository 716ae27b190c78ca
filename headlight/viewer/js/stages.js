// The nine stages of a head, in their order: what each shows of a key, of the query and as its result, its formula in
// general (one) and with the numbers of the key that is followed (`worked`, one or more lines), and what to say.
//
// `w` is the walk (walk.js), `pen` draws at x, y, w in its place, `open` says whether the stage is the open one.

const ROW = 26;

// A width in n parts with a gap between: [[x, w], ...].
function split(x, width, n, gap = 12) {
  const part = (width - gap * (n - 1)) / n;
  return Array.from({ length: n }, (_, i) => [x + i * (part + gap), part]);
}

function products(w, j) {
  const q = w.arrays.q,
    k = w.row("k", j);
  return Float32Array.from(q, (value, d) => value * k[d]);
}

// Bars of scores left and right of zero: the zero's place and the pixels of one unit.
function axis(values, x, width) {
  const finite = [...values].filter(Number.isFinite),
    low = Math.min(0, ...finite),
    high = Math.max(0, ...finite);
  const unit = width / (high - low || 1);
  return { zero: x - low * unit, unit };
}

function scoreBar(pen, at, value, y, filled = true) {
  const w = Math.max(1.5, Math.abs(value) * at.unit);
  pen.box(value < 0 ? at.zero - w : at.zero, y + 5, w, ROW - 13, filled ? (value < 0 ? "less" : "more") : "outline");
}

function scoreCell(w, pen, value, largest, x, y, width) {
  const colour = signedColour((value / largest) * 0.8, 1, w.theme);
  pen.cell(x, y, width, compact(value), colour);
}

const isFollowed = (w, j) => (j === w.key ? "strong" : "");

// What the scores become: a bar and a number, or hatched where the query may not look.
function scores(w, pen, values, domain, j, x, y, width, open, hidden) {
  if (hidden) {
    pen.hatch(x, y, open ? width - 64 : width);
    if (open) pen.text(x, y, width, `${MINUS}∞`, "muted");
  } else if (open) {
    scoreBar(pen, axis(domain, x, width - 64), values[j], y);
    pen.text(x, y, width, compact(values[j]), isFollowed(w, j));
  } else scoreCell(w, pen, values[j], w.largest(domain), x, y, width);
}

// A token's first vector: its embedding as the model scales it, what is added for its place, and in some models the
// norm of their sum.
function firstVector(w, token, place) {
  const root = w.header.scaled ? [tex.root(tex.name("d"))] : [],
    added = w.arrays.positions ? [tex.op("+"), tex.at("p", place)] : [];
  const sum = [...root, tex.name("E"), tex.op("["), token, tex.op("]"), ...added];
  return w.arrays.embedded ? [tex.name("norm"), tex.op("("), ...sum, tex.op(")")] : sum;
}

// How far a key stands from the query, in words.
function distance(w) {
  const { query } = w.header,
    by = w.key - query;
  return by ? `${Math.abs(by)} ${by < 0 ? "before" : "after"} it` : "the query itself";
}

// What becomes of the scores before the softmax, in the paper's models and in others.
const ADJUSTMENTS = {
  divide: {
    short: "Scale",
    long: "Divide by √d_head",
    brief: () => [tex.op("÷"), tex.root(tex.name("d"))],
    general: () => [tex.over(tex.at("s", tex.name("j")), tex.root(tex.at("d", "head")))],
    title: w => `outline: before, filled: after ÷ ${compact(Math.sqrt(w.header.d_head))}`,
    worked: w => [
      tex.over(tex.number(w.arrays.scores[w.key]), tex.root(tex.number(String(w.header.d_head)))),
      tex.op("="),
      tex.number(w.of("adjusted")[w.key]),
    ],
    words(w) {
      const d = w.header.d_head,
        root = compact(Math.sqrt(d));
      if (w.unadjusted)
        return [
          `Left undivided, the scores spread ${root} times as wide, and the softmax puts the weight on fewer tokens.`,
        ];
      return [
        `A sum of ${d} products is about √${d} = ${root} times as large as one of them. `,
        "Dividing brings the scores back to a size at which the softmax still gives weight to more than one token.",
      ];
    },
  },
  bias: {
    short: "Position",
    long: "Add the position bias",
    brief: () => [tex.op("+"), tex.name("b")],
    general: () => [
      tex.at("s", tex.name("j")),
      tex.op("+"),
      tex.at("b", tex.row(tex.name("j"), tex.op(MINUS), tex.name("t"))),
    ],
    title: () => "outline: before, filled: with the bias of the distance",
    worked: w => [
      tex.number(w.arrays.scores[w.key]),
      tex.op(w.arrays.distance[w.key] < 0 ? MINUS : "+"),
      tex.number(Math.abs(w.arrays.distance[w.key])),
      tex.op("="),
      tex.number(w.of("adjusted")[w.key]),
    ],
    words(w) {
      if (w.unadjusted) return ["Without it the head knows what each token is, but not where it stands."];
      const { head } = w.header,
        bias = bold(compact(w.arrays.distance[w.key]));
      return [
        `Positions come in here: head ${head + 1} has learned a number for each distance, which it adds in every `,
        "layer of the stack. ",
        bold(w.follows),
        ` is ${distance(w)}: that adds `,
        bias,
        ". Nothing is divided, since this model was trained without scaling.",
      ];
    },
  },
  nothing: {
    short: "Scale",
    long: "Not scaled",
    brief: () => [tex.word("none")],
    general: () => [tex.at("s", tex.name("j"))],
    title: () => "the scores pass as they are",
    worked: w => [tex.at("s", w.follows), tex.op("="), tex.number(w.of("adjusted")[w.key])],
    words: () => ["This model was trained without dividing its scores, and its cross-attention knows no positions."],
  },
};

const adjustment = w => ADJUSTMENTS[w.adjusts];

const STAGES = [
  {
    short: "Input",
    long: w => {
      if (w.header.cross) return "Stream and memory";
      if (!w.header.first) return "Residual stream";
      return w.arrays.positions ? "Embedding and position" : "Embedding";
    },
    brief: w => (w.header.first && w.arrays.positions ? [tex.name("e"), tex.op("+"), tex.name("p")] : [tex.name("x")]),
    general: w => {
      const { first, pre, cross } = w.header,
        x = tex.name("x");
      if (cross) return [x, tex.op(","), tex.name("memory")];
      if (!first) return pre ? [tex.name("norm"), tex.op("("), x, tex.op(")")] : [x];
      return [x, tex.op("="), ...firstVector(w, tex.name("t"), tex.name("t"))];
    },
    parts: w => {
      const { first, cross, pre } = w.header,
        whole = cross ? "memory, from the encoder" : first ? "input, x" : "stream, x";
      const summed = [
        ["tokens", "embedding"],
        ["positions", "position"],
        ["embedded", "sum"],
      ].filter(([name]) => first && (w.arrays.positions || w.arrays.embedded) && w.arrays[name]);
      return [...summed, ["stream", whole], ...(pre && !cross ? [["normed", "norm of x"]] : [])];
    },
    titles(w, x, width) {
      const parts = this.parts(w);
      return split(x, width, parts.length).map(([left, wide], i) => [left, wide, parts[i][1]]);
    },
    row(w, pen, j, x, y, width, open) {
      const parts = open ? this.parts(w) : [["stream", w.header.cross ? "memory" : "x"]],
        name = w.header.keys[j];
      split(x, width, parts.length).forEach(([left, wide], i) =>
        pen.strip(left, y, wide, w.row(parts[i][0], j), w.limit(parts[i][0]), `${name}, ${parts[i][1]}`, open),
      );
    },
    query(w, pen, x, y, width, open) {
      const { cross, pre } = w.header,
        parts = [["x", "stream, x"], ...(pre ? [["x_normed", "norm of x"]] : [])];
      if (!open) return pen.strip(x, y, width, w.arrays.x, w.limit("x"), `${w.asks}, stream`, false);
      if (!cross) return this.row(w, pen, w.header.query, x, y, width, true);
      split(x, width, parts.length).forEach(([left, wide], i) => {
        pen.title(left, y - 17, wide, parts[i][1]);
        pen.strip(left, y, wide, w.arrays[parts[i][0]], w.limit(parts[i][0]), `${w.asks}, ${parts[i][1]}`, true);
      });
    },
    worked: w => {
      const { first, cross, query } = w.header,
        x = tex.name("x");
      if (cross || !first) return [[tex.op("‖"), x, tex.op("‖"), tex.op("="), tex.number(lengthOf(w.arrays.x))]];
      return [[x, tex.op("="), ...firstVector(w, tex.word(w.asks), tex.number(String(query)))]];
    },
    scale: w => [
      ...(w.header.cross ? [["memory", w.limit("stream")]] : []),
      ["x", w.limit("x")],
      ...(w.header.pre ? [["norm of x", w.limit("normed")]] : []),
    ],
    words: w => {
      const { first, cross, pre, layer, query, positions, relative, rms } = w.header,
        ask = bold(w.asks),
        norms = rms ? "RMS norm divides it by its root mean square" : "layer norm brings it to mean 0 and variance 1";
      const norm = pre ? ` Before a sublayer reads a vector, ${norms} and applies a learned gain.` : "";
      if (cross)
        return [
          "The query comes from the translation, keys and values from the memory: ",
          ask,
          " is the decoder's vector at this position, each row is the encoder's output for a source token.",
          norm,
        ];
      if (!first)
        return ["The residual stream as layer ", String(layer), " left it: what ", ask, " has gathered so far.", norm];
      if (relative)
        return ["The word says what. Where it stands is not said here: stage 4 adds it to the scores.", norm];
      if (!w.arrays.positions)
        return ["The word says what, and nothing says where: this model adds no positions.", norm];
      const where = {
        sinusoidal: "the sinusoidal encoding says where",
        learned: "the learned vector of its position says where",
        stored: "the stored vector of its position says where",
      }[positions];
      const sum = w.arrays.embedded ? "the norm of their sum" : "their sum";
      return [
        "The word says what, ",
        where,
        ": ",
        ask,
        ` stands at position ${query}, the first being 0. The network reads ${sum}.`,
        norm,
      ];
    },
  },
  {
    short: "q, k, v",
    long: () => "Query, keys, values",
    brief: () => [tex.name("q"), tex.op(","), tex.name("k"), tex.op(","), tex.name("v")],
    general: w => {
      const of = w.header.pre ? [tex.name("norm"), tex.op("("), tex.name("x"), tex.op(")")] : [tex.name("x")];
      return [tex.name("q"), tex.op("="), tex.at("W", "Q"), ...of];
    },
    titles: (w, x, width) => split(x, width, 2).map(([left, wide], i) => [left, wide, ["keys", "values"][i]]),
    row(w, pen, j, x, y, width, open) {
      split(x, width, 2, open ? 12 : 4).forEach(([left, wide], i) =>
        pen.strip(
          left,
          y,
          wide,
          w.row("kv"[i], j),
          w.limit("kv"[i]),
          `${w.header.keys[j]}, ${["key", "value"][i]}`,
          open,
        ),
      );
    },
    query(w, pen, x, y, width, open) {
      const [[left, wide], [right, rest]] = split(x, width, 2);
      pen.strip(left, y, open ? wide : width, w.arrays.q, w.limit("q"), `${w.asks}, query`, open);
      if (open) pen.title(right, y + 5, rest, `q, ${w.header.d_head} numbers`);
    },
    worked: w => {
      const from = letter =>
        w.header.cross && letter !== "Q"
          ? tex.name("m")
          : w.header.pre
            ? tex.row(tex.name("norm"), tex.op("("), tex.name("x"), tex.op(")"))
            : tex.name("x");
      const map = letter => [
        tex.name(letter.toLowerCase()),
        tex.op("="),
        tex.at("W", letter),
        from(letter),
        ...(w.header.biased ? [tex.op("+"), tex.at("b", letter)] : []),
      ];
      return ["Q", "K", "V"].map(map);
    },
    scale: w => [
      ["q and k", w.limit("q")],
      ["v", w.limit("v")],
    ],
    words: w => {
      const { d_model, d_head, cross } = w.header;
      const same = cross
        ? "Three linear maps, one of the query's vector and two of the memory"
        : "Three linear maps of the same vector";
      return [
        `${same}. The query of `,
        bold(w.asks),
        ` asks \u201cwhat am I looking for?\u201d, a key answers \u201cwhat do I offer?\u201d, and a value says `,
        `\u201cwhat do I hand over, if I am chosen?\u201d. `,
        `Each takes ${d_model} numbers to the ${d_head} of this head.`,
      ];
    },
  },
  {
    short: "Scores",
    long: () => "Dot products",
    brief: () => [tex.name("q"), tex.op("·"), tex.name("k")],
    general: () => [tex.at("s", tex.name("j")), tex.op("="), tex.name("q"), tex.op("·"), tex.at("k", tex.name("j"))],
    titles: (w, x, width) => [
      [x, width - 124, "q × k, number by number"],
      [x + width - 110, 110, "their sum", "right"],
    ],
    row(w, pen, j, x, y, width, open) {
      const dots = w.arrays.scores;
      if (!open) return scoreCell(w, pen, dots[j], w.largest(dots), x, y, width);
      pen.strip(x, y, width - 124, products(w, j), w.limit("product"), `q × k of ${w.header.keys[j]}`, true);
      scoreBar(pen, axis(dots, x + width - 112, 52), dots[j], y);
      pen.text(x, y, width, compact(dots[j]), isFollowed(w, j));
    },
    query(w, pen, x, y, width, open) {
      if (open) pen.strip(x, y, width - 124, w.arrays.q, w.limit("q"), `${w.asks}, query`, true);
    },
    worked: w => [
      [tex.name("q"), tex.op("·"), tex.at("k", w.follows), tex.op("="), tex.number(w.arrays.scores[w.key])],
    ],
    scale: w => [["q × k", w.limit("product")]],
    words: w => [
      "Each key is multiplied by the query number by number, and the products are summed. A large sum means that ",
      bold(w.follows),
      " answers what ",
      bold(w.asks),
      " asks.",
    ],
  },
  {
    short: w => adjustment(w).short,
    long: w => adjustment(w).long,
    brief: w => adjustment(w).brief(),
    general: w => (w.unadjusted ? [tex.at("s", tex.name("j"))] : adjustment(w).general()),
    titles: (w, x, width) => [
      [x, width, w.unadjusted ? "switched off: the scores pass as they are" : adjustment(w).title(w)],
    ],
    row(w, pen, j, x, y, width, open) {
      const dots = w.arrays.scores,
        adjusted = w.of("adjusted"),
        moves = w.adjusts !== "nothing" && !w.unadjusted;
      const domain = open ? [...dots, ...adjusted] : adjusted;
      if (open && moves) scoreBar(pen, axis(domain, x, width - 64), dots[j], y, false);
      scores(w, pen, adjusted, domain, j, x, y, width, open, false);
    },
    worked: w => [
      w.unadjusted ? [tex.number(w.arrays.scores[w.key]), tex.word(", left as it is")] : adjustment(w).worked(w),
    ],
    words: w => adjustment(w).words(w),
  },
  {
    short: "Mask",
    long: w => (w.masks ? "Mask the future" : "Mask"),
    brief: w => (w.masks ? [tex.op(`${MINUS}∞`)] : [tex.word("none")]),
    general: w =>
      w.masks && !w.unmasked
        ? [
            tex.at("s", tex.name("j")),
            tex.op("="),
            tex.op(`${MINUS}∞`),
            tex.word(" where "),
            tex.name("j"),
            tex.op(">"),
            tex.name("t"),
          ]
        : [tex.word("nothing is hidden")],
    titles: (w, x, width) => (w.masks && w.unmasked ? [[x, width, "switched off: nothing is hidden"]] : []),
    row(w, pen, j, x, y, width, open) {
      const scaled = w.of("adjusted");
      scores(w, pen, scaled, scaled, j, x, y, width, open, w.hidden(j));
    },
    worked: w => {
      const { query } = w.header,
        score = tex.number(w.of("adjusted")[w.key]),
        name = tex.at("s", w.follows);
      if (!w.masks) return [[name, tex.op("="), score]];
      const place = [
        tex.number(String(w.key)),
        tex.op(w.key > query ? ">" : "≤"),
        tex.number(String(query)),
        tex.op(":"),
      ];
      return [[...place, name, tex.op("="), w.hidden(w.key) ? tex.op(`${MINUS}∞`) : score]];
    },
    words: w => {
      const { kind, query, writes, hides } = w.header,
        ask = bold(w.asks);
      if (kind === "encoder")
        return ["Nothing is hidden here: in the encoder every token may look at the whole sentence."];
      if (kind === "cross") return ["Nothing is hidden here: the translation may look at the whole source."];
      if (!hides)
        return [
          "Nothing is hidden here, although it should be: this model applies no look-ahead mask, so ",
          ask,
          " also sees the tokens that it is still to write.",
        ];
      if (!w.masks) return ["Nothing is hidden here: ", ask, " is the last token, and no token comes later."];
      if (w.unmasked)
        return [
          "Switched off: ",
          ask,
          " now sees the tokens that it is about to write. In training it would learn to copy them.",
        ];
      return [
        "This row reads ",
        ask,
        " and must write ",
        bold(writes[query]),
        ", so every later token is hidden. Hidden is not zero: these cells never enter the sum.",
      ];
    },
  },
  {
    short: "Softmax",
    long: () => "Softmax",
    brief: () => [tex.name("α")],
    general: () => {
      const power = i => tex.sup(tex.name("e"), tex.at("s", tex.name(i)));
      return [
        tex.at("α", tex.name("j")),
        tex.op("="),
        tex.over(power("j"), tex.row(tex.sub(tex.op("∑"), tex.name("i")), power("i"))),
      ];
    },
    titles: (w, x, width) => [
      [x, 20, "0"],
      [x + width - 84, 20, "1", "right"],
    ],
    row(w, pen, j, x, y, width, open) {
      const weight = w.of("weights")[j],
        hidden = w.hidden(j);
      if (hidden) pen.hatch(x, y, open ? width - 64 : width);
      if (!open) return hidden || pen.cell(x, y, width, hundredths(weight), attentionColour(weight, w.theme));
      if (hidden) return pen.text(x, y, width, "masked", "muted");
      pen.box(x, y + 1, width - 64, ROW - 6, "track");
      pen.glow(x, y + 1, Math.max(2, weight * (width - 64)), ROW - 6, weight);
      pen.text(x, y, width, weightText(weight), isFollowed(w, j));
    },
    result: (w, pen, x, y, width, open) =>
      open &&
      pen.text(
        x,
        y,
        width,
        `∑ ${fixed(
          w.of("weights").reduce((a, b) => a + b, 0),
          3,
        )}`,
        "muted",
      ),
    worked: w => {
      const weight = w.of("weights")[w.key],
        score = w.of("adjusted")[w.key],
        e = tex.name("e");
      const power = s => tex.sup(e.cloneNode(true), s);
      if (w.hidden(w.key))
        return [[power(tex.op(`${MINUS}∞`)), tex.op("="), tex.number("0"), tex.word(`: ${w.follows} cannot be seen`)]];
      const below = tex.row(tex.sub(tex.op("∑"), tex.name("i")), power(tex.at("s", tex.name("i"))));
      return [
        [
          tex.at("α", w.follows),
          tex.op("="),
          tex.over(power(tex.number(score)), below),
          tex.op("="),
          tex.number(weightText(weight)),
        ],
      ];
    },
    words: w => {
      const weights = w.of("weights");
      const later = weights.reduce((sum, a, j) => sum + (w.arrays.visible[j] ? 0 : a), 0),
        top = Math.max(...weights);
      if (w.masks && w.unmasked)
        return [
          "Without the mask ",
          bold(percent(later)),
          " goes to tokens that come later, which this row must not know.",
        ];
      if (w.unadjusted)
        return [
          `Without the ${w.adjusts === "bias" ? "bias" : "scaling"} the largest weight is `,
          bold(weightText(top)),
          ` instead of ${weightText(Math.max(...w.real("weights")))}. `,
          w.adjusts === "bias"
            ? "Only the tokens count: the same token gets the same weight wherever it stands."
            : "The more one token takes, the less the others contribute, and the less gradient flows to them.",
        ];
      const share = w.hidden(w.key)
        ? [bold(w.follows), " is hidden from ", bold(w.asks), "."]
        : [bold(w.asks), " gives ", percent(weights[w.key]), " of its attention to ", bold(w.follows), "."];
      return [
        ...share,
        " The visible weights sum to 1. High weight is what the head reads from, not proof of what determines the output.",
      ];
    },
  },
  {
    short: "Values",
    long: () => "Weighted sum of values",
    brief: () => [tex.op("∑"), tex.name("α"), tex.name("v")],
    general: () => [
      tex.name("z"),
      tex.op("="),
      tex.sub(tex.op("∑"), tex.name("j")),
      tex.at("α", tex.name("j")),
      tex.at("v", tex.name("j")),
    ],
    titles: (w, x, width) => [[x + 62, width - 62, `α × v, ${w.header.d_head} numbers`]],
    row(w, pen, j, x, y, width, open) {
      const weight = w.of("weights")[j],
        left = open ? 62 : 0;
      if (w.hidden(j)) return pen.hatch(x + left, y, width - left);
      if (open) pen.text(x, y, 46, `${fixed(weight, 2)} ×`, isFollowed(w, j) || "muted");
      pen.strip(
        x + left,
        y,
        width - left,
        w.row("v", j).map(value => value * weight),
        w.limit("weighted"),
        `${compact(weight, 3)} × value of ${w.header.keys[j]}`,
        open,
      );
    },
    result: (w, pen, x, y, width, open) => {
      const left = open ? 62 : 0;
      if (open) pen.text(x, y, 46, "∑ =", "muted");
      pen.strip(x + left, y, width - left, w.z, w.limit("z"), "z, this head's output", open);
    },
    worked: w => {
      const seen = [...w.of("weights")]
        .map((a, j) => [a, j])
        .filter(([, j]) => !w.hidden(j))
        .sort((a, b) => b[0] - a[0]);
      const terms = seen
        .slice(0, 2)
        .flatMap(([a, j], i) => [
          ...(i ? [tex.op("+")] : []),
          tex.number(fixed(a, 2)),
          tex.op("·"),
          tex.at("v", w.header.keys[j]),
        ]);
      return [[tex.name("z"), tex.op("="), ...terms, ...(seen.length > 2 ? [tex.op("+"), tex.op("…")] : [])]];
    },
    scale: w => [
      ["α × v", w.limit("weighted")],
      ["z", w.limit("z")],
    ],
    words: w => [
      "Each value is multiplied by its weight. Faint rows contribute little",
      ...(w.masks && !w.unmasked ? ["; hatched rows contribute nothing at all"] : []),
      ". Their sum is this head's whole output for ",
      bold(w.asks),
      ".",
    ],
  },
  {
    short: "Join",
    long: () => "Join the heads",
    brief: () => [tex.at("W", "O")],
    general: w => {
      const z = n => tex.at("z", tex.number(n)),
        { heads } = w.header;
      const inside =
        heads === 1
          ? [z("1")]
          : [z("1"), tex.op(";"), ...(heads > 2 ? [tex.op("…"), tex.op(";")] : []), z(String(heads))];
      return [tex.name("o"), tex.op("="), tex.at("W", "O"), tex.op("["), ...inside, tex.op("]")];
    },
    titles: (w, x, width) => {
      const { heads, d_head, d_model } = w.header,
        [left, right] = joined(x, width);
      return [
        [...left, `z of each head, ${heads} × ${d_head}`],
        [...right, `through W_O, ${heads} × ${d_model}`],
      ];
    },
    block(w, pen, x, y, width, height, open) {
      const { heads, d_head, d_model, head, output_biased: biased } = w.header,
        rows = heads + (biased ? 1 : 0);
      const high = Math.min(34, height / rows),
        [left, right] = joined(x, width);
      for (let h = 0; h < heads; h++) {
        const at = y + h * high,
          z = w.of("heads").subarray(h * d_head, (h + 1) * d_head),
          own = h === head ? "strong" : "muted";
        pen.box(open ? x + 16 : x, at + 2, 4, high - 6, "", w.theme.heads[h % 8]);
        if (open) pen.label(x, at + high / 2 - 10, 16, String(h + 1), own);
        const [zx, zw] = open ? left : [x + 8, width - 8];
        pen.strip(zx, at + 1, zw, z, w.limit("z"), `head ${h + 1}, z`, open, high - 4);
        const o = w.of("moved").subarray(h * d_model, (h + 1) * d_model);
        if (open) pen.strip(right[0], at + 1, right[1], o, w.limit("moved"), `what head ${h + 1} adds`, true, high - 4);
      }
      if (!biased || !open) return;
      pen.label(left[0], y + heads * high + high / 2 - 10, left[1], "bias b of W_O", "muted right");
      pen.strip(
        right[0],
        y + heads * high + 1,
        right[1],
        w.arrays.bias,
        w.limit("moved"),
        "the projection's bias",
        true,
        high - 4,
      );
    },
    result: (w, pen, x, y, width, open) => {
      const [left, right] = joined(x, width);
      if (open) pen.text(left[0], y, left[1], "∑ = o", "muted");
      pen.strip(
        open ? right[0] : x,
        y,
        open ? right[1] : width,
        w.of("added"),
        w.limit("moved"),
        "o, what all heads add",
        open,
      );
    },
    worked: w => {
      const { heads, output_biased: biased } = w.header,
        bias = biased ? [tex.op("+"), tex.name("b")] : [],
        o = [tex.name("o"), tex.op("=")];
      if (heads === 1) return [[...o, tex.at("W", "O"), tex.at("z", "1"), ...bias]];
      const term = [tex.sub(tex.name("W"), tex.word("O,h")), tex.at("z", tex.name("h"))];
      return [[...o, tex.sub(tex.op("∑"), tex.name("h")), ...term, ...bias, tex.word(`, h from 1 to ${heads}`)]];
    },
    scale: w => [
      ["z", w.limit("z")],
      ["o", w.limit("moved")],
    ],
    words: w => {
      const { heads, head, d_model, output_biased: biased } = w.header,
        long = values => bold(compact(lengthOf(values)));
      const own = long(w.of("moved").subarray(head * d_model, (head + 1) * d_model)),
        all = long(w.of("added"));
      if (heads === 1)
        return [
          `One matrix takes the head's result to the ${d_model} numbers of the stream, a vector of length `,
          all,
          ".",
        ];
      const others = ` With the other heads${biased ? " and the bias" : ""} the sum has length `;
      return [
        `The ${inWords(heads)} heads' results stand side by side, and one matrix mixes them back to the ${d_model} `,
        `numbers of the stream. Head ${head + 1} adds a vector of length `,
        own,
        ".",
        others,
        all,
        ".",
      ];
    },
  },
  {
    short: w => (w.header.pre ? "Add" : "Add, norm"),
    long: w => (w.header.pre ? "Residual" : "Residual and norm"),
    brief: () => [tex.name("x"), tex.op("+"), tex.name("o")],
    general: w => {
      const sum = [tex.name("x"), tex.op("+"), tex.name("o")];
      return [
        tex.name("y"),
        tex.op("="),
        ...(w.header.pre ? sum : [tex.name("norm"), tex.op("("), ...sum, tex.op(")")]),
      ];
    },
    titles: () => [],
    block(w, pen, x, y, width, height, open) {
      const rows = [
        ["x", w.arrays.x, "x, the stream as it came"],
        ["+ o", w.of("added"), "o, what the heads add"],
      ];
      if (!w.header.pre) rows.push(["x + o", w.of("total"), "x + o, their sum"]);
      rows.forEach(([brief, values, name], i) => {
        const at = y + i * Math.min(72, height / rows.length) + 4;
        pen.title(x, at, width, open ? `${name}, length ${compact(lengthOf(values))}` : brief);
        pen.strip(x, at + 18, width, values, w.limit("x"), name, open);
      });
    },
    result: (w, pen, x, y, width, open) => {
      const { pre } = w.header,
        name = pre ? "y = x + o" : "y = norm(x + o)";
      if (open) pen.title(x, y - 18, width, `${name}, length ${compact(lengthOf(w.of("after")))}`);
      pen.strip(x, y, width, w.of("after"), w.limit(pre ? "x" : "after"), name, open);
    },
    worked: w => {
      const sum = [tex.name("x"), tex.op("+"), tex.name("o")];
      const size = (parts, values) => [tex.op("‖"), ...parts, tex.op("‖"), tex.op("="), tex.number(lengthOf(values))];
      return [size([tex.name("x")], w.arrays.x), size([tex.name("o")], w.of("added")), size(sum, w.of("total"))];
    },
    scale: w => [["x and o", w.limit("x")], ...(w.header.pre ? [] : [["y", w.limit("after")]])],
    words: w => {
      const norm = w.header.pre
        ? ""
        : ` The layer norm then brings it back to length ${compact(lengthOf(w.of("after")))}.`;
      return [
        `The sublayer adds to the stream; it doesn't replace it. The length of the vector of `,
        bold(w.asks),
        ` goes from ${compact(lengthOf(w.arrays.x))} to ${compact(lengthOf(w.of("total")))}.${norm}`,
      ];
    },
  },
];

// The open stage 8 in two: the heads' sums behind their numbers, and what each adds to the stream.
function joined(x, width) {
  const left = Math.round((width - 40) * 0.36);
  return [
    [x + 26, left],
    [x + 40 + left, width - 40 - left],
  ];
}
