// Measures of a head (headlight/analysis/measures.py, under the names that they have there): those that lessons ask for,
// and what describes a head in a sentence. Each row counts as shares of its own sum; a row of nothing is left out.
//
// Shapes: Q queries, K keys. A pattern is [Q, K], and so is `masked`.

// The rows of a pattern as shares [Q][K], null for a row of nothing.
export function shareRows(pattern, keys) {
  return Array.from({ length: pattern.length / keys }, (_, q) => {
    const row = Array.from(pattern.subarray(q * keys, (q + 1) * keys)),
      sum = row.reduce((a, b) => a + b, 0);
    return sum ? row.map(value => value / sum) : null;
  });
}

// The mean of those that count, NaN where none does.
export function meanOf(values) {
  const counted = values.filter(value => value !== null);
  return counted.length ? counted.reduce((sum, value) => sum + value, 0) / counted.length : NaN;
}

const sumOf = (row, value) => row.reduce((sum, p, k) => sum + value(p, k), 0);

// The share on the key `offset` places after the query, over the rows that have that key and may see it.
function onOffset(rows, masked, offset) {
  const sees = (row, q) => q + offset >= 0 && q + offset < row.length && !masked[q * row.length + q + offset];
  return meanOf(rows.map((row, q) => (row && sees(row, q) ? row[q + offset] : null)));
}

// Each of the rows [Q][K] and of what is masked in them.
export const MEASURES = {
  entropy: rows => meanOf(rows.map(row => row && sumOf(row, p => (p > 0 ? -p * Math.log2(p) : 0)))),
  distance: rows => meanOf(rows.map((row, q) => row && sumOf(row, (p, k) => p * Math.abs(q - k)))),
  previous: (rows, masked) => onOffset(rows, masked, -1),
  same: (rows, masked) => onOffset(rows, masked, 0),
  next: (rows, masked) => onOffset(rows, masked, 1),
  sharpness: rows => meanOf(rows.map(row => row && Math.max(...row))),
};
