// Times inside the page: from an event's own time stamp to two frames after what it asked for is there.

{
  const frames = (left, then) => (left ? requestAnimationFrame(() => frames(left - 1, then)) : then());

  const thumbs = () => {
    const hosts = [...document.querySelectorAll('[class*="st-key-overview"] *')].filter(e => e.shadowRoot);
    return hosts.flatMap(host => [...host.shadowRoot.querySelectorAll(".thumb")]);
  };

  // The middle of a thumbnail has a colour on the canvas that lies under all of them.
  const drawn = thumb => {
    const sheet = thumb.getRootNode().querySelector(".sheet"), ratio = sheet.width / sheet.offsetWidth;
    const x = (thumb.offsetLeft + thumb.offsetWidth / 2) * ratio, y = (thumb.offsetTop + thumb.offsetHeight / 2) * ratio;
    return sheet.getContext("2d").getImageData(x, y, 1, 1).data[3] > 0;
  };

  const inside = place => {
    const roots = [...document.querySelectorAll("*")].map(e => e.shadowRoot).filter(Boolean);
    return roots.map(root => root.querySelector(place)).find(Boolean);
  };

  // The chosen head, once its canvas is painted.
  const bigHead = () => {
    const hosts = [...document.querySelectorAll(".st-key-head *")].filter(e => e.shadowRoot);
    const view = hosts.map(host => host.shadowRoot.querySelector(".hl")?.view).find(Boolean);
    if (!view?.canvas.width) return null;
    const middle = view.canvas.getContext("2d").getImageData(view.canvas.width / 2, view.canvas.height / 2, 1, 1);
    return middle.data[3] > 0 ? view : null;
  };

  // It, if it shows these weights.
  const heatmap = (wanted, apart) => {
    const view = bigHead(),
      { rows, columns } = view?.header ?? {};
    if (rows?.length !== wanted.length || columns.length !== wanted[0].length) return undefined;
    const near = (weight, q, k) => Math.abs(view.weights[q * columns.length + k] - weight) < apart;
    return wanted.every((row, q) => row.every((weight, k) => near(weight, q, k))) ? view : undefined;
  };

  const shows = {
    // The map has a picture of these weights, in 256 shades at least.
    head: wanted => heatmap(wanted, 0.5 / 255 + 1e-6) !== undefined,
    // And the weights themselves, on hover.
    exact(wanted) {
      const map = heatmap(wanted, 1e-6);
      return map !== undefined && map.exact;
    },
    // Every head is named by what it looks at most; they are drawn together, so the first and the last will do.
    overview(wanted) {
      const found = thumbs();
      return found.length === wanted.length &&
        found.every((thumb, i) => thumb.getAttribute("aria-label").startsWith(wanted[i])) &&
        drawn(found[0]) && drawn(found.at(-1));
    },
    // A component says which step it is at, in an attribute or in its text.
    step({ place, attribute, value }) {
      const found = inside(place);
      return (attribute ? found?.getAttribute(attribute) : found?.textContent)?.startsWith(value) ?? false;
    },
    // A page of its own: ours has its thumbnails, BertViz its drawing.
    file: selector => document.querySelector(selector) !== null,
  };

  window.painted = {
    // The Attention page as it opens: every head small, and the chosen one large.
    overview() {
      const found = thumbs();
      return found.length > 0 && drawn(found[0]) && drawn(found.at(-1));
    },
    head: () => bigHead() !== null,
    // The next `type` of event starts the clock; `painted.took` is a promise of the milliseconds.
    after(type, what, wanted) {
      this.took = new Promise((resolve, reject) => {
        setTimeout(() => reject(new Error(`${what} was not painted within a minute`)), 60_000);
        const look = start => (shows[what](wanted) ? frames(2, () => resolve(performance.now() - start)) : frames(1, () => look(start)));
        window.addEventListener(type, event => look(event.timeStamp), { capture: true, once: true });
      });
    },
    // From the start of the navigation.
    opened(selector) {
      const look = () => (shows.file(selector) ? frames(2, () => (this.took = performance.now())) : frames(1, look));
      look();
    },
    // From a pointer's move to the end of the frame that shows it: script, style, layout and paint.
    hovered() {
      this.took = new Promise(resolve => {
        const end = start => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => resolve(performance.now() - start);
          port2.postMessage(null);
        };
        const move = () => {
          const start = performance.now();
          frames(1, () => end(start));
        };
        window.addEventListener("pointermove", move, { capture: true, once: true });
      });
    },
  };
}
