// A Plotly chart that stays where it is: new data changes it, where Streamlit's own chart would be rebuilt, at
// three times the cost. It is Plotly's own script, from the app's own folder.
//
// Data: { script: its address, figure: { data, layout }, alt, title: [strong, grey] or null, shows } as JSON. `shows`, or
// null, is { kind, scale, place: [layer, head], shape } of a chart that may be changed ahead of the page's answer.

const charts = new WeakMap();
let library = null; // the promise of Plotly, once for all charts

class Chart {
  constructor(root) {
    this.root = root;
    this.title = root.appendChild(document.createElement("div"));
    this.title.className = "plot-title";
    this.frame = root.appendChild(document.createElement("div"));
    this.frame.setAttribute("role", "img");
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(root);
    this.stop = onShared("chosen", chosen => this.foresee(chosen));
    this.wishes = new Wishes();
    this.drawn = Promise.resolve();
  }

  // One drawing at a time, and of those that wait only the last.
  update(given) {
    if (given.shows && String(this.wishes.answered(given.shows.place)) !== String(given.shows.place)) return;
    this.given = given;
    this.drawn = this.drawn.then(async () => {
      if (this.given !== given) return;
      await (library ??= loaded(given.script));
      const { data, layout } = given.figure;
      this.entitle(...(given.title ?? []));
      layout.width = this.width = this.root.clientWidth || layout.width;
      await window.Plotly.react(this.frame, data, layout, { displayModeBar: false });
      this.frame.setAttribute("aria-label", given.alt);
    });
  }

  entitle(strong, grey = "") {
    const parts = [
      ["b", strong],
      ["span", grey],
    ].map(([tag, text]) => Object.assign(document.createElement(tag), { textContent: text }));
    this.title.replaceChildren(...(strong ? parts : []));
  }

  // Another head was chosen: its shades are there before its exact weights, which alone are shown on hover.
  foresee({ kind, scale, place, title, shades }) {
    const shows = this.given?.shows,
      maps = this.frame.data?.map((trace, i) => [trace, i]) ?? [];
    const [map, at] = maps.findLast(([trace]) => trace.type === "heatmap" && trace.showscale !== false) ?? [];
    if (
      shows?.kind !== kind ||
      shows.scale !== scale ||
      String(shows.shape) !== String([shades.length, shades[0].length]) ||
      !map
    )
      return;
    this.wishes.make(place);
    this.drawn = this.drawn.then(() => {
      if (String(this.wishes.value) !== String(place)) return;
      this.entitle(title);
      return window.Plotly.restyle(this.frame, { z: [shades], hoverinfo: "skip", hovertemplate: "" }, [at]);
    });
  }

  fit() {
    const width = this.root.clientWidth;
    if (!width || !this.width || width === this.width) return;
    this.width = width;
    this.drawn = this.drawn.then(() => window.Plotly.relayout(this.frame, { width: this.width }));
  }

  dispose() {
    this.observer.disconnect();
    this.stop();
    window.Plotly?.purge(this.frame);
    this.frame.remove();
  }
}

// The address is relative to the app's, wherever that is served.
function loaded(source) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(source, document.baseURI).href;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`The chart's script ${source} could not be loaded.`));
    document.head.append(script);
  });
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".plot");
  if (!charts.has(root)) charts.set(root, new Chart(root));
  charts.get(root).update(JSON.parse(new TextDecoder().decode(data)));
  return () => {
    charts.get(root)?.dispose();
    charts.delete(root);
  };
}
