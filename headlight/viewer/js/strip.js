// A vector as a strip of cells, blue below zero and orange above, whose numbers appear under the pointer.

const SIGNED = { light: shadesOf(PALETTE.light.signed), dark: shadesOf(PALETTE.dark.signed) };

// Where the colours of some vectors end: nine numbers in ten lie within, the others are as full and no fuller.
function limitOf(...arrays) {
  const sizes = [];
  for (const values of arrays) {
    const step = Math.max(1, Math.floor(values.length / 4096));
    for (let i = 0; i < values.length; i += step) sizes.push(Math.abs(values[i]));
  }
  sizes.sort((a, b) => a - b);
  return +(sizes[Math.floor(0.9 * (sizes.length - 1))] || 1).toPrecision(2);
}

const shadeAt = (value, limit) => Math.round(STEPS * (0.5 + clamp(value / limit, -1, 1) / 2));

function signedColour(value, limit, theme) {
  return rgbOf(SIGNED[theme.name][shadeAt(value, limit)]);
}

// `count` shows the first numbers only, where there is no room for all.
function strip(values, limit, theme, name, count = values.length) {
  const canvas = el("canvas", { class: "strip", "aria-hidden": "true" }),
    n = Math.min(count, values.length);
  canvas.width = n;
  canvas.height = 1;
  const context = canvas.getContext("2d"),
    image = context.createImageData(n, 1),
    pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < n; i++) pixels[i] = SIGNED[theme.name][shadeAt(values[i], limit)];
  context.putImageData(image, 0, 0);
  canvas.shown = { values, n, name };
  return canvas;
}

// The number under the pointer, for every strip inside `root`.
function tellNumbers(root, tip) {
  root.addEventListener("pointermove", event => {
    const shown = event.target.shown;
    if (!shown) return tip.hide();
    const i = clamp(Math.floor((event.offsetX / event.target.clientWidth) * shown.n), 0, shown.n - 1);
    const box = boxOf(event.target),
      outer = boxOf(tip.node.parentElement);
    const value = el("span", { class: "value" }, compact(shown.values[i], 4));
    const place = `number ${i + 1} of ${shown.values.length}`;
    tip.show(
      { x: pointerOf(event).x - outer.left - 6, y: box.bottom - outer.top + 6, w: 12, h: 0 },
      [value],
      [shown.name, ", ", place],
    );
  });
  root.addEventListener("pointerleave", () => tip.hide());
}

function lengthOf(values) {
  let sum = 0;
  for (const value of values) sum += value * value;
  return Math.sqrt(sum);
}
