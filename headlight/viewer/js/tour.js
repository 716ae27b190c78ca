// A tour of the first page: a coach mark goes from one part of the page to the next and says what it is.
//
// Data: words of the buttons; stops [{ anchors, text }], of which the first of the anchors that is on the screen is pointed at, and first: whether
//   the page is what the app opens with, so that somebody who has never been here is shown around.
// An anchor is a selector, and behind " in " that of the component in whose shadow root it is looked for.

const TOUR_PROGRESS = "headlight-tour";
const TOUR_GAP = 12; // pixels between the coach mark and what it points at, and from the edges of the window
const TOUR_HEADER = 40; // pixels of the window's top that Streamlit's header covers
const TOUR_START_LIMIT_MS = 60_000; // in which a first page is drawn; later nobody expects to be shown around

class Tour {
  all = []; // stops, of which those whose anchors are on the screen are shown
  stops = [];
  now = -1; // the stop that is shown, from 0

  constructor(root) {
    this.button = root.querySelector(".start");
    this.layer = root.querySelector(".tour");
    this.card = root.querySelector(".coach");
    this.ring = root.querySelector(".ring");
    this.text = root.querySelector("p");
    this.count = root.querySelector(".count");
    this.back = root.querySelector(".back");
    this.skip = root.querySelector(".skip");
    this.next = root.querySelector(".next");
    this.button.onclick = () => this.begin(true);
    this.back.onclick = () => this.go(this.now - 1);
    this.skip.onclick = () => this.end();
    this.next.onclick = () => this.go(this.now + 1);
    this.pressed = event => this.key(event);
    this.follow = () => {
      this.place();
      this.frame = requestAnimationFrame(this.follow);
    };
  }

  say(words) {
    this.words = words;
    this.button.lastElementChild.textContent = words.start;
    this.button.title = words.start;
    for (const node of [this.button, this.card]) node.setAttribute("aria-label", words.start);
    this.back.textContent = words.back;
    this.skip.textContent = words.skip;
    this.next.textContent = words.next;
  }

  // Somebody who has never been here is shown around as soon as all there is to show is drawn. Where the browser
  // remembers nothing, it would be each time anew: there only the button begins.
  welcome() {
    if (stored("localStorage", TOUR_PROGRESS) === "seen" || window.top !== window) return;
    if (!store("localStorage", TOUR_PROGRESS, "begun")) return;
    const until = Date.now() + TOUR_START_LIMIT_MS;
    this.waiting = setInterval(() => {
      const projected = stored("sessionStorage", LARGE_TYPE) === "1"; // the page may become larger later than the tour is drawn
      if (projected || Date.now() > until) clearInterval(this.waiting);
      else if (this.all.every(anchorOf)) this.begin(false);
    }, 200);
  }

  // Who has begun to type or to click is not torn from it: the focus is only taken where nothing has it.
  begin(asked) {
    clearInterval(this.waiting);
    this.stops = this.all.filter(anchorOf);
    if (!this.stops.length || this.now >= 0) return;
    const focused = focusedNow();
    this.before = asked ? this.button : focused;
    this.layer.hidden = false;
    this.layer.showPopover?.();
    document.addEventListener("keydown", this.pressed, true);
    this.go(0);
    if (asked || !focused) this.next.focus({ preventScroll: true });
    this.follow();
  }

  end() {
    clearInterval(this.waiting);
    if (this.now < 0) return;
    const within = this.card.matches(":focus-within");
    this.now = -1;
    cancelAnimationFrame(this.frame);
    document.removeEventListener("keydown", this.pressed, true);
    this.layer.hidePopover?.();
    this.layer.hidden = true;
    store("localStorage", TOUR_PROGRESS, "seen");
    if (within) this.before?.focus({ preventScroll: true });
  }

  go(to) {
    if (to >= this.stops.length) return this.end();
    this.now = Math.max(0, to);
    const last = this.now === this.stops.length - 1,
      within = this.card.matches(":focus-within");
    this.count.textContent = fillIn(this.words.count, { number: this.now + 1, all: this.stops.length });
    this.text.textContent = this.stops[this.now].text;
    this.back.hidden = !this.now;
    this.skip.hidden = last;
    this.next.textContent = last ? this.words.done : this.words.next;
    if (within && !this.card.matches(":focus-within")) this.next.focus({ preventScroll: true });
    this.reveal();
    this.place();
  }

  // In the pixels of a page that may be zoomed, as all boxes here.
  get window() {
    const zoom = zoomOf(this.layer);
    return { width: innerWidth / zoom, height: innerHeight / zoom };
  }

  // What is pointed at ends here, so that the coach mark has room below it.
  get floor() {
    return this.window.height - boxOf(this.card).height - 2 * TOUR_GAP;
  }

  // Scrolls what is pointed at to where it is seen and the coach mark has room below it.
  reveal() {
    const anchor = anchorOf(this.stops[this.now]),
      main = document.querySelector(".stMain"),
      root = anchor?.getRootNode(),
      host = root instanceof ShadowRoot ? root.host : anchor;
    if (!host || !main?.contains(host)) return; // the menu does not scroll with the page
    const { top, bottom } = boxOf(anchor),
      ceiling = TOUR_HEADER + TOUR_GAP,
      tall = bottom - top > this.floor - ceiling;
    if (top < ceiling || tall) main.scrollBy({ top: top - ceiling, behavior: "instant" });
    else if (bottom > this.floor) main.scrollBy({ top: bottom - this.floor, behavior: "instant" });
  }

  // Below what it points at, or at one of its sides; else, as on every phone, at the bottom of the window, and then only
  // the part that it leaves free is pointed at.
  place() {
    const anchor = anchorOf(this.stops[this.now]),
      { width, height } = this.window,
      card = boxOf(this.card),
      at = anchor ? boxOf(anchor) : new DOMRect(),
      room = card.width + 2 * TOUR_GAP;
    const seen = !!anchor && room < width - 1 && at.bottom > 0 && at.top < height;
    const [side, x, y] = [
      ["below", at.left, at.bottom + TOUR_GAP, seen && at.bottom <= this.floor + 1],
      ["right", at.right + TOUR_GAP, at.top, seen && at.right + room <= width],
      ["left", at.left - TOUR_GAP - card.width, at.top, seen && at.left >= room],
      ["sheet", (width - card.width) / 2, height, true],
    ].find(([, , , fits]) => fits);
    const within = (value, size, most) => clamp(value, TOUR_GAP, Math.max(TOUR_GAP, most - size - TOUR_GAP));
    const left = within(x, card.width, width),
      top = within(y, card.height, height);
    this.card.dataset.side = `${side}`;
    this.card.style.setProperty("--at", `${clamp(at.left + Math.min(at.width, 80) / 2 - left, 20, card.width - 20)}px`);
    put(this.card, { left, top });
    this.ring.hidden = !anchor;
    const end = side === "sheet" ? Math.min(at.bottom, top - TOUR_GAP) : at.bottom;
    put(this.ring, { left: at.left, top: at.top, width: at.width, height: Math.max(0, end - at.top) });
  }

  key(event) {
    const within = this.card.matches(":focus-within"),
      acts = { ArrowLeft: () => this.go(this.now - 1), ArrowRight: () => this.go(this.now + 1) };
    if (event.key === "Escape" && (within || onNothing(event))) this.end();
    else if (within && event.key === "Tab") this.walk(event.shiftKey ? -1 : 1);
    else if (within && acts[event.key]) acts[event.key]();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Tab stays within the coach mark.
  walk(by) {
    const buttons = [this.back, this.skip, this.next].filter(button => !button.hidden),
      at = buttons.findIndex(button => button.matches(":focus"));
    buttons.at((at + by) % buttons.length).focus();
  }
}

function put(node, box) {
  for (const [name, value] of Object.entries(box)) node.style[name] = `${value}px`;
}

// The first anchor of a stop that is on the screen; a menu that is folded away stands beside it.
function anchorOf(stop) {
  for (const anchor of stop.anchors) {
    const [inner, outer] = anchor.split(" in ");
    const hosts = outer ? [...document.querySelectorAll(`${outer} *`)].filter(node => node.shadowRoot) : [document];
    const node = hosts.map(host => (host.shadowRoot ?? host).querySelector(inner)).find(Boolean);
    const { width, height, left, right } = node?.getBoundingClientRect() ?? new DOMRect();
    if (width && height && right > 0 && left < innerWidth && node.checkVisibility({ visibilityProperty: true }))
      return node;
  }
  return null;
}

// What has the focus, in whichever component; null where nothing in particular has it.
function focusedNow() {
  let node = document.activeElement;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  return node && !onNothing({ target: node }) ? node : null;
}

function mountTour({ data, parentElement }) {
  const root = parentElement.querySelector(".guide"),
    arriving = !root.view;
  const tour = (root.view ??= new Tour(root));
  tour.all = data.stops;
  tour.say(data.words);
  if (arriving && data.first) tour.welcome();
  return () => {
    tour.end();
    delete root.view;
  };
}
