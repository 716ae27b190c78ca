// What this browser keeps for this site. Where it keeps nothing, as in a frame of another site or where that is switched
// off, even asking throws: then nothing is remembered, and all else works.

/** @param {"localStorage" | "sessionStorage"} area */
function stored(area, name) {
  try {
    return window[area].getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text, or with null forgets it. @param {"localStorage" | "sessionStorage"} area */
function store(area, name, value) {
  try {
    if (value === null) window[area].removeItem(name);
    else window[area].setItem(name, value);
  } catch {}
}
