// Draw the row: a bar over each word, which together are 100 %.

const MIN_BAR_PIXELS = 26; // with less the words stand below each other,
const MIN_UPRIGHT_PIXELS = 48; // and with less than this they are tilted
const USUAL_TOP_PERCENT = 60; // where no bar needs more

function askRow(element, posed, onGuess, guess) {
  const count = posed.labels.length;
  let bars = guess ? guess.slice() : Array(count).fill(0),
    most = topOf(bars);
  const rest = el("span", { role: "status" }),
    given = el("b"),
    meter = el("u", {}, given);
  const out = el("button", { type: "button", class: "link" }, gettext("Share it out"));
  const head = el("div", { class: "meter" }, rest, meter, out);
  const rtl = rightToLeft(posed.labels);
  const sliders = posed.labels.map((label, at) => {
    const bar = el("i"),
      value = el("small"),
      track = el("div", { class: "track" }, bar, value);
    const node = el("div", { class: "bar-of", dir: "ltr" }, track, barLabel(label, rtl));
    track.setAttribute("role", "slider");
    track.tabIndex = 0;
    for (const [name, text] of Object.entries({
      label: gettext("{word}, {rank} word", { word: label, rank: ordinal(at + 1) }),
      valuemin: 0,
      valuemax: 100,
    }))
      track.setAttribute(`aria-${name}`, text);
    if (label === posed.query) node.classList.add("asking");
    return { node, track, bar, value };
  });
  const show = () => {
    const total = Math.round(bars.reduce((a, b) => a + b, 0)),
      left = 100 - total;
    rest.textContent = left ? gettext("{number}\u00a0% still to give", { number: left }) : gettext("100\u00a0% given");
    given.style.width = `${total}%`;
    out.hidden = !left;
    sliders.forEach(({ node, track, bar, value }, at) => {
      node.classList.toggle("none", !bars[at]);
      bar.style.setProperty("--share", `${(100 * Math.min(bars[at], most)) / most}%`);
      value.style.setProperty("--share", `${(100 * Math.min(bars[at], most)) / most}%`);
      value.textContent = bars[at] ? `${bars[at]}` : "";
      track.setAttribute("aria-valuenow", bars[at]);
      track.setAttribute("aria-valuetext", gettext("{number} per cent, {left} to give", { number: bars[at], left }));
    });
    scaled(axis, most);
    onGuess(left ? null : bars.slice());
  };
  const axis = el("div", { class: "axis muted", "aria-hidden": "true", dir: "ltr" }),
    stage = el("div", { class: "bars", dir: directionOf(posed.labels) }, axis, ...sliders.map(({ node }) => node));
  stage.style.setProperty("--count", columnsOf(posed));
  sliders.forEach(({ track }, at) => {
    let before = null;
    const drag = event => {
      const box = track.getBoundingClientRect(),
        upright = !stage.classList.contains("listed");
      const share = upright ? (box.bottom - event.clientY) / box.height : (event.clientX - box.left) / box.width;
      bars = withBar(before, at, Math.round(share * most));
      show();
    };
    track.onpointerdown = event => {
      before = bars.slice();
      track.setPointerCapture(event.pointerId);
      track.focus();
      event.preventDefault();
      drag(event);
    };
    track.onpointermove = event => before && drag(event);
    track.onpointerup = track.onpointercancel = () => {
      before = null;
      most = topOf(bars);
      show();
    };
    track.onkeydown = event => {
      const by = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -100, End: 100 }[event.key];
      const to = stepOf(event, rtl);
      if (!by && !to) return;
      event.preventDefault();
      event.stopPropagation();
      if (by) {
        bars = withBar(bars, at, bars[at] + by);
        most = topOf(bars);
        show();
      } else {
        sliders[at + to]?.track.focus();
      }
    };
  });
  out.onclick = () => {
    bars = sharedOut(bars);
    most = topOf(bars);
    show();
    sliders[0].track.focus();
  };
  const how = el(
    "div",
    { class: "muted how" },
    gettext("Drag a bar, or use the arrow keys. When all is given, a bar takes from the others."),
  );
  element.replaceChildren(ofWhich(posed), head, how, stage, matrix(posed, null));
  fitted(stage, columnsOf(posed));
  show();
}

function tellRow(element, posed, truth, guess, tally) {
  const its = truth.answer,
    mean = tally?.mean ?? null,
    most = topOf([...its, ...(guess ?? []), ...(mean ?? [])]);
  const axis = el("div", { class: "axis muted", "aria-hidden": "true", dir: "ltr" }),
    stage = el("div", { class: "bars told", role: "list", dir: directionOf(posed.labels) }, axis),
    rtl = rightToLeft(posed.labels);
  scaled(axis, most);
  stage.style.setProperty("--count", columnsOf(posed));
  posed.labels.forEach((label, at) => {
    const track = el("div", { class: "track" });
    const bar = (name, value, spread = null) => {
      const node = el(
        "div",
        { class: name },
        el("i"),
        el("small", {}, Math.round(value) ? `${Math.round(value)}` : ""),
      );
      node.classList.toggle("none", !Math.round(value));
      node.style.setProperty("--share", `${(100 * value) / most}%`);
      if (spread !== null) {
        node.append(el("s"));
        node.style.setProperty("--spread", `${(100 * spread) / most}%`);
      }
      track.append(node);
    };
    if (guess) bar("mine", guess[at]);
    if (mean) bar("class", mean[at], tally.spread?.[at] ?? 0);
    bar("its", its[at]);
    const node = el("div", { class: "bar-of", role: "listitem", dir: "ltr" }, track, barLabel(label, rtl));
    if (label === posed.query) node.classList.add("asking");
    if (guess) {
      const apart = Math.round(guess[at]) - Math.round(its[at]);
      const text = apart > 0 ? `+${apart}` : apart < 0 ? `${MINUS}${-apart}` : "0";
      const told = el("span", { class: apart > 0 ? "apart over" : apart < 0 ? "apart under" : "apart" }, text);
      told.style.setProperty("--how", `${Math.min(60, Math.abs(apart) * 2)}%`);
      node.append(told);
    }
    node.setAttribute(
      "aria-label",
      [
        label,
        guess && gettext("you {number}", { number: Math.round(guess[at]) }),
        gettext("the head {number} per cent", { number: Math.round(its[at]) }),
      ]
        .filter(Boolean)
        .join(", "),
    );
    stage.append(node);
  });
  const apart = guess
    ? el("div", { class: "muted how" }, gettext("In the coloured fields: yours less the head\u2019s."))
    : "";
  element.replaceChildren(
    ofWhich(posed),
    legend(guess, tally, gettext("what you drew"), gettext("what the head does")),
    apart,
    stage,
    matrix(posed, its),
  );
  fitted(stage, columnsOf(posed));
}

const barLabel = (label, rtl) => el("span", { class: "label", dir: direction(label, rtl) }, label);

// As many columns as the picture below has, so that a bar stands over its own: a masked row looks at the first few.
const columnsOf = ({ labels, picture }) => Math.max(labels.length, picture?.columns.length ?? 0);

const topOf = bars => (Math.max(...bars) > USUAL_TOP_PERCENT ? 100 : USUAL_TOP_PERCENT);

function scaled(axis, most) {
  const marks = most === 100 ? [0, 50, 100] : [0, 20, 40, 60];
  axis.replaceChildren(
    ...marks.map(mark => {
      const node = el("span", {}, mark === most ? percentSign(mark) : `${mark}`);
      node.style.bottom = `${(100 * mark) / most}%`;
      return node;
    }),
  );
}

// The bars with that one at `value`. Where they would be more than 100 % the others give, each by its size.
function withBar(bars, at, value) {
  const mine = clamp(value, 0, 100),
    others = bars.reduce((sum, bar, i) => (i === at ? sum : sum + bar), 0);
  if (mine + others <= 100) return bars.map((bar, i) => (i === at ? mine : bar));
  const left = wholes(
    bars.map((bar, i) => (i === at ? 0 : (bar * (100 - mine)) / others)),
    100 - mine,
  );
  return left.map((bar, i) => (i === at ? mine : bar));
}

// What is still to give, given to the bars by their size; where there are none, to all alike.
function sharedOut(bars) {
  const given = bars.reduce((a, b) => a + b, 0);
  return wholes(
    bars.map(bar => (given ? (bar * 100) / given : 100 / bars.length)),
    100,
  );
}

// Whole numbers near the given ones that sum to `total`: the largest remainders are rounded up.
function wholes(values, total) {
  const floors = values.map(Math.floor),
    missing = total - floors.reduce((a, b) => a + b, 0);
  const largest = values.map((value, i) => [value - floors[i], i]).toSorted((a, b) => b[0] - a[0] || a[1] - b[1]);
  for (const [, i] of largest.slice(0, missing)) floors[i]++;
  return floors;
}

// Words that have no room beside each other are tilted; where even that has none they stand below each other.
function fitted(stage, count) {
  const fit = () => {
    const wide = (stage.clientWidth - 72) / count;
    stage.classList.toggle("listed", stage.clientWidth > 0 && wide < MIN_BAR_PIXELS);
    stage.classList.toggle("tilted", wide >= MIN_BAR_PIXELS && wide < MIN_UPRIGHT_PIXELS);
  };
  new ResizeObserver(fit).observe(stage);
  fit();
}
