// What was decided last, and why: a table with a filter, whose rows open their explanations.
import { about, age, brief, fill, listOf, make, milliseconds, opener, tableOf } from "./text.mjs";

const KINDS = {
  notable: (decision) => decision.notable,
  refused: (decision) => ["stale", "refused", "unanswered"].includes(decision.outcome),
  merged: (decision) => (decision.merged ?? []).length > 0,
  waited: (decision) => decision.waited_ms > 0,
};

export function filtered(decisions, { text, kind }) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (decision) => {
    const all = [decision.client, decision.method, decision.resource, decision.status, decision.reason, decision.words, decision.outcome,
                 decision.guard, decision.upstream_code].filter((part) => part !== undefined).join(" ").toLowerCase();
    return words.every((word) => all.includes(word));
  };
  return decisions.filter((decision) => (KINDS[kind] ?? (() => true))(decision) && matches(decision));
}

const explanation = (decision, history) => listOf([
  ["what happened", decision.words],
  ["what to do", decision.advice],
  ["request", `${decision.method} ${decision.resource}`],
  ["answer", `${decision.status === 0 ? "none: the client was gone" : decision.status}${decision.replayed ? ", of an earlier sending" : ""}`],
  ["time", `waited ${milliseconds(decision.waited_ms)} of ${milliseconds(decision.duration_ms)}; sent ${decision.attempts} time${decision.attempts === 1 ? "" : "s"}`],
  ["built from", decision.guard],
  ["merged with", (decision.merged ?? []).join(", ")],
  ["locks", (decision.locks ?? []).join(", ")],
  ["ARM said", [decision.upstream_code, decision.upstream_message].filter(Boolean).join(": ")],
  ["no answer of ARM", decision.upstream_error],
  ["reason", decision.reason],
  ["last writes", history(decision.resource)],
]);

const COLUMNS = [["time", "time"], ["client", "who"], ["write", "what"], ["answer", "status"], ["waited", "time"], ["what happened", "words"]];

// `history` gives an element for a resource, or nothing.
export function showDecisions(table, decisions, { open, now, history, isFiltered }) {
  const rows = decisions.map((decision) => {
    const id = `decision-${decision.id}`;
    return {
      id, name: decision.outcome,
      cells: [`${about(now - decision.at_ms)} ago`, decision.client, opener(brief(`${decision.method} ${decision.resource}`), { id, open, title: decision.resource }),
              make("span", { name: "pill", text: String(decision.status || "none") }), decision.waited_ms > 0 ? milliseconds(decision.waited_ms) : "", decision.words],
      opened: () => explanation(decision, history),
    };
  });
  fill(table, ...tableOf(COLUMNS, rows, { open, empty: isFiltered ? "None of them fits the filter." : "No write has come through yet." }));
}

const TROUBLES = [["", "what"], ["refused", "number"], ["ARM's conflicts", "number"], ["repeated", "number"], ["waited", "number"]];

const TROUBLES_SHOWN = 12;

// The names with most trouble first.
export function showTroubles(table, title, troubles, { open, history }) {
  const most = Math.max(1, ...troubles.map((trouble) => trouble.troubles));
  const number = (value) => (value > 0 ? String(value) : "");
  const rows = troubles.slice(0, TROUBLES_SHOWN).map((trouble) => {
    const id = `${title}-${trouble.name}`;
    const isResource = trouble.name.startsWith("/");
    return {
      id,
      cells: [make("span", { name: "trouble" }, opener(isResource ? brief(trouble.name) : trouble.name, { id, open, title: trouble.name }),
                   make("meter", { min: "0", max: String(most), value: String(trouble.troubles), title: `${trouble.troubles} in all` })),
              number(trouble.refused), number(trouble.conflicts), number(trouble.repeated), trouble.waited > 0 ? `${trouble.waited}×, ${milliseconds(trouble.waited_ms)}` : ""],
      opened: () => listOf([
        ["name", trouble.name],
        ["last", `${trouble.last_words} (${age(trouble.last_age_ms)} ago)`],
        ["refused", `${trouble.refused} by armgate or as stale`],
        ["ARM's conflicts", `${trouble.conflicts} ended with 409, 412 or 429`],
        ["repeated", `${trouble.repeated} were sent more than once`],
        ["waited", `${trouble.waited} waited, ${milliseconds(trouble.waited_ms)} in all`],
        ["last writes", isResource ? history(trouble.name) : ""],
      ]),
    };
  });
  fill(table, ...tableOf([[title, "what"], ...TROUBLES.slice(1)], rows, { open, empty: "Nobody." }));
}
