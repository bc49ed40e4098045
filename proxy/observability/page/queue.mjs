// The queue as a picture: one lane for each write that holds others up, those who wait for it in the order of their turns.
import { age, brief, make } from "./text.mjs";

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
  runs: "ARM took it, and its operation goes on",
  doubt: "it may have taken effect; that is being found out",
  waits: "stands in line",
  kept: "its client left or was told to come again; its place is kept",
};

export const wordOf = (write) => write.phase ?? write.state;

const SAID = { sent: "is being sent", again: "waits for ARM", runs: "runs", doubt: "is in doubt", waits: "waits", kept: "has its place kept" };

// What a lane says of itself: for whom who waits, and who is next.
export function sentenceOf({ first, waiting }) {
  const own = `${first.client} ${SAID[wordOf(first)] ?? wordOf(first)} since ${age(first.since_ms)}`;
  if (waiting.length === 0) return own;
  const next = waiting.find((write) => write.state === "waits") ?? waiting[0];
  return `${own}; ${waiting.length} behind it, next ${next.client}`;
}

function chip(write, { isNext, onOpen, isOpen }) {
  const word = wordOf(write);
  const element = make("button", { name: `chip ${write.state} ${word}`, type: "button", title: PHASES[word] ?? "", "aria-expanded": String(isOpen) },
    make("span", { name: "who", text: write.client + (write.inherited ? " (before the restart)" : "") }),
    make("span", { name: "word", text: isNext ? `next, ${word}` : word }),
    make("span", { name: "since", text: age(write.since_ms) }),
    make("span", { name: "what", text: brief(write.what), title: write.what }));
  element.dataset.row = `write-${write.id}`;
  element.addEventListener("click", () => onOpen(write));
  return element;
}

function explanation(write, byId, onUnlock) {
  const list = make("dl", { name: "explained" });
  const row = (term, text) => list.append(make("dt", { text: term }), make("dd", { text }));
  row("write", write.what);
  row("client", write.client);
  row("state", `${wordOf(write)}: ${PHASES[wordOf(write)] ?? ""}`);
  row("since", `${age(write.since_ms)}${write.inherited ? ", sent by an earlier process" : ""}`);
  const behind = byId.get(write.behind);
  if (write.ahead > 0) row("waits for", `${write.ahead} write${write.ahead === 1 ? "" : "s"} in its way` + (behind ? `, the first ${behind.what} of ${behind.client}` : ""));
  if (onUnlock) {
    const button = make("button", { text: "unlock…", type: "button", name: "danger" });
    button.addEventListener("click", () => onUnlock(write));
    list.append(make("dt", { text: "will not end?" }), make("dd", {}, button));
  }
  return list;
}

// What can be released: an operation that runs, not what is on its way.
export const canUnlock = (write) => write.state === "runs" && (write.phase === "runs" || write.phase === "doubt");

export function showQueues(place, status, { open, onOpen, onUnlock }) {
  const byId = new Map(status.writes.map((write) => [write.id, write]));
  const lanes = lanesOf(status.writes);
  const box = (sentence, writes, next, kind) => {
    const chips = writes.map((write) => make("li", {}, chip(write, { isNext: write === next, onOpen, isOpen: open === `write-${write.id}` })));
    const element = make("div", { name: `lane ${kind}` }, make("p", { name: "quiet", text: sentence }), make("ol", {}, ...chips));
    const opened = writes.find((write) => open === `write-${write.id}`);
    if (opened) element.append(explanation(opened, byId, onUnlock && canUnlock(opened) ? onUnlock : null));
    return element;
  };
  const boxes = lanes.filter(({ waiting }) => waiting.length > 0)
    .map((lane) => box(sentenceOf(lane), [lane.first, ...lane.waiting], lane.waiting.find((write) => write.state === "waits"), "line"));
  const alone = lanes.filter(({ waiting }) => waiting.length === 0).map(({ first }) => first);
  if (alone.length > 0) boxes.push(box("Nobody waits for these.", alone, null, "alone"));
  if (status.writes_left_out > 0) boxes.push(make("p", { text: `and ${status.writes_left_out} more` }));
  if (boxes.length === 0) boxes.push(make("p", { name: "quiet", text: "No write runs or waits." }));
  place.replaceChildren(...boxes);
}
