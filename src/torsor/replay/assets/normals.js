// Shading: smooth across a curved surface, sharp at an edge.  A corner's normal is the mean, by area, of the triangles that
// meet there and are turned less than this against its own.
const SHARP = Math.cos((35 * Math.PI) / 180);

// loose triangles: positions and normals, nine numbers a triangle
function shaded(points, faces) {
  const n = faces.length / 3, area = new Float32Array(3 * n), unit = new Float32Array(3 * n);
  for (let f = 0; f < n; f++) {
    const a = 3 * faces[3 * f], b = 3 * faces[3 * f + 1], c = 3 * faces[3 * f + 2];
    const ux = points[b] - points[a], uy = points[b + 1] - points[a + 1], uz = points[b + 2] - points[a + 2];
    const vx = points[c] - points[a], vy = points[c + 1] - points[a + 1], vz = points[c + 2] - points[a + 2];
    const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx, length = Math.sqrt(x * x + y * y + z * z) || 1;
    area[3 * f] = x; area[3 * f + 1] = y; area[3 * f + 2] = z;
    unit[3 * f] = x / length; unit[3 * f + 1] = y / length; unit[3 * f + 2] = z / length;
  }
  const around = meeting(faces, points.length / 3);
  const position = new Float32Array(9 * n), normal = new Float32Array(9 * n);
  for (let i = 0; i < 3 * n; i++) {
    const f = 3 * ((i / 3) | 0), corner = faces[i];
    let x = 0, y = 0, z = 0;
    for (let k = around.start[corner]; k < around.start[corner + 1]; k++) {
      const g = 3 * around.face[k];
      if (unit[f] * unit[g] + unit[f + 1] * unit[g + 1] + unit[f + 2] * unit[g + 2] < SHARP) continue;
      x += area[g]; y += area[g + 1]; z += area[g + 2];
    }
    const length = Math.sqrt(x * x + y * y + z * z) || 1;
    normal[3 * i] = x / length; normal[3 * i + 1] = y / length; normal[3 * i + 2] = z / length;
    for (let c = 0; c < 3; c++) position[3 * i + c] = points[3 * corner + c];
  }
  return { position, normal };
}

// the triangles at each corner: face[start[c]] to face[start[c + 1]]
function meeting(faces, corners) {
  const start = new Uint32Array(corners + 1), face = new Uint32Array(faces.length);
  for (const c of faces) start[c + 1]++;
  for (let c = 0; c < corners; c++) start[c + 1] += start[c];
  const next = start.slice();
  for (let i = 0; i < faces.length; i++) face[next[faces[i]]++] = (i / 3) | 0;
  return { start, face };
}
