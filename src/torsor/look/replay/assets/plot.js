// Curves over time on a canvas, in the page's colours; the cursor is an element of its own, and moves without redrawing them.

// as torsor.plotting has them, Okabe and Ito's first; brighter on black
const COLORS = {
  light: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666", "#8C564B",
    "#6A3D9A", "#9A9A00", "#8B1A4B", "#00A6A6"],
  dark: ["#3DA5E0", "#F0793A", "#1FC095", "#DE9CC0", "#F2B632", "#8CCBF2", "#A9AFB8", "#C29A8F",
    "#A98BD4", "#C9C93B", "#D9709E", "#4FD0D0"],
};
const DARK = matchMedia("(prefers-color-scheme: dark)");
const LEFT = 46, RIGHT = 10, TOP = 8, BOTTOM = 20;
const STILL = { willReadFrequently: true };  // drawn seldom: by the processor, which takes no graphics memory for it

const color = (k) => {
  const colors = COLORS[DARK.matches ? "dark" : "light"];
  return colors[k % colors.length];
};

// round numbers, about so many, from low to high
function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough), out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) out.push(k * step);
  return out;
}

const short = (x) => {
  const size = Math.abs(x);
  return size !== 0 && (size >= 1e5 || size < 1e-3) ? x.toExponential(1) : String(+x.toPrecision(4));
};

class Plot {
  constructor(plot, data, duration, events, seek) {
    Object.assign(this, { names: plot.names, joints: plot.joints, duration, events });
    this.t = unpacked(data, plot.t);
    this.y = columns(data, plot);
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${plot.title} over time`);
    this.cursor = made("div", "cursor");
    this.readout = made("div", "readout");
    const area = made("div", "area"), heading = made("h3", "", plot.title);
    heading.append(made("span", "unit", ` [${plot.unit}]`));
    area.append(this.canvas, this.cursor);
    this.root = made("section", "plot");
    this.root.append(heading, area, this.readout);
    const drag = (event) => {
      if (event.type === "pointerdown") area.setPointerCapture(event.pointerId);
      if (event.buttons & 1) seek(((event.offsetX - LEFT) / (this.width - LEFT - RIGHT)) * duration);
    };
    area.addEventListener("pointerdown", drag);
    area.addEventListener("pointermove", drag);
  }

  // colored: the colour of a curve by its joint and number, or nothing, and then it is not drawn
  draw(colored) {
    this.shown = this.joints.map((joint, k) => ({ k, color: colored(joint, k) })).filter((curve) => curve.color);
    const ratio = devicePixelRatio, style = getComputedStyle(this.root), pen = this.canvas.getContext("2d", STILL);
    this.width = this.canvas.clientWidth;
    const { width } = this, height = this.canvas.clientHeight;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    pen.scale(ratio, ratio);
    const [low, high] = this.range(), x = (t) => LEFT + (t / this.duration) * (width - LEFT - RIGHT);
    const y = (v) => TOP + ((high - v) / (high - low)) * (height - TOP - BOTTOM);
    pen.font = `11px ${style.fontFamily}`;
    pen.fillStyle = style.getPropertyValue("--quiet");
    pen.strokeStyle = style.getPropertyValue("--line");
    const line = (...points) => { pen.beginPath(); points.forEach(([a, b]) => pen.lineTo(a, b)); pen.stroke(); };
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const v of ticks(low, high, 4)) { line([LEFT, y(v)], [width - RIGHT, y(v)]); pen.fillText(short(v), LEFT - 6, y(v)); }
    pen.textAlign = "center";
    pen.textBaseline = "top";
    for (const t of ticks(0, this.duration, width / 70)) pen.fillText(short(t), x(t), height - BOTTOM + 5);
    pen.setLineDash([2, 3]);
    pen.globalAlpha = 0.6;
    pen.strokeStyle = style.getPropertyValue("--event");
    for (const { t } of this.events) line([x(t), TOP], [x(t), height - BOTTOM]);
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    pen.lineWidth = 1.4;
    pen.lineJoin = "round";
    for (const { k, color } of this.shown) {
      pen.strokeStyle = color;
      pen.beginPath();
      this.y[k].forEach((v, i) => pen.lineTo(x(this.t[i]), y(v)));
      pen.stroke();
    }
    this.x = x;
    this.values = this.shown.slice(0, 8).map(({ k, color }) => {
      const value = made("span", "value", this.joints[k] ? "" : `${this.names[k]} `), number = made("span");
      value.style.color = color;
      value.title = this.names[k];
      value.append(number);
      return { k, value, number };
    });
    this.readout.replaceChildren(...this.values.map(({ value }) => value));
  }

  range() {
    let low = Infinity, high = -Infinity;
    for (const { k } of this.shown) for (const v of this.y[k]) { low = Math.min(low, v); high = Math.max(high, v); }
    if (low > high) return [-1, 1];
    const rounding = 1e-9 * Math.max(Math.abs(low), Math.abs(high));
    const room = high - low > rounding ? 0.06 * (high - low) : Math.max(0.1 * Math.abs(high), 1);
    return [low - room, high + room];
  }

  show(t) {
    if (!this.x) return;
    this.cursor.style.transform = `translateX(${this.x(t)}px)`;
    const [i, s] = between(this.t, t), j = Math.min(i + 1, this.t.length - 1);
    for (const { k, number } of this.values) {
      number.textContent = short(this.y[k][i] + s * (this.y[k][j] - this.y[k][i]));
    }
  }
}

function made(tag, name = "", text = "") {
  const it = document.createElement(tag);
  it.className = name;
  it.textContent = text;  // never as HTML: names come from strangers' files
  return it;
}
