// Formulas as MathML, which every browser draws and screen readers speak. A text stays a text.

function inMath(tag, ...children) {
  const node = document.createElementNS("http://www.w3.org/1998/Math/MathML", tag);
  node.append(...children);
  return node;
}

const tex = {
  name: text => inMath("mi", text),
  number: value => inMath("mn", typeof value === "number" ? compact(value) : value),
  word: text => inMath("mtext", text),
  op: text => inMath("mo", text),
  row: (...parts) => inMath("mrow", ...parts),
  sub: (base, index) => inMath("msub", base, index),
  sup: (base, power) => inMath("msup", base, power),
  over: (above, below) => inMath("mfrac", above, below),
  root: inside => inMath("msqrt", inside),
  // A vector or weight with its index: "v", "fille" is v with fille below.
  at: (name, index) => inMath("msub", tex.name(name), typeof index === "string" ? tex.word(index) : index),
};

function formula(...parts) {
  const math = inMath("math", ...parts);
  math.setAttribute("displaystyle", "true");
  return math;
}
