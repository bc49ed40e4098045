// The writes that are on record: in the journal, or as long as the service remembers them.
import { brief, clockOf, fill, listOf, make, milliseconds, opener, tableOf } from "./text.mjs";
import { errorOf } from "./sick.mjs";

const STATES = {
  running: "its operation runs",
  done: "done",
  ended: "ended",
  failed: "its operation failed",
  canceled: "its operation was canceled",
  "given-up": "nobody waits for its end any more; it may run on",
  "no-answer": "has no answer yet",
  "no-answer-settled": "had no answer; the resource has settled since",
  "not-sent": "was not sent",
  "in-doubt": "nobody knows yet whether it took effect",
  "in-doubt-settled": "nobody knows whether it took effect; the resource has settled since",
  refused: "ARM refused it",
};

const KIND = { failed: "refused", canceled: "refused", "in-doubt": "refused", "no-answer-settled": "refused", "in-doubt-settled": "refused", "given-up": "waited", refused: "stale" };

// How it went, in words.
export function wordsOf(write) {
  const error = errorOf(write);
  const merged = write.merged ? `, merged with ${write.merged} of others' changes` : "";
  return `${STATES[write.state] ?? write.state}${write.took_ms >= 1000 ? ` after ${milliseconds(write.took_ms)}` : ""}${error ? `: ${error}` : ""}${merged}`;
}

// "/tags/a, /sku/capacity".
export function changedOf(write) {
  if (write.method === "DELETE") return "all of it (deleted)";
  if (!write.changed) return "";
  return write.changed.length === 1 && write.changed[0] === "" ? "all of it (created)" : write.changed.join(", ");
}

// A few lines about one resource, newest first.
export function shortHistory(writes) {
  if (writes.length === 0) return make("span", { name: "quiet", text: "no write of it is on record" });
  return make("ol", { name: "short-history" }, ...[...writes].reverse().map((write) =>
    make("li", { text: `${clockOf(write.begun)}  ${write.client}  ${write.method}${write.status ? ` ${write.status}` : ""}  ${wordsOf(write)}` })));
}

const COLUMNS = [["begun", "time"], ["client", "who"], ["write", "what"], ["ARM", "status"], ["how it went", "words"]];

export function showHistory(table, writes, open) {
  const rows = [...writes].reverse().map((write) => {
    const id = `record-${write.id}`;
    return {
      id, name: KIND[write.state] ?? "",
      cells: [clockOf(write.begun), write.client, opener(brief(`${write.method} ${write.path.toLowerCase()}`), { id, open, title: write.path }),
              write.status ? String(write.status) : "", wordsOf(write)],
      opened: () => listOf([["write", `${write.method} ${write.path}`], ["api-version", write.api_version], ["client", write.client + (write.tool ? ` (${write.tool})` : "")],
                            ["begun", write.begun], ["ended", write.ended], ["changed", changedOf(write)], ["operation", write.operation_id]]),
    };
  });
  fill(table, ...tableOf(COLUMNS, rows, { open, empty: "No write is on record." }));
}
