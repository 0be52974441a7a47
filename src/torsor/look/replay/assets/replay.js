// The page: time, the buttons that change it, the keys, and everything that follows it.

const film = JSON.parse(element("film").textContent);
const MOST = 7;  // joints whose curves are drawn before somebody chooses

class Replay {
  constructor(THREE, data) {
    this.duration = film.plots.length ? unpacked(data, film.times).at(-1) : 0;
    this.time = 0;
    this.playing = false;
    this.plots = [];
    this.stage = this.staged(THREE, data);
    this.tell();
    this.wire();
    this.seek(0);
    this.stage?.resize();
    this.stage?.draw();
  }

  // the curves, and from now on everything moves
  plot(data) {
    this.plots = film.plots.map((plot) => new Plot(plot, data, this.duration || 1, film.events, (t) => this.seek(t)));
    element("plots").append(...this.plots.map((plot) => plot.root));
    this.choose();
    const seen = new ResizeObserver(() => this.resize());  // calls once to begin with
    for (const it of [element("view").parentElement, element("plots")]) seen.observe(it);
    requestAnimationFrame((now) => this.tick(now));
  }

  staged(THREE, data) {
    try {
      return new Stage(THREE, element("view"), film, data);
    } catch (error) {
      film.notes.unshift(`The robot cannot be drawn: ${error.message}. This browser may have WebGL switched off.`);
      element("view").hidden = true;
      return null;
    }
  }

  // -- what is written -------------------------------------------------------------------------------------

  tell() {
    element("name").textContent = film.name;
    document.body.classList.toggle("still", !this.duration);
    for (const [name, value] of film.facts) element("facts").append(made("dt", "", name), made("dd", "", value));
    this.events();
    this.configurations();
    for (const { frame, kind } of film.arrows) if (kind === "external") element("notes").append(made("li", "", `Red arrow: external force on ${frame}`));
    for (const note of film.notes) element("notes").append(made("li", "", note));
    element("about").hidden = !film.notes.length && !film.arrows.length;
  }

  // a button for each kind of event, which goes to the next one of it; a mark for each on the time line
  events() {
    const times = new Map();
    for (const { t, name } of film.events) {
      times.set(name, [...(times.get(name) ?? []), t]);
      const mark = made("i");
      mark.style.left = `${(100 * t) / (this.duration || 1)}%`;
      element("marks").append(mark);
    }
    for (const [name, at] of times) {
      const button = made("button", "event", at.length > 1 ? `${name} (${at.length}×)` : `${name} at ${at[0].toFixed(3)} s`);
      button.addEventListener("click", () => this.seek(at.find((t) => t > this.time + 1e-9) ?? at[0]));
      element("events").append(button);
    }
  }

  // a menu of the named configurations; the motion is its first entry, and comes back when time changes
  configurations() {
    const menu = element("configuration");
    menu.append(...[this.duration ? "motion" : "neutral", ...film.configurations.map(({ name }) => name)].map((name, k) => {
      const option = made("option", "", name);
      option.value = k - 1;
      return option;
    }));
    element("posed").hidden = !film.configurations.length || !this.stage;
    menu.addEventListener("change", () => (Number(menu.value) < 0 ? this.seek(this.time) : this.stand(Number(menu.value))));
  }

  // a switch for every joint; first on are those that move most
  choose() {
    const speed = film.plots.find((plot) => plot.title === "Velocity"), spread = new Map();
    speed?.joints.forEach((joint, k) => {
      const mine = speed.range[1][k] - speed.range[0][k];
      spread.set(joint, Math.max(spread.get(joint) ?? 0, mine));
    });
    const names = [...spread.keys()], most = [...names].sort((a, b) => spread.get(b) - spread.get(a));
    this.chosen = new Set(names.length <= MOST + 2 ? names : most.slice(0, MOST));
    this.chips = new Map();
    for (const name of names) {
      const chip = made("button", "chip", name);
      this.chips.set(name, chip);
      chip.setAttribute("aria-pressed", this.chosen.has(name));
      chip.addEventListener("click", () => {
        if (!this.chosen.delete(name)) this.chosen.add(name);
        chip.setAttribute("aria-pressed", this.chosen.has(name));
        this.curves();
      });
      element("joints").append(chip);
    }
  }

  curves() {
    const colors = new Map([...this.chips.keys()].map((name, k) => [name, color(k)]));
    for (const [name, chip] of this.chips) chip.style.setProperty("--color", colors.get(name));
    for (const plot of this.plots) {
      plot.draw((joint, k) => (joint ? this.chosen.has(joint) && colors.get(joint) : color(k)));
      plot.show(this.time);
    }
  }

  // -- what is pressed -------------------------------------------------------------------------------------

  wire() {
    const scrub = element("scrub");
    scrub.max = this.duration;
    scrub.addEventListener("input", () => this.seek(scrub.valueAsNumber));
    element("play").addEventListener("click", () => this.play(!this.playing));
    element("home").addEventListener("click", () => this.stage?.home());
    const follow = element("follow");
    follow.checked = film.floating;
    follow.parentElement.hidden = !film.floating;
    follow.addEventListener("change", () => this.stage?.follow(follow.checked));
    this.stage?.follow(film.floating);
    addEventListener("keydown", (event) => this.key(event));
    DARK.addEventListener("change", ({ matches }) => {
      this.stage?.theme(matches);
      this.curves();
    });
  }

  key(event) {
    if (!this.duration || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("select, [type=checkbox], .chip")) return;  // they have keys of their own
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === " " && !event.target.matches("button")) this.play(!this.playing);
    else if (step) this.seek(this.time + (step * this.duration) / (event.shiftKey ? 20 : 200));
    else if (event.key === "Home") this.seek(0);
    else if (event.key === "End") this.seek(this.duration);
    else return;
    event.preventDefault();
  }

  play(on) {
    if (on && this.time >= this.duration) this.seek(0);
    this.playing = on && this.duration > 0;
    element("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
    element("play").classList.toggle("playing", this.playing);
  }

  stand(k) {
    this.play(false);
    this.stage?.stand(k);
  }

  seek(t) {
    element("configuration").selectedIndex = 0;
    this.time = Math.min(Math.max(t, 0), this.duration);
    element("scrub").value = this.time;
    element("scrub").setAttribute("aria-valuetext", `${this.time.toFixed(2)} seconds`);
    element("time").textContent = `${this.time.toFixed(2)} / ${this.duration.toFixed(2)} s`;
    this.stage?.show(this.time);
    for (const plot of this.plots) plot.show(this.time);
  }

  resize() {
    this.stage?.resize();
    this.curves();
  }

  tick(now) {
    if (this.playing) {
      this.seek(this.time + ((now - (this.last ?? now)) / 1000) * Number(element("speed").value));
      if (this.time >= this.duration) this.play(false);
    }
    this.last = now;
    this.stage?.draw(now);
    requestAnimationFrame((next) => this.tick(next));
  }
}

async function three() {
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(await inflated("three"));
  document.head.append(script);  // runs at once; the policy knows its hash
  return globalThis.THREE;
}

// the first picture of the robot is seen before the curves are drawn
const seen = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

async function begin() {
  const [THREE, data] = await Promise.all([three(), inflated("data")]);
  document.torsor = new Replay(THREE, data);
  await seen();
  document.torsor.plot(data);
  await seen();
  document.body.classList.add("ready");
  if (document.torsor.duration && !matchMedia("(prefers-reduced-motion: reduce)").matches) document.torsor.play(true);
}

begin().catch((error) => {
  element("name").textContent = film.name;
  element("fault").textContent = `This page could not be shown: ${error.message}`;
  element("fault").hidden = false;
  throw error;
});
