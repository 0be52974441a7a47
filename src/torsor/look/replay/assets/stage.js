// The robot in space: three.js draws, this says what and where.  z is up, against gravity.

const FLOOR = { light: [0x9aa5b3, 0xc2cad4], dark: [0x5d6875, 0x3a434e] };
const ARROW = { external: 0xd1495b, contact: 0xe69f00 };
const BLACK = 0.16;  // as dark as a surface is drawn: on a blacker one no light shows its shape
const REST = 250;  // ms without a change, after which a picture may take its time

// no graphics processor, so the processor draws: five times more pictures a second without shadows and smooth edges
function software() {
  const probe = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  const named = probe?.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL ?? probe?.RENDERER;
  const name = probe?.getParameter(named) ?? "software";
  probe?.getExtension("WEBGL_lose_context")?.loseContext();
  return /software|swiftshader|llvmpipe|softpipe|basic render/i.test(name);
}

// the largest of the boxes' values, but for the farthest few, which together are a twentieth of them by size
function reached(sized, value) {
  const far = sized.map(([box, size]) => [value(box), size]).sort(([a], [b]) => b - a);
  let rest = 0.05 * far.reduce((sum, [, size]) => sum + size, 0);
  return far.find(([, size]) => (rest -= size) <= 0)?.[0] ?? -Infinity;
}

class Stage {
  constructor(THREE, canvas, film, data) {
    this.THREE = THREE;
    this.canvas = canvas;
    this.film = film;
    this.software = software();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !this.software, alpha: true });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.scene = new THREE.Scene();
    this.world = new THREE.Group();
    this.world.quaternion.setFromUnitVectors(new THREE.Vector3(...film.up), new THREE.Vector3(0, 0, 1));
    this.scene.add(this.world);
    this.times = unpacked(data, film.times);
    this.links = this.placed(data);
    for (const part of film.parts) this.links[part.link].add(this.mesh(part, data));
    this.arrows = film.arrows.map((arrow) => this.arrow(arrow, data));
    this.look();
  }

  // -- what there is ---------------------------------------------------------------------------------------

  placed(data) {
    const still = (this.still = unpacked(data, this.film.still));
    this.named = this.film.configurations.map(({ poses }) => unpacked(data, poses));
    this.poses = unpacked(data, this.film.poses);  // link, then x y z qx qy qz qw, then picture
    return this.film.links.map((name, k) => {
      const group = new this.THREE.Group();
      group.position.fromArray(still, 7 * k);
      group.quaternion.fromArray(still, 7 * k + 3);
      this.world.add(group);
      return group;
    });
  }

  mesh({ box: [low, high], corners, faces, color: [r, g, b, opacity], kind }, data) {
    const { THREE } = this, steps = unpacked(data, corners), n = corners.shape[0];
    const points = new Float32Array(3 * n);
    for (let c = 0; c < 3; c++)
      for (let i = 0; i < n; i++) points[3 * i + c] = low[c] + (steps[c * n + i] / 16383) * (high[c] - low[c]);
    const { position, normal, index } = shaded(points, unpacked(data, faces));
    const geometry = new THREE.BufferGeometry();
    geometry.setIndex(new THREE.BufferAttribute(index, 1));
    geometry.setAttribute("position", new THREE.BufferAttribute(position, 3));
    geometry.setAttribute("normal", new THREE.BufferAttribute(normal, 3));
    const glass = opacity < 1;
    const material = new THREE.MeshStandardMaterial({
      color: new THREE.Color().setRGB(...[r, g, b].map((c) => Math.max(c, BLACK)), THREE.SRGBColorSpace),
      roughness: 0.55, metalness: 0.05,
      transparent: glass, opacity, depthWrite: !glass, side: kind === "visual" ? THREE.DoubleSide : THREE.FrontSide,
    });
    const mesh = new THREE.Mesh(geometry, material);
    mesh.receiveShadow = !glass;
    mesh.castShadow = !glass && kind !== "ground";
    return mesh;
  }

  arrow({ data: where, kind, unit, longest: most }, data) {
    const { THREE } = this, arrow = new THREE.Group(), inside = kind === "contact";
    // those of contacts begin on the surface of the robot and end in it: they are drawn over it
    const over = inside ? { depthTest: false, transparent: true, opacity: 0.9 } : {};
    const material = new THREE.MeshStandardMaterial({ color: ARROW[kind], roughness: 0.6, ...over });
    const shaft = new THREE.Mesh(new THREE.CylinderGeometry(0.02, 0.02, 0.8, 16), material);
    const tip = new THREE.Mesh(new THREE.ConeGeometry(0.06, 0.2, 24), material);
    shaft.position.y = 0.4;
    tip.position.y = 0.9;
    shaft.renderOrder = tip.renderOrder = inside ? 1 : 0;
    arrow.add(shaft, tip);
    this.world.add(arrow);
    const values = unpacked(data, where), n = this.times.length;
    let largest = 0;
    for (let i = 3 * n; i < 4 * n; i++) largest = Math.max(largest, Math.hypot(values[i], values[i + n], values[i + 2 * n]));
    return { arrow, values, largest, unit: unit ?? largest, most };
  }

  // -- light, floor, camera --------------------------------------------------------------------------------

  look() {
    const { THREE, scene, film } = this, box = (this.box = this.extent()), size = box.getSize(new THREE.Vector3());
    const ball = box.getBoundingSphere(new THREE.Sphere()), radius = (this.radius = Math.max(ball.radius, 0.02));
    this.reach = 0.4 * radius;
    this.floor = box.floor;
    scene.add(new THREE.HemisphereLight(0xffffff, 0x7c8796, 1.25));
    this.lamp = new THREE.DirectionalLight(0xffffff, 0.9);  // from where one looks: no side is black
    scene.add(this.lamp, this.lamp.target);
    this.sun = new THREE.DirectionalLight(0xffffff, 1.6);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.normalBias = 0.004 * radius;
    this.sun.shadow.radius = 4;
    const lit = 1.6 * radius;
    const lamp = { left: -lit, right: lit, top: lit, bottom: -lit, near: 0.1 * radius, far: 9 * radius };
    Object.assign(this.sun.shadow.camera, lamp);
    const plane = new THREE.PlaneGeometry(40 * radius, 40 * radius);
    this.ground = new THREE.Mesh(plane, new THREE.ShadowMaterial({ opacity: 0.16 }));
    this.ground.receiveShadow = true;
    this.ground.position.set(ball.center.x, ball.center.y, this.floor);
    scene.add(this.sun, this.sun.target, this.ground);
    // ground of another form is itself a part: no floor beside it
    this.paved = film.floor === null && film.parts.some(({ kind }) => kind === "ground");
    this.ground.visible = !this.paved;
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.01 * radius, 60 * radius);
    this.camera.up.set(0, 0, 1);
    this.controls = new THREE.OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener("change", () => this.changed());
    this.controls.addEventListener("start", () => { this.touched = true; });
    this.center = ball.center;
    // from where a robot that is flat shows its face
    this.from = new THREE.Vector3(size.y + 0.08 * radius, -size.x - 0.08 * radius, 0).normalize().setZ(0.38).normalize();
    this.theme(DARK.matches);
    this.home();
  }

  // the box that holds the robot at first, and in some pictures later all of it but what strays: a finger that falls off
  extent() {
    const { THREE, times, film } = this, last = times.length - 1, pictures = film.floating ? 1 : Math.min(last + 1, 24);
    const box = this.boxes(times[0], true).reduce((all, mine) => all.union(mine), new THREE.Box3());
    if (box.isEmpty()) box.set(new THREE.Vector3(-0.5, -0.5, -0.5), new THREE.Vector3(0.5, 0.5, 0.5));
    const floor = box.min.z, size = box.getSize(new THREE.Vector3()).length(), later = [];
    const near = box.clone().expandByScalar(size), room = box.clone().expandByScalar(0.15 * size);
    // ellipsoids of odd inertias are larger than robots
    for (const mine of this.boxes(times[0], false)) box.union(mine.intersect(room));
    for (let k = 1; k < pictures; k++) later.push(...this.boxes(times[Math.round((k * last) / (pictures - 1))], true));
    const sized = later.map((mine) => [mine.intersect(near), mine.getSize(new THREE.Vector3()).length()]);
    for (const c of ["x", "y", "z"]) {
      box.max[c] = Math.max(box.max[c], reached(sized, (mine) => mine.max[c]));
      box.min[c] = Math.min(box.min[c], -reached(sized, (mine) => -mine.min[c]));
    }
    this.pose(times[0]);
    // a machine stands on the floor to begin with; a bare skeleton may swing, and needs room below
    const stands = film.floating || film.drawnAs === "mesh";
    return Object.assign(box, { floor: film.floor ?? (stands ? floor : box.min.z) });
  }

  // round every solid part at a time, or every other
  boxes(t, solid) {
    this.pose(t);
    return this.around(solid);
  }

  around(solid) {
    this.world.updateMatrixWorld(true);
    return this.links.flatMap(({ children }) => children.filter(({ castShadow }) => castShadow === solid)
      .map(({ geometry, matrixWorld }) => {
        if (!geometry.boundingBox) geometry.computeBoundingBox();
        return geometry.boundingBox.clone().applyMatrix4(matrixWorld);
      }));
  }

  theme(dark) {
    if (this.grid) this.scene.remove(this.grid);
    const half = 0.5 * this.radius, power = 10 ** Math.floor(Math.log10(half));
    const step = power * [5, 2, 1].find((k) => k * power <= half * (1 + 1e-9)), count = 2 * Math.ceil((5 * this.radius) / step);
    this.grid = new this.THREE.GridHelper(count * step, count, ...FLOOR[dark ? "dark" : "light"]);
    this.grid.rotation.x = Math.PI / 2;
    this.grid.position.z = this.floor;
    this.grid.material.transparent = true;
    this.grid.material.opacity = 0.6;
    this.grid.visible = !this.paved;
    this.scene.add(this.grid);
    this.changed();
  }

  // as near as shows the whole box
  home() {
    const { THREE, camera, from, box: { min, max } } = this, to = this.center.clone();
    const right = new THREE.Vector3().crossVectors(camera.up, from).normalize(), up = from.clone().cross(right);
    const high = Math.tan((camera.fov * Math.PI) / 360), wide = high * camera.aspect;
    let distance = 0;
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z).sub(to);
      const across = Math.max(Math.abs(corner.dot(right)) / wide, Math.abs(corner.dot(up)) / high);
      distance = Math.max(distance, corner.dot(from) + 1.08 * across);
    }
    if (this.followed) to.add(this.moved());
    this.controls.target.copy(to);
    camera.position.copy(to).addScaledVector(from, distance);
    this.controls.update();
    this.touched = false;
    this.changed();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (!width || !height || (width === this.width && height === this.height)) return;
    Object.assign(this, { width, height });
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (!this.touched) this.home();
    this.changed();
  }

  changed() { this.stale = true; }

  // -- in time ---------------------------------------------------------------------------------------------

  pose(t) {
    const { poses, times } = this, n = times.length, [i, s] = between(times, t), j = Math.min(i + 1, n - 1);
    const a = this.a ??= new this.THREE.Quaternion(), b = this.b ??= new this.THREE.Quaternion();
    this.film.moving.forEach((link, m) => {
      const at = (k, picture) => poses[(7 * m + k) * n + picture], mix = (k) => at(k, i) + s * (at(k, j) - at(k, i));
      this.links[link].position.set(mix(0), mix(1), mix(2));
      a.set(at(3, i), at(4, i), at(5, i), at(6, i));
      b.set(at(3, j), at(4, j), at(5, j), at(6, j));
      this.links[link].quaternion.slerpQuaternions(a, b, s);
    });
    const at = Math.round(i + s);
    for (const { arrow, values, largest, unit, most } of this.arrows ?? []) {
      const [x, y, z, ...force] = Array.from({ length: 6 }, (_, k) => values[k * n + at]), size = Math.hypot(...force);
      arrow.visible = size > 1e-9 * largest;
      if (!arrow.visible) continue;
      arrow.position.set(x, y, z);
      arrow.quaternion.setFromUnitVectors(new this.THREE.Vector3(0, 1, 0), new this.THREE.Vector3(...force).divideScalar(size));
      arrow.scale.setScalar(this.reach).setY(this.reach * Math.min(size / unit, most));
    }
    this.changed();
  }

  show(t) {
    this.carry(() => {
      if (this.stands) this.place(this.still);
      if (this.stands) this.level(this.floor);
      this.stands = false;
      this.pose(t);
    });
  }

  // at a named configuration, without forces, until show(t)
  stand(k) {
    this.carry(() => this.place(this.named[k]));
    this.stands = true;
    // a page of a free robot at rest has no floor of its own
    if (this.film.floating && !this.film.moving.length) this.level(Math.min(...this.around(true).map(({ min }) => min.z)));
    for (const { arrow } of this.arrows) arrow.visible = false;
    this.changed();
  }

  level(z) {
    if (!Number.isFinite(z) || this.film.floor !== null) return;
    this.ground.position.z += z - this.grid.position.z;
    this.grid.position.z = z;
  }

  place(poses) {
    this.links.forEach((link, k) => {
      link.position.fromArray(poses, 7 * k);
      link.quaternion.fromArray(poses, 7 * k + 3);
    });
  }

  // the camera goes along where it follows the robot
  carry(change) {
    const before = this.followed || !this.film.moving.length ? this.moved() : null;
    change();
    if (before) {
      const step = this.moved().sub(before);
      this.camera.position.add(step);
      this.controls.target.add(step);
      this.controls.update();
    }
  }

  // how far the first link has come
  moved() {
    const root = this.links[this.film.moving[0] ?? 0], [m, n] = [0, this.times.length];
    const start = new this.THREE.Vector3(this.poses[m], this.poses[m + n], this.poses[m + 2 * n]);
    return root.position.clone().sub(start).applyQuaternion(this.world.quaternion);
  }

  follow(on) { this.followed = on && this.film.moving.length > 0; }

  // what moves is drawn at once; on a processor plainly, and finely when it has come to rest
  draw(now = performance.now()) {
    if (this.stale) {
      this.stale = false;
      this.changedAt = now;
      this.render(!this.software);
    } else if (!this.fine && now - this.changedAt > REST) this.render(true);
  }

  render(fine) {
    this.fine = fine;
    if (this.software) {
      this.renderer.setPixelRatio(fine ? 2 : 1);  // two by two pixels for each one seen smooth its edges
      this.sun.castShadow = fine;
      this.ground.visible = fine && !this.paved;
    }
    const to = this.film.floating ? this.center.clone().add(this.moved()) : this.center;
    this.sun.target.position.copy(to);
    this.sun.position.copy(to).add(new this.THREE.Vector3(1.2, -0.9, 3.2).multiplyScalar(1.2 * this.radius));
    this.ground.position.x = to.x;
    this.ground.position.y = to.y;
    this.lamp.position.copy(this.camera.position);
    this.lamp.target.position.copy(this.controls.target);
    this.renderer.render(this.scene, this.camera);
  }
}
