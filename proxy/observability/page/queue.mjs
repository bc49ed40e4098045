// The queue as a picture: one lane for each write that holds others up, those who wait for it in the order in which they come.
import { about, age, brief, count, fill, listOf, make } from "./text.mjs";

// The write that it waits for in the end, itself if it waits for none that is shown. Two looks at different keys may contradict each
// other, so that a way leads back: then the oldest on it.
function rootOf(write, byId) {
  let oldest = write;
  for (let at = write, steps = 0; steps < byId.size; at = byId.get(at.behind), ++steps) {
    if (!byId.has(at.behind)) return at;
    if (at.id < oldest.id) oldest = at;
  }
  return oldest;
}

// [{first, waiting}], the longest first.
export function lanesOf(writes) {
  const byId = new Map(writes.map((write) => [write.id, write]));
  const lanes = new Map();
  for (const write of writes) {
    const root = rootOf(write, byId);
    if (!lanes.has(root)) lanes.set(root, { first: root, waiting: [] });
    if (write !== root) lanes.get(root).waiting.push(write);
  }
  for (const lane of lanes.values()) lane.waiting.sort((a, b) => a.ahead - b.ahead || a.id - b.id);
  return [...lanes.values()].sort((a, b) => b.waiting.length - a.waiting.length || b.first.since_ms - a.first.since_ms);
}

const PHASES = {
  sent: "is on its way to ARM, or about to be: it ends with ARM's answer",
  again: "ARM was busy with it or was not reached; it is going to be sent again",
  runs: "ARM took it, and its operation goes on, as far as is known",
  doubt: "it may have taken effect; that is being found out",
  waits: "stands in line",
  kept: "its client left or was told to come again; it has a reservation",
};

export const wordOf = (write) => write.phase ?? write.state;

const SAID = { sent: "is being sent", again: "waits for ARM", runs: "runs", doubt: "is in doubt", waits: "waits", kept: "has a reservation" };

// While nobody waits for its end, ARM is asked rarely, and it may be over.
const asOf = (write) => {
  if (write.unseen) return ", no answer about it since the restart";
  return write.seen_ms === undefined ? "" : `, as of ${about(write.seen_ms)} ago`;
};

// What a lane says of itself: for whom who waits, and who is next.
export function sentenceOf({ first, waiting }) {
  const own = `${first.client} ${SAID[wordOf(first)] ?? wordOf(first)} since ${age(first.since_ms)}${asOf(first)}`;
  const waits = waiting.filter((write) => write.state === "waits");
  const kept = waiting.length - waits.length;
  const behind = waits.length > 0 ? [`; ${count(waits.length, "waits", "wait")} behind it, next ${waits[0].client}`] : [];
  if (kept > 0) behind.push(`; ${count(kept, "reservation", "reservations")}`);
  return own + behind.join("");
}

function chip(write, { isNext, open }) {
  const word = wordOf(write);
  const id = `write-${write.id}`;
  return make("button", { name: `chip ${write.state} ${word}`, type: "button", title: `${write.what}\n${PHASES[word] ?? ""}`, "aria-expanded": String(open === id), "data-row": id },
    make("span", { name: "who", text: write.client + (write.inherited ? " (before the restart)" : "") }),
    make("span", { name: "word", text: (isNext ? `next, ${word}` : word) + asOf(write) }),
    make("span", { name: "since", text: age(write.since_ms) }),
    make("span", { name: "what", text: brief(write.what) }));
}

function explanation(write, byId, mayUnlock, history) {
  const behind = byId.get(write.behind);
  const resource = write.what.slice(write.what.indexOf(" ") + 1);
  return listOf([
    ["write", write.what],
    ["client", write.client],
    ["state", `${wordOf(write)}: ${PHASES[wordOf(write)] ?? ""}${asOf(write)}`],
    ["since", `${age(write.since_ms)}${write.inherited ? ", sent by an earlier process" : ""}`],
    ["waits for", write.ahead > 0 ? `${count(write.ahead, "write")} in its way${behind ? `, the first ${behind.what} of ${behind.client}` : ""}` : ""],
    ["last writes", history(resource)],
    ["will not end?", mayUnlock && canUnlock(write) ? make("button", { text: "unlock…", type: "button", name: "danger", "data-unlock": String(write.id) }) : ""],
  ]);
}

// What can be released: an operation that runs, not what is on its way.
export const canUnlock = (write) => write.state === "runs" && (write.phase === "runs" || write.phase === "doubt");

// Of a long line so many are shown, until it is opened: writes that wait come before reservations.
const SHOWN = 12;
const SHOWN_ALONE = 8;

export function shownOf(writes, most = SHOWN) {
  if (writes.length <= most) return writes;
  const [first, ...others] = writes;
  const waits = others.filter((write) => write.state !== "kept");
  return [first, ...waits, ...others.filter((write) => write.state === "kept")].slice(0, Math.max(1 + Math.min(waits.length, most - 1), 4));
}

// `history` gives an element for a resource, or nothing.
export function showQueues(place, status, { open, mayUnlock, history }) {
  const byId = new Map(status.writes.map((write) => [write.id, write]));
  const lanes = lanesOf(status.writes);
  const box = (id, sentence, writes, next, kind) => {
    const opened = writes.find((write) => open === `write-${write.id}`);
    const some = shownOf(writes, kind === "alone" ? SHOWN_ALONE : SHOWN);
    const shown = open === id ? writes : opened && !some.includes(opened) ? [...some, opened] : some;
    const items = shown.map((write) => make("li", { "data-key": String(write.id) }, chip(write, { isNext: write === next, open })));
    if (shown.length < writes.length) items.push(make("li", {}, make("button", { name: "more", type: "button", "data-row": id, text: `and ${writes.length - shown.length} more` })));
    const parts = [make("p", { name: "quiet", text: sentence }), make("ol", {}, ...items)];
    if (opened) parts.push(explanation(opened, byId, mayUnlock, history));
    return make("div", { name: `lane ${kind}`, "data-key": id }, ...parts);
  };
  const boxes = lanes.filter(({ waiting }) => waiting.length > 0)
    .map((lane) => box(`line-${lane.first.id}`, sentenceOf(lane), [lane.first, ...lane.waiting], lane.waiting.find((write) => write.state === "waits"), "line"));
  const alone = lanes.filter(({ waiting }) => waiting.length === 0).map(({ first }) => first);
  if (alone.length > 0) boxes.push(box("alone", boxes.length > 0 ? "Nobody waits for these." : "These run, and nobody waits for them.", alone, null, "alone"));
  if (status.writes_left_out > 0) boxes.push(make("p", { name: "quiet", text: `and ${count(status.writes_left_out, "newer write")}, of which neither this page nor armgate queue knows more` }));
  if (boxes.length === 0) boxes.push(make("p", { name: "empty", text: "No write runs, and nobody waits." }));
  fill(place, ...boxes);
}
