// Plots of the last hour, drawn as SVG from what /recent tells.
import { draw, make, milliseconds, short } from "./text.mjs";

const WIDTH = 360;
const HEIGHT = 124;
const LEFT = 40;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 20;
const INNER = WIDTH - LEFT - RIGHT;
const FLOOR = HEIGHT - BOTTOM;

const perSecond = (value, every) => value / every;
const asItIs = (value) => value;

// Each plot's lines, in the words of /recent. `per`: the unit of its axis.
export const PLOTS = [
  { title: "Requests", per: "a second", lines: [["requests", "requests"]], scale: perSecond, unit: short },
  { title: "Writes made safe", per: "in 10 s", lines: [["guarded", "guarded"], ["merged", "merged"]], scale: asItIs, unit: short, whole: true },
  { title: "Writes refused", per: "in 10 s", lines: [["stale", "as stale (412)"], ["refused", "otherwise"]], scale: asItIs, unit: short, whole: true },
  { title: "Writes that wait", per: "at the time", lines: [["waiting", "waiting, reservations among them"]], scale: asItIs, unit: short, whole: true },
  { title: "Added latency", per: "", lines: [["added_ms", "average of all"], ["added_p95_ms", "95 % of who waited"]], scale: asItIs, unit: milliseconds, whole: true },
  { title: "ARM's conflicts and throttling", per: "in 10 s", lines: [["arm_409", "409"], ["arm_412", "412"], ["arm_429", "429"]], scale: asItIs, unit: short, whole: true },
];

// A round number that is not below the value: 1, 2 or 5 times a power of ten.
export function ceiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

// What the axis names, from the bottom: its middle too, unless that is no whole number where only those make sense.
export function levelsOf(top, whole) {
  return whole && !Number.isInteger(top / 2) ? [0, top] : [0, top / 2, top];
}

// Which minutes the axis names, the longest ago first.
export function minutesOf(slots, everyS) {
  const all = Math.round(slots * everyS / 60);
  const step = [1, 2, 5, 10, 15, 20].find((one) => all / one <= 4) ?? 20;
  return Array.from({ length: Math.floor(all / step) }, (_, i) => (i + 1) * step).reverse();
}

// How many rows are shown: ten minutes at first, then as far back as is known.
export const shownSlots = (recent) => Math.min(recent.slots, Math.max(600 / recent.every_s, recent.columns.requests.length));

const xOf = (slot, slots) => LEFT + slot * INNER / Math.max(1, slots - 1);
const yOf = (value, top) => FLOOR - value / top * (FLOOR - TOP);

// "x,y x,y ..." of a line; the newest at the right edge.
export function pointsOf(values, slots, top) {
  const first = slots - values.length;
  return values.map((value, i) => `${xOf(first + i, slots).toFixed(1)},${yOf(value, top).toFixed(1)}`).join(" ");
}

function label(x, y, text, anchor) {
  const element = draw("text", { x, y, "text-anchor": anchor });
  element.textContent = text;
  return element;
}

function axes(slots, everyS, top, { unit, whole }) {
  const rows = levelsOf(top, whole).flatMap((level) => {
    const y = yOf(level, top);
    return [draw("line", { class: level === 0 ? "axis" : "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y }), label(LEFT - 5, y + 3.5, unit(level), "end")];
  });
  const minutes = minutesOf(slots, everyS);
  const columns = minutes.map((minute, i) => {
    const x = Math.max(LEFT, xOf(slots - 1 - minute * 60 / everyS, slots));
    return label(x, HEIGHT - 5, i === 0 ? `${minute} min ago` : String(minute), x < LEFT + 20 ? "start" : "middle");
  });
  return [...rows, ...columns, label(WIDTH - RIGHT, HEIGHT - 5, "now", "end")];
}

const agoText = (seconds) => (seconds < 60 ? `${seconds} s ago` : `${Math.floor(seconds / 60)} min ${seconds % 60 ? `${seconds % 60} s ` : ""}ago`);

function plot(how, recent) {
  const { title, per, lines, scale, unit } = how;
  const series = lines.map(([column, name]) => ({ name, values: recent.columns[column].map((value) => scale(value, recent.every_s)) }));
  const slots = shownSlots(recent);
  const top = ceiling(Math.max(0, ...series.flatMap(({ values }) => values)));
  const last = series.map(({ values }) => (values.length > 0 ? unit(values.at(-1)) : "–"));
  const spoken = series.map(({ name }, i) => `${name} ${last[i]}`).join(", ");
  const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", tabindex: "0", "aria-label": `${title}${per ? ` ${per}` : ""}: ${spoken} now; the scale goes to ${unit(top)}` },
    ...axes(slots, recent.every_s, top, how));
  series.forEach(({ values }, i) => {
    const points = pointsOf(values, slots, top);
    if (i === 0 && values.length > 1) {
      const left = points.slice(0, points.indexOf(","));
      picture.append(draw("polygon", { class: "area s0", points: `${left},${FLOOR} ${points} ${WIDTH - RIGHT},${FLOOR}` }));
    }
    picture.append(draw("polyline", { class: `line s${i}`, points }));
  });
  if (series[0].values.length === 0) picture.append(label(LEFT + INNER / 2, TOP + (FLOOR - TOP) / 2 - 8, "the first ten seconds are being counted", "middle"));
  const when = make("span", { name: "now", text: "now" });
  const values = last.map((text) => make("b", { text }));
  const legend = make("p", { name: "legend" }, ...series.map(({ name }, i) => make("span", { name: `key s${i}` }, values[i], ` ${name}`)));
  const tell = (texts, time) => { texts.forEach((text, i) => { values[i].textContent = text; }); when.textContent = time; };
  const shown = { picture, series, everyS: recent.every_s, slots, unit, tell, last };
  listen(title, shown);
  return make("figure", {}, make("figcaption", {}, make("span", {}, make("b", { text: title }), per ? ` ${per}` : ""), when), picture, legend);
}

// ---- what was there at one time: where somebody points, or goes with the arrow keys ----

const looked = { title: "", back: 0 };  // how many slots before the newest; kept when the plots are drawn anew

function look(title, back, shown) {
  const known = shown.series[0].values.length;
  if (known === 0) return;
  Object.assign(looked, { title, back: Math.min(known - 1, Math.max(0, back)) });
  const { picture, series, slots, everyS, unit, tell } = shown;
  tell(series.map(({ values }) => unit(values[values.length - 1 - looked.back])), looked.back === 0 ? "now" : agoText(looked.back * everyS));
  picture.querySelector(".hair")?.remove();
  const x = xOf(slots - 1 - looked.back, slots);
  picture.append(draw("line", { class: "hair", x1: x, x2: x, y1: TOP, y2: FLOOR }));
}

function lookAway({ picture, tell, last }) {
  looked.title = "";
  tell(last, "now");
  picture.querySelector(".hair")?.remove();
}

function listen(title, shown) {
  const { picture, slots } = shown;
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * WIDTH;
    look(title, slots - 1 - Math.round((x - LEFT) / INNER * (slots - 1)), shown);
  });
  picture.addEventListener("pointerleave", () => lookAway(shown));
  picture.addEventListener("blur", () => lookAway(shown));
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: 1, ArrowRight: -1, PageUp: 30, PageDown: -30 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    look(title, (looked.title === title ? looked.back : 0) + step, shown);
  });
  if (looked.title === title) look(title, looked.back, shown);
}

export function showPlots(place, recent) {
  const focused = [...place.querySelectorAll("svg")].indexOf(document.activeElement);
  const before = { ...looked };
  const figures = PLOTS.map((one) => plot(one, recent));
  place.replaceChildren(...figures);
  if (focused >= 0) place.querySelectorAll("svg")[focused].focus({ preventScroll: true });
  if (before.title && looked.title !== before.title) Object.assign(looked, before);
}
