// The pupils' page: what the class shows, and one answer to it. It follows the class by itself, and comes back by itself
// after the network, the phone or the server was away.
//
// `page` is the body of classroom/page.html.

function pupilPage(page) {
  const AT = page.dataset.at,
    ROOT = /** @type {HTMLElement} */ (document.querySelector(".pupil")),
    MAIN = document.getElementById("main"),
    PLACE = document.getElementById("place"),
    CODE = document.getElementById("code"),
    SPOKEN = document.getElementById("spoken"),
    CONNECTION = document.getElementById("connection");
  const SILENCE = 25000; // ms without a word from the server, which says something every ten seconds
  const DARK = window.matchMedia("(prefers-color-scheme: dark)");

  let screen_ = null, // what the class shows
    mine = { guess: null, sure: null }, // what this pupil has answered to it, and how sure of it
    sent = null, // the guess that is on its way
    sentSure = null, // and how sure
    changing = false, // an answer that was given is being changed
    problem = "", // why the last answer was not taken
    sheet = null, // what is being answered: its nodes outlast a lock, with what was picked on them and not sent
    source = null,
    heard = 0;

  // ---- the connection ----------------------------------------------------------------------------------

  async function ask(path, body) {
    const response = await fetch(`${AT}${path}?lang=${MESSAGES.language}`, {
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
    });
    const said = await response.json().catch(() => ({}));
    return { status: response.status, error: said.error ?? "", said };
  }

  const pause = ms => new Promise(done => setTimeout(done, ms));

  async function begin() {
    const code = new URLSearchParams(location.search).get("code");
    try {
      const { status, error, said } = code ? await ask("", { code }) : await ask("/me");
      if (status < 500) return status === 200 && said.code ? follow() : drawForm(error, code ?? "");
    } catch {
      // the network is away
    }
    CONNECTION.textContent = gettext("Trying to reach the class.");
    await pause(1000 + 1000 * Math.random());
    return begin();
  }

  function follow() {
    source?.close();
    heard = Date.now();
    source = new EventSource(`${AT}/stream?lang=${MESSAGES.language}`);
    source.onopen = () => {
      CONNECTION.textContent = "";
    };
    source.onmessage = event => {
      heard = Date.now();
      CONNECTION.textContent = "";
      take(JSON.parse(event.data));
    };
    source.addEventListener("heartbeat", () => {
      heard = Date.now();
    });
    source.onerror = () => {
      CONNECTION.textContent = gettext("The connection is lost; it comes back by itself.");
      if (source.readyState === EventSource.CLOSED) again();
    };
  }

  // The browser gives up where a server answers anything but a stream: ask why, and go on where it was only away.
  async function again() {
    source?.close();
    source = null;
    await pause(500 + 1000 * Math.random()); // not all at once
    try {
      const { status, said } = await ask("/me");
      if (status === 200) return said.code ? follow() : drawEnd();
    } catch {
      // the network is away
    }
    return again();
  }

  setInterval(() => {
    if (source && Date.now() - heard > SILENCE) {
      CONNECTION.textContent = gettext("The connection is lost; it comes back by itself.");
      again();
    }
  }, 5000);

  function take(news) {
    if (news.phase === "ended") {
      source.close();
      source = null;
      return drawEnd();
    }
    const { shown } = news;
    const same = screen_ !== null && screen_.step === shown.step && screen_.round === shown.round;
    // What was answered after this was written stays: the server had not read it yet.
    const known = news.mine.guess !== null,
      guess = known ? news.mine.guess : same ? mine.guess : null,
      sure = known ? (news.mine.sure ?? null) : same ? mine.sure : null;
    const drawn = same && screen_.phase === shown.phase && screen_.look?.number === shown.look?.number;
    mine = { ...news.mine, guess, sure };
    if (!same) {
      changing = false;
      problem = "";
      sent = null;
      sheet = null;
    }
    screen_ = shown;
    if (!drawn || shown.phase === "told") draw(!same);
  }

  // Tries until the class has taken it or has gone on.
  async function send(guess, sure) {
    const { step, round } = screen_;
    sent = guess;
    sentSure = sure;
    problem = "";
    draw();
    for (
      let wait = 300;
      sent === guess && screen_.step === step && screen_.round === round;
      wait = Math.min(2 * wait, 4000)
    ) {
      try {
        const { status, error } = await ask("/answer", { step, round, guess, sure });
        if (sent !== guess) return;
        if (status === 200) {
          mine.guess = guess;
          mine.sure = sure;
          sent = null;
          changing = false;
          sheet = null;
          return draw(true);
        }
        if (status < 500 && status !== 429) {
          sent = null;
          problem = error;
          return draw();
        }
      } catch {
        CONNECTION.textContent = gettext("The connection is lost; your answer is sent when it is back.");
      }
      await pause(wait * (0.7 + 0.6 * Math.random()));
    }
  }

  // ---- what is seen ------------------------------------------------------------------------------------

  function drawForm(error, code = "") {
    PLACE.textContent = "Headlight";
    CODE.textContent = "";
    CONNECTION.textContent = "";
    const input = el("input", {
      id: "typed",
      inputmode: "numeric",
      autocomplete: "off",
      maxlength: "12",
      required: "",
    });
    input.value = code;
    const label = el("label", { for: "typed" }, gettext("The class\u2019s code")),
      said = el("p", { role: "alert" }, error),
      button = el("button", { class: "send" }, gettext("Join"));
    const form = el("form", {}, el("h1", {}, gettext("Join a class")), label, input, said, button);
    form.onsubmit = async event => {
      event.preventDefault();
      button.disabled = true;
      try {
        const answer = await ask("", { code: input.value });
        if (answer.status === 200) return follow();
        said.textContent = answer.error;
      } catch {
        said.textContent = gettext("The server can\u2019t be reached: check your connection.");
      }
      button.disabled = false;
      input.select();
    };
    MAIN.replaceChildren(form);
    input.focus();
  }

  function drawEnd() {
    screen_ = null;
    CONNECTION.textContent = "";
    PLACE.textContent = "Headlight";
    MAIN.replaceChildren(middle(gettext("The class is over"), gettext("Nothing of it is kept.")));
    say(gettext("The class is over. Nothing of it is kept."));
  }

  function draw(moved = false) {
    const s = screen_;
    if (!s) return;
    ROOT.dataset.theme = DARK.matches ? "dark" : "light";
    PLACE.textContent =
      s.step === undefined ? s.title : gettext("Step {number} of {all}", { number: s.number, all: s.of });
    CODE.textContent = s.code;
    MAIN.replaceChildren(...content(s));
    say(inWords(s));
    if (moved) window.scrollTo(0, 0);
  }

  function content(s) {
    if (s.look) return looking(s);
    if (s.step === undefined) return [middle(gettext("You are in."), gettext("The first question comes by itself."))];
    if (s.phase === "told") return told(s);
    if (s.phase === "locked" && mine.guess === null)
      return [title(s), middle(gettext("Answers are closed."), gettext("The answer comes by itself."))];
    if (mine.guess !== null && (!changing || s.phase === "locked")) return answered(s);
    return asking(s);
  }

  const middle = (head, text) => el("div", { class: "middle" }, el("h1", {}, head), el("p", {}, text));

  // For a screen reader, which hears only what changes in an element that was there before.
  function say(text) {
    if (SPOKEN.textContent !== text) SPOKEN.textContent = text;
  }

  function inWords(s) {
    if (s.look) return gettext("Look here: the teacher shows {title}.", { title: s.look.title });
    if (s.step === undefined) return gettext("You are in. The first question comes by itself.");
    if (s.phase === "told") {
      const betrayed = mine.judged?.betrays ? [...misconception(mine.judged.betrays).children] : [];
      const said = [mine.judged?.sentence, ...betrayed.map(({ textContent }) => textContent)];
      return [...said, gettext("The answer:"), plain(s.truth.explanation)].join(" ");
    }
    if (s.phase === "locked") return gettext("Answers are closed. The answer comes by itself.");
    if (mine.guess !== null && !changing) return gettext("Answered. Wait for the teacher.");
    const place = { number: s.number, all: s.of };
    const which =
      s.round > 1
        ? gettext("Question {number} of {all}, once more after talking:", place)
        : gettext("Question {number} of {all}:", place);
    return `${which} ${introduction(s).textContent} ${plain(s.question)}`;
  }

  const plain = text => prose(text).textContent;

  function title(s) {
    const box = el("div", {}, introduction(s), el("h1", {}, ...spans(s.question)));
    if (s.round > 1) box.append(el("p", { class: "of" }, gettext("Once more, after talking.")));
    return box;
  }

  function asking(s) {
    sheet ??= newSheet(s);
    sheet.refresh();
    return sheet.nodes;
  }

  function newSheet(s) {
    const box = el("div", { class: "drawn" }),
      button = el("button", { class: "send", type: "button" }),
      wrong = el("p", { class: "wrong", role: "alert" });
    let guess = sent ?? mine.guess,
      sure = sent === null ? mine.sure : sentSure,
      drawn = false;
    const sureness = askSure(now => (sure = now), sure);
    const picked = now => {
      guess = now;
      button.disabled = now === null || sent !== null;
    };
    button.onclick = () => send(guess, sure);
    const fill = () => {
      if (drawn || !box.isConnected) return;
      drawn = true;
      drawQuestion(box, s.posed, picked, guess);
    };
    const refresh = () => {
      button.textContent = sent === null ? gettext("Send") : gettext("Sending");
      wrong.textContent = problem;
      picked(guess);
      setTimeout(fill);
    };
    return { nodes: [title(s), box, el("div", { class: "foot" }, wrong, sureness, button)], refresh };
  }

  function answered(s) {
    const box = el("div", { class: "drawn mine", inert: "" }),
      change = clickButton(
        { class: "quiet" },
        () => {
          changing = true;
          draw(true);
        },
        gettext("Change my answer"),
      );
    setTimeout(() => drawQuestion(box, s.posed, () => {}, mine.guess));
    const wait =
      s.phase === "locked"
        ? gettext("Answers are closed. The answer comes by itself.")
        : gettext("Wait for the teacher.");
    const done = el("div", {}, el("h1", {}, gettext("Answered")), el("p", {}, wait));
    const foot = el("div", { class: "foot" }, el("p", {}, gettext("Nobody sees whose answer this is.")));
    if (s.phase === "ask") foot.append(change);
    return [
      el("div", { class: "done" }, el("i", { "aria-hidden": "true" }, "\u2713"), done),
      introduction(s),
      el("p", { class: "of" }, ...spans(s.question)),
      box,
      foot,
    ];
  }

  function told(s) {
    const box = el("div", { class: "drawn" }),
      parts = [title(s)];
    setTimeout(() => drawTruth(box, s.posed, s.truth, mine.guess, s.tally));
    if (mine.judged) parts.push(score(mine.judged));
    if (mine.judged?.betrays) parts.push(misconception(mine.judged.betrays));
    parts.push(box);
    if (s.truth.explanation) parts.push(el("div", { class: "why" }, prose(s.truth.explanation)));
    parts.push(el("div", { class: "foot" }, el("p", {}, gettext("The next question comes by itself."))));
    return parts;
  }

  function score(judged) {
    const box = el("div", { class: "score" });
    if (judged.overlap !== undefined) box.append(bold(percent(judged.overlap / 100)));
    box.append(el("span", {}, judged.sentence));
    return box;
  }

  function looking(s) {
    const picture = el("img", { class: "picture", src: `${AT}/picture?${s.look.number}`, alt: s.look.title });
    picture.onclick = () => picture.classList.toggle("large");
    const note = el("p", { class: "of" }, gettext("Look here: what the teacher shows."));
    return [el("h1", {}, s.look.title), note, el("div", { class: "frame-of" }, picture)];
  }

  const languages = /** @type {HTMLSelectElement} */ (document.getElementById("language"));
  languages.onchange = () => {
    const query = new URLSearchParams(location.search);
    query.set("lang", languages.value);
    location.search = query.toString();
  };
  DARK.addEventListener("change", () => {
    sheet = null; // its picture has the colours of the other theme
    draw();
  });
  ROOT.dataset.theme = DARK.matches ? "dark" : "light";
  begin();
}
