// Arrays out of the page's data: undoes replay/packing.py.

const element = (id) => document.getElementById(id);

async function inflated(id) {
  const text = element(id).textContent;
  const bytes = Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (c) => c.charCodeAt(0));  // newer browsers, older
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// n words whose least bytes come first, then the next, ...
function words(bytes, n, size) {
  const out = new Uint8Array(n * size);
  for (let k = 0; k < size; k++) for (let i = 0; i < n; i++) out[i * size + k] = bytes[k * n + i];
  return out.buffer;
}

const CODINGS = {
  float: (bytes, shape, n) => new Float32Array(words(bytes, n, 4)),

  // column after column; each number is the one before plus a difference
  steps: (bytes, [rows, columns], n) => {
    const coded = new Uint16Array(words(bytes, n, 2));
    for (let c = 0, i = 0; c < columns; c++) {
      for (let r = 0, last = 0; r < rows; r++, i++) {
        last += (coded[i] >> 1) ^ -(coded[i] & 1);
        coded[i] = last;
        last = coded[i];
      }
    }
    return coded;
  },

  // each corner lies so far behind the newest one; 0 is a new one
  faces: (bytes, shape, n) => {
    const coded = new Uint32Array(words(bytes, n, 4));
    for (let i = 0, newest = 0; i < n; i++) {
      coded[i] = newest - coded[i];
      if (coded[i] === newest) newest++;
    }
    return coded;
  },
};

function unpacked(data, { coding, at, bytes, shape }) {
  const n = shape.reduce((a, b) => a * b, 1);
  return CODINGS[coding](data.subarray(at, at + bytes), shape, n);
}

// the rows of curves in their own range: an array a column
function columns(data, { range, y }) {
  const steps = unpacked(data, y), [rows, n] = y.shape, [low, high] = range;
  return Array.from({ length: n }, (_, c) =>
    Float64Array.from(steps.subarray(c * rows, (c + 1) * rows), (s) => low[c] + (s / 65535) * (high[c] - low[c])));
}

// the last i with list[i] <= x, and how far x is on the way to the next
function between(list, x) {
  let low = 0, high = list.length - 1;
  if (high < 1 || x <= list[0]) return [0, 0];
  if (x >= list[high]) return [high - 1, 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (list[middle] <= x) low = middle; else high = middle;
  }
  return [low, (x - list[low]) / (list[high] - list[low])];
}
