// A Plotly chart that stays where it is: new data changes it, where Streamlit's own chart would be rebuilt, at
// three times the cost. It is Plotly's own script, from the app's own folder.
//
// Data: { script: its address, figure: { data, layout }, alt } as JSON.

const charts = new WeakMap();
let library = null; // the promise of Plotly, once for all charts

class Chart {
  constructor(root) {
    this.root = root;
    this.frame = root.appendChild(document.createElement("div"));
    this.frame.setAttribute("role", "img");
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(root);
    this.drawn = Promise.resolve();
  }

  // One drawing at a time, and of those that wait only the last.
  update(given) {
    this.given = given;
    this.drawn = this.drawn.then(async () => {
      if (this.given !== given) return;
      await (library ??= loaded(given.script));
      const { data, layout } = given.figure;
      layout.width = this.width = this.root.clientWidth || layout.width;
      await window.Plotly.react(this.frame, data, layout, { displayModeBar: false });
      this.frame.setAttribute("aria-label", given.alt);
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
