"""A button that turns an SVG into a PNG where it is shown: the browser has the fonts of every script."""

from __future__ import annotations

import streamlit as st

_BUTTON = st.components.v2.component(
    "save_png",
    html="<button type='button'>PNG, for slides</button>",
    css="""
button { font: inherit; font-size: 0.875rem; width: 100%; min-height: 2.5rem; padding: 0.25rem 0.75rem; cursor: pointer;
  color: var(--st-text-color); background: transparent; border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius); }
button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
""",
    js="""
const SCALE = 2;  // pixels for each of the picture's, so that it is sharp on a projector
export default function ({ data, parentElement }) {
  parentElement.querySelector("button").onclick = async () => {
    const image = new Image();
    image.src = URL.createObjectURL(new Blob([data.svg], { type: "image/svg+xml" }));
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width * SCALE;
    canvas.height = image.height * SCALE;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = data.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    }, "image/png");
  };
}
""",
)


def save_png(svg: str, name: str) -> None:
    """`svg` as a download called `name`."""
    _BUTTON(data={"svg": svg, "name": name}, key="save-png")
