// SVG elements, and the icons that the views draw with them.

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const ICONS = {
  first: "M17 6l-7 6 7 6zM6.5 6v12",
  back: "M15 6l-6 6 6 6",
  play: "M8 5.5l10 6.5-10 6.5z",
  pause: "M9 6v12M15 6v12",
  forward: "M9 6l6 6-6 6",
  fork: "M4 12h5M9 12l5-6h6M9 12l5 6h6",
  edit: "M5 19l1-4L16 5l3 3L9 18zM14 7l3 3",
  flag: "M6 21V4h11l-2.5 4L17 12H6",
  close: "M7 7l10 10M17 7L7 17",
  wave: "M3 13l4-6 4 9 4-12 3 9h3",
  stop: "M7 7h10v10H7z",
  check: "M12 3a9 9 0 1 0 .01 0M8 12.2l2.8 2.8L16 9.5",
  off: "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0 -18M12 7.5v5.5M12 16v.2",
  warn: "M12 4l9 16H3zM12 10v5M12 17.5v.2",
  search: "M10.5 4a6.5 6.5 0 1 0 .01 0M15.5 15.5L20 20",
  upload: "M12 16V5M7.5 9.5L12 5l4.5 4.5M5 15v4h14v-4",
  compare: "M8 8h12M16 4.5L20 8l-4 3.5M16 16H4M8 12.5L4 16l4 3.5",
  full: "M5 9V5h4M15 5h4v4M19 15v4h-4M9 19H5v-4",
  hand: "M9 11.500V5.200a1.500 1.500 0 0 1 3 0V11M12 10.200a1.500 1.500 0 0 1 3 0v1M15 11.200a1.500 1.500 0 0 1 3 0V15c0 3.300-2 5.500-5.200 5.500-2.600 0-3.700-1-5-3.200L5.500 13.600c-.9-1.500 1-2.700 2-1.500L9 14",
  bars: "M5 19v-5M10 19V8M15 19v-8M20 19v-3",
  grid: "M4.500 4.500h6v6h-6zM13.500 4.500h6v6h-6zM4.500 13.500h6v6h-6zM13.500 13.500h6v6h-6z",
  gauge: "M4 12h16M9 8v8",
  list: "M4 6h2M9 6h11M4 12h2M9 12h11M4 18h2M9 18h11",
  bulb: "M9 17.500h6M10 20.500h4M8.500 14.500c-1.500-1.200-2.500-2.800-2.500-5a6 6 0 0 1 12 0c0 2.200-1 3.800-2.500 5-.4.400-.5.800-.5 1.500v1.500H9V16c0-.7-.1-1.100-.5-1.500z",
  copy: "M8 8h12v12H8zM16 8V4H4v12h4",
  book: "M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h11",
};

function icon(name, size = 18) {
  const look = {
    fill: "none",
    stroke: "currentColor",
    "stroke-width": 1.7,
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
  };
  return svg(
    "svg",
    { width: size, height: size, viewBox: "0 0 24 24", "aria-hidden": "true", ...look },
    svg("path", { d: ICONS[name] }),
  );
}
