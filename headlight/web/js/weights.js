// A model as headlight/web/model_file.py packs it: a header in JSON, and arrays behind it.
//
// A matrix [rows, columns] is stored in 10 bits a weight: `high` has the upper 8 bits of each, signed, `low` the two
// lower ones, four weights a byte, and `step` what a row's numbers are multiplied with; without `low` it is stored in
// 8 bits. It is computed in float32.

const ARRAYS = { uint8: Uint8Array, float32: Float32Array };

// The header, and the tensors by their names in the checkpoint: { shape, data }.
export function readModel(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  const arrays = new Map();
  for (const { name, dtype, shape, at } of header.arrays) {
    const count = shape.reduce((a, b) => a * b, 1);
    arrays.set(name, { shape, data: new ARRAYS[dtype](buffer, 4 + size + at, count) });
  }
  const tensors = new Map();
  for (const [name, array] of arrays) {
    if (name.endsWith(".high")) {
      const matrix = name.slice(0, -5);
      tensors.set(matrix, widened(array, arrays.get(`${matrix}.low`)?.data, arrays.get(`${matrix}.step`).data));
    } else if (!name.endsWith(".low") && !name.endsWith(".step")) tensors.set(name, array);
  }
  return { header, tensors };
}

function widened({ shape, data: high }, low, steps) {
  const [rows, columns] = shape,
    data = new Float32Array(rows * columns),
    upper = new Int8Array(high.buffer, high.byteOffset, high.length);
  for (let row = 0, at = 0; row < rows; row++) {
    const step = steps[row],
      end = at + columns;
    if (low) for (; at < end; at++) data[at] = (upper[at] * 4 + ((low[at >> 2] >> (2 * (at & 3))) & 3)) * step;
    else for (; at < end; at++) data[at] = upper[at] * step;
  }
  return { shape, data };
}
