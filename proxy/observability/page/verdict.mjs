// Whether things are well, in a sentence; what is wrong; and the numbers.
import { about, count, fill, make, short } from "./text.mjs";
import { scarceOf } from "./budgets.mjs";

const inState = (status, state) => status.writes.filter((write) => write.state === state);

// [{bad, text}], the worst first.
export function problemsOf(status) {
  const problems = [];
  const say = (bad, text) => problems.push({ bad, text });
  if (status.journal_writable === false) say(true, "The journal cannot be written, so no write is sent: is there room on its disk?");
  if (status.cluster?.engine_up === false) say(true, "The cluster's engine does not answer, so nothing can be recorded and no write is sent.");
  if (status.draining) say(true, "The service ends: it takes no new connections, and lets end what has begun.");
  const sick = status.sick ?? [];
  if (sick.length > 0) say(true, `${count(sick.length, "resource is", "resources are")} sick: operations fail again and again, or do not end.`);
  if (status.reload_good === false) say(false, "The last reload (SIGHUP) was refused: rules and mode are those of before, and a start with the file would fail. The log has the faults.");
  for (const warning of status.cluster?.warnings ?? []) say(false, `Warning: ${warning}.`);
  const doubt = status.writes.filter((write) => write.phase === "doubt").length;
  if (doubt > 0) say(false, `${count(doubt, "write", "writes")} may have taken effect; armgate finds out.`);
  for (const { text, pause } of scarceOf(status.budgets ?? [])) say(pause, text);
  if (status.mode !== "protect") say(false, status.mode === "observe" ? "Mode observe: nothing is held back or altered." : `Mode ${status.mode}: nothing is protected.`);
  return problems;
}

function waitingOf(status) {
  const { waits, runs } = status.totals;
  const listed = inState(status, "waits");
  if (waits > 0 && listed.length === 0) return `${count(waits, "write waits", "writes wait")}.`;  // those that are listed are older
  if (waits > 0) {
    const longest = listed.reduce((oldest, write) => (write.since_ms > oldest.since_ms ? write : oldest));
    const who = `${longest.client} for ${about(longest.since_ms)}`;
    return waits === 1 ? `1 write waits: ${who}.` : `${waits} writes wait, longest ${who}.`;
  }
  return runs > 0 ? `Nobody waits. ${count(runs, "write runs", "writes run")}.` : "Nobody waits, and no write runs.";
}

// The sentence with the colour that it has: the worst that is wrong, else who waits. `more`: the rest.
export function verdictOf(status) {
  const [first, ...others] = problemsOf(status);
  if (first?.bad) return { kind: "bad", text: first.text, more: [...others.map(({ text }) => text), waitingOf(status)] };
  return { kind: status.totals.waits > 0 ? "waits" : "good", text: waitingOf(status), more: problemsOf(status).map(({ text }) => text) };
}

export function showVerdict(place, status) {
  const { kind, text, more } = verdictOf(status);
  place.className = kind;
  fill(place, make("p", { name: "sentence", text }), ...(more.length > 0 ? [make("ul", {}, ...more.map((one) => make("li", { text: one })))] : []));
}

const tile = (label, value, { kind = "", title = "" } = {}) =>
  make("li", { name: kind, title }, make("b", { text: typeof value === "number" ? short(value) : value }), make("span", { text: label }));

export function showNumbers(now, since, { status, rate }) {
  const { counts, results = {}, totals: { runs, waits, kept } } = status;
  const bad = (value) => (value > 0 ? "bad" : "");
  fill(now,
    tile("requests/s", rate), tile("writes run", runs, { kind: runs ? "runs" : "", title: "at ARM, or their operations go on" }),
    tile("writes wait", waits, { kind: waits ? "waits" : "" }),
    tile("reservations", kept, { title: "for clients that left the line, or were told to come again" }), tile("connections", status.connections));
  fill(since,
    tile("guarded", counts.guarded, { title: "sent with the ETag of what they were built from" }),
    tile("merged", counts.merged, { kind: counts.merged ? "merged" : "", title: "sent together with others' changes" }),
    tile("stale (412)", counts.stale, { title: "updates that would have been lost" }),
    tile("refused otherwise", counts.refused), tile("sent again", counts.repeated),
    tile("unanswered", counts.unanswered, { kind: bad(counts.unanswered), title: "ARM could not be reached, or its answer broke off" }),
    tile("operations failed", (results.failed ?? 0) + (results.canceled ?? 0), { kind: bad((results.failed ?? 0) + (results.canceled ?? 0)) }));
}
