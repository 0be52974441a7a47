// Shading: smooth across a curved surface, sharp at an edge.  A corner's normal is the mean, by area, of the triangles that
// meet there and are turned less than this against its own.
const SHARP = Math.cos((35 * Math.PI) / 180);

// positions and normals, a corner once for each normal it has; index: which of them the corners of the triangles are
function shaded(points, faces) {
  const { area, unit } = facets(points, faces), { start, slot } = meeting(faces, points.length / 3);
  const position = new Float32Array(3 * faces.length), normal = new Float32Array(3 * faces.length);
  const index = new Uint32Array(faces.length);
  let made = 0;
  for (let c = 0; c + 1 < start.length; c++) {
    const first = made, end = start[c + 1];
    for (let i = start[c]; i < end; i++) {
      const f = 3 * ((slot[i] / 3) | 0);
      let x = 0, y = 0, z = 0;
      for (let k = start[c]; k < end; k++) {
        const g = 3 * ((slot[k] / 3) | 0);
        if (unit[f] * unit[g] + unit[f + 1] * unit[g + 1] + unit[f + 2] * unit[g + 2] < SHARP) continue;
        x += area[g]; y += area[g + 1]; z += area[g + 2];
      }
      const length = Math.sqrt(x * x + y * y + z * z) || 1;
      normal[3 * made] = x / length; normal[3 * made + 1] = y / length; normal[3 * made + 2] = z / length;
      let same = first;  // sums over the same triangles are the same to the last bit
      while (normal[3 * same] !== normal[3 * made] || normal[3 * same + 1] !== normal[3 * made + 1] ||
             normal[3 * same + 2] !== normal[3 * made + 2]) same++;
      index[slot[i]] = same;
      if (same < made) continue;
      for (let k = 0; k < 3; k++) position[3 * made + k] = points[3 * c + k];
      made++;
    }
  }
  return { position: position.slice(0, 3 * made), normal: normal.slice(0, 3 * made), index };
}

// of each triangle: its normal as long as twice its area, and one long
function facets(points, faces) {
  const area = new Float32Array(faces.length), unit = new Float32Array(faces.length);
  for (let f = 0; f < faces.length; f += 3) {
    const a = 3 * faces[f], b = 3 * faces[f + 1], c = 3 * faces[f + 2];
    const ux = points[b] - points[a], uy = points[b + 1] - points[a + 1], uz = points[b + 2] - points[a + 2];
    const vx = points[c] - points[a], vy = points[c + 1] - points[a + 1], vz = points[c + 2] - points[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx, length = Math.sqrt(x * x + y * y + z * z) || 1;
    area[f] = x; area[f + 1] = y; area[f + 2] = z;
    unit[f] = x / length; unit[f + 1] = y / length; unit[f + 2] = z / length;
  }
  return { area, unit };
}

// where each corner is named: faces[slot[start[c]]] to faces[slot[start[c + 1] - 1]] are c
function meeting(faces, corners) {
  const start = new Uint32Array(corners + 1), slot = new Uint32Array(faces.length);
  for (const c of faces) start[c + 1]++;
  for (let c = 0; c < corners; c++) start[c + 1] += start[c];
  const next = start.slice();
  for (let i = 0; i < faces.length; i++) slot[next[faces[i]]++] = i;
  return { start, slot };
}
