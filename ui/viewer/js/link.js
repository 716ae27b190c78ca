// Lights up a Plotly heatmap of the same page together with our views: its hovers become "headlight:cell"
// events, and those of others become a strip or a cell laid over it. Streamlit redraws the chart in new
// elements, so it is looked for again whenever the page changes. Without a chart all of this does nothing.

class PlotLink {
  colour;

  constructor(selector, changed) {
    this.selector = selector;
    this.hovered = event => {
      const at = event.points[0].pointNumber;
      if (Array.isArray(at)) tellCell(at[0], at[1], "plot");
    };
    this.left = () => tellCell(null, null, "plot");
    this.moved = () => this.changed();
    this.observer = new MutationObserver(() => this.attach());
    this.observer.observe(document.body, { childList: true, subtree: true });
    this.stop = onCell("plot", cell => this.show(cell));
    this.attach();
    // A chart that is there already is no change: whoever made this link is about to draw.
    this.changed = changed;
  }

  dispose() {
    this.observer.disconnect();
    this.stop();
    this.detach();
  }

  // Purging a chart throws its listeners away but may keep its element: the emitter tells.
  attach() {
    const chart = document.querySelector(this.selector);
    if (!chart || !chart.on || (chart === this.chart && chart._ev === this.emitter)) return;
    this.detach();
    this.chart = chart;
    this.emitter = chart._ev;
    chart.on("plotly_hover", this.hovered);
    chart.on("plotly_unhover", this.left);
    chart.on("plotly_afterplot", this.moved);
    this.changed?.();
  }

  detach() {
    this.strip?.remove();
    if (!this.chart || !this.chart.removeListener) return;
    this.chart.removeListener("plotly_hover", this.hovered);
    this.chart.removeListener("plotly_unhover", this.left);
    this.chart.removeListener("plotly_afterplot", this.moved);
    this.chart = null;
  }

  // Where the plot's cells are on the screen: { left, top, width, row }, row being a row's height, or null.
  place() {
    const layout = this.chart?.isConnected && this.chart._fullLayout,
      rows = layout?.yaxis;
    if (!rows || !layout.xaxis) return null;
    const box = this.chart.getBoundingClientRect(),
      edge = rows._offset + Math.min(rows.l2p(-0.5), rows.l2p(0.5));
    return {
      left: box.left + layout.xaxis._offset,
      top: box.top + edge,
      width: layout.xaxis._length,
      row: Math.abs(rows.l2p(1) - rows.l2p(0)),
    };
  }

  show({ row, column }) {
    this.strip?.remove();
    const box = this.chart?.querySelector(".svg-container"),
      layout = this.chart?._fullLayout;
    if (!box || !layout?.xaxis || !layout.yaxis || (row === null && column === null)) return;
    const span = (axis, at) => {
      if (at === null) return [axis._offset, axis._length];
      const [from, to] = [axis.l2p(at - 0.5), axis.l2p(at + 0.5)].sort((a, b) => a - b);
      return [axis._offset + from, to - from];
    };
    const [left, width] = span(layout.xaxis, column),
      [top, height] = span(layout.yaxis, row);
    this.strip = el("div", { "aria-hidden": "true", class: "headlight-strip" });
    Object.assign(this.strip.style, {
      position: "absolute",
      left: `${left}px`,
      top: `${top}px`,
      width: `${width}px`,
      height: `${height}px`,
      border: `2px solid ${this.colour}`,
      borderRadius: "2px",
      pointerEvents: "none",
    });
    box.append(this.strip);
  }
}
