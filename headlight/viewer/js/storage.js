// What this browser keeps for this site. Where it keeps nothing, as in a frame of another site or where that is switched
// off, even asking throws: then it is remembered until the page is closed.

const LARGE_TYPE = "headlight-large-type"; // of the session: "1" while all is larger, for a projector

const unstored = new Map();

/** @param {"localStorage" | "sessionStorage"} area */
function stored(area, name) {
  try {
    return window[area].getItem(name);
  } catch {
    return unstored.get(area + name) ?? null;
  }
}

/** Keeps a text, or with null forgets it; says whether it outlasts the page. @param {"localStorage" | "sessionStorage"} area */
function store(area, name, value) {
  try {
    if (value === null) window[area].removeItem(name);
    else window[area].setItem(name, value);
    return true;
  } catch {
    if (value === null) unstored.delete(area + name);
    else unstored.set(area + name, value);
    return false;
  }
}
