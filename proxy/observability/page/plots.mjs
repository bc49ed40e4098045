// Plots of the last hour, drawn as SVG from what /recent tells.
import { draw, make, milliseconds, short } from "./text.mjs";

const WIDTH = 320;
const HEIGHT = 96;
const TOP = 14;
const BOTTOM = 14;

const per_second = (value, every) => value / every;
const as_it_is = (value) => value;

// Each plot's lines, in the words of /recent.
export const PLOTS = [
  { title: "requests a second", lines: [["requests", "requests"]], scale: per_second, unit: short },
  { title: "writes guarded", lines: [["guarded", "guarded"]], scale: as_it_is, unit: short },
  { title: "writes merged", lines: [["merged", "merged"]], scale: as_it_is, unit: short },
  { title: "writes refused", lines: [["stale", "as stale (412)"], ["refused", "otherwise"]], scale: as_it_is, unit: short },
  { title: "waiting", lines: [["waiting", "waiting"]], scale: as_it_is, unit: short },
  { title: "added latency", lines: [["added_ms", "average"], ["added_p95_ms", "95 % of who waited"]], scale: as_it_is, unit: milliseconds },
  { title: "ARM's conflicts and throttling", lines: [["arm_409", "409"], ["arm_412", "412"], ["arm_429", "429"]], scale: as_it_is, unit: short },
];

// A round number that is not below the value: 1, 2 or 5 times a power of ten.
export function ceiling(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

// How many rows are shown: ten minutes at first, then as far back as is known.
export const shownSlots = (recent) => Math.min(recent.slots, Math.max(600 / recent.every_s, recent.columns.requests.length));

// "x,y x,y ..." of a line; the newest at the right edge.
export function pointsOf(values, slots, top) {
  const first = slots - values.length;
  return values.map((value, i) => {
    const x = (first + i) * WIDTH / Math.max(1, slots - 1);
    const y = HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  }).join(" ");
}

function label(x, y, text, anchor = "start") {
  const element = draw("text", { x, y, "text-anchor": anchor });
  element.textContent = text;
  return element;
}

function plot({ title, lines, scale, unit }, recent) {
  const series = lines.map(([column, name]) => ({ name, values: recent.columns[column].map((value) => scale(value, recent.every_s)) }));
  const slots = shownSlots(recent);
  const top = ceiling(Math.max(0, ...series.flatMap(({ values }) => values)));
  const last = series.map(({ values }) => unit(values.at(-1) ?? 0));
  const spoken = series.map(({ name }, i) => `${name} ${last[i]}`).join(", ");
  const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: ${spoken} now, the scale goes to ${unit(top)}` },
    draw("line", { class: "grid", x1: 0, x2: WIDTH, y1: TOP, y2: TOP }),
    draw("line", { class: "grid", x1: 0, x2: WIDTH, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }),
    label(0, TOP - 3, unit(top)), label(0, HEIGHT - 2, `${Math.round(slots * recent.every_s / 60)} min ago`), label(WIDTH, HEIGHT - 2, "now", "end"));
  series.forEach(({ values }, i) => {
    const points = pointsOf(values, slots, top);
    if (i === 0 && values.length > 1) {
      const floor = HEIGHT - BOTTOM;
      const left = points.slice(0, points.indexOf(","));
      picture.append(draw("polygon", { class: "area s0", points: `${left},${floor} ${points} ${WIDTH},${floor}` }));
    }
    picture.append(draw("polyline", { class: `line s${i}`, points }));
  });
  const when = make("span", { name: "now", text: "now" });
  const values = last.map((text) => make("b", { text }));
  const legend = make("p", { name: "legend" }, ...series.map(({ name }, i) =>
    make("span", { name: `key s${i}` }, values[i], series.length > 1 ? ` ${name}` : "")));
  const tell = (texts, time) => { texts.forEach((text, i) => { values[i].textContent = text; }); when.textContent = time; };
  picture.addEventListener("pointermove", (event) => point(event, { picture, series, recent, slots, unit, tell }));
  picture.addEventListener("pointerleave", () => { tell(last, "now"); picture.querySelector(".hair")?.remove(); });
  return make("figure", {}, make("figcaption", {}, make("b", { text: title }), when), picture, legend);
}

// What was there where somebody points.
function point(event, { picture, series, recent, slots, unit, tell }) {
  const box = picture.getBoundingClientRect();
  const slot = Math.round((event.clientX - box.left) / box.width * (slots - 1));
  const back = slots - 1 - slot;
  const values = series.map((one) => one.values[one.values.length - 1 - back]);
  if (values.includes(undefined)) return;
  const ago = back * recent.every_s;
  tell(values.map(unit), ago < 60 ? `${ago} s ago` : `${Math.round(ago / 60)} min ago`);
  picture.querySelector(".hair")?.remove();
  const x = slot * WIDTH / (slots - 1);
  picture.append(draw("line", { class: "hair", x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM }));
}

export function showPlots(place, recent) {
  place.replaceChildren(...PLOTS.map((one) => plot(one, recent)));
}
