// What was decided last, and why: a table with a filter, whose rows open their explanations.
import { age, brief, make, milliseconds } from "./text.mjs";

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

function explanation(decision) {
  const list = make("dl", { name: "explained" });
  const row = (term, text) => { if (text !== undefined && text !== "") list.append(make("dt", { text: term }), make("dd", { text })); };
  row("what happened", decision.words);
  row("what to do", decision.advice);
  row("request", `${decision.method} ${decision.resource}`);
  row("answer", `${decision.status === 0 ? "none: the client was gone" : decision.status}${decision.replayed ? ", of an earlier sending" : ""}`);
  row("time", `waited ${milliseconds(decision.waited_ms)} of ${milliseconds(decision.duration_ms)}; sent ${decision.attempts} time${decision.attempts === 1 ? "" : "s"}`);
  row("built from", decision.guard);
  row("merged with", (decision.merged ?? []).join(", "));
  row("locks", (decision.locks ?? []).join(", "));
  row("ARM said", [decision.upstream_code, decision.upstream_message].filter(Boolean).join(": "));
  row("no answer of ARM", decision.upstream_error);
  row("reason", decision.reason);
  return list;
}

const ROW = ["time", "client", "write", "answer", "waited", "what happened"];

export function showDecisions(table, decisions, { open, onOpen, now }) {
  const head = make("thead", {}, make("tr", {}, ...ROW.map((text) => make("th", { text, scope: "col" }))));
  const body = make("tbody");
  for (const decision of decisions) {
    const id = `decision-${decision.id}`;
    const isOpen = open === id;
    const opener = make("button", { text: brief(`${decision.method} ${decision.resource}`), type: "button", name: "opener", "aria-expanded": String(isOpen), title: decision.resource });
    opener.dataset.row = id;
    opener.addEventListener("click", () => onOpen(id));
    body.append(make("tr", { name: decision.outcome },
      make("td", { name: "time", text: `${age(now - decision.at_ms)} ago` }), make("td", { text: decision.client }), make("td", { name: "what" }, opener),
      make("td", { name: "status", text: String(decision.status || "none") }),
      make("td", { name: "time", text: decision.waited_ms > 0 ? milliseconds(decision.waited_ms) : "" }),
      make("td", { name: "words", text: decision.words })));
    if (isOpen) body.append(make("tr", {}, make("td", { colspan: String(ROW.length) }, explanation(decision))));
  }
  if (decisions.length === 0) body.append(make("tr", {}, make("td", { colspan: String(ROW.length), name: "quiet", text: "None." })));
  table.replaceChildren(head, body);
}

// Who has most trouble first.
export function showTroubles(table, title, troubles, { open, onOpen }) {
  const head = make("thead", {}, make("tr", {}, ...[title, "refused", "ARM's conflicts", "repeated", "waited"].map((text) => make("th", { text, scope: "col" }))));
  const body = make("tbody");
  const most = Math.max(1, ...troubles.map((trouble) => trouble.troubles));
  for (const trouble of troubles) {
    const id = `${title}-${trouble.name}`;
    const isOpen = open === id;
    const opener = make("button", { text: trouble.name.startsWith("/") ? brief(trouble.name) : trouble.name, type: "button", name: "opener", "aria-expanded": String(isOpen), title: trouble.name });
    opener.dataset.row = id;
    opener.addEventListener("click", () => onOpen(id));
    const bar = make("meter", { min: "0", max: String(most), value: String(trouble.troubles), title: `${trouble.troubles} in all` });
    const number = (value) => make("td", { name: "time", text: value > 0 ? String(value) : "" });
    body.append(make("tr", {}, make("td", { name: "what" }, opener, bar), number(trouble.refused), number(trouble.conflicts), number(trouble.repeated),
      make("td", { name: "time", text: trouble.waited > 0 ? `${trouble.waited}×, ${milliseconds(trouble.waited_ms)}` : "" })));
    if (isOpen) {
      const list = make("dl", { name: "explained" });
      const row = (term, text) => list.append(make("dt", { text: term }), make("dd", { text }));
      row("name", trouble.name);
      row("last", `${trouble.last_words} (${age(trouble.last_age_ms)} ago)`);
      row("refused", `${trouble.refused} by armgate or as stale`);
      row("ARM's conflicts", `${trouble.conflicts} ended with 409, 412 or 429`);
      row("repeated", `${trouble.repeated} were sent more than once`);
      row("waited", `${trouble.waited} waited, ${milliseconds(trouble.waited_ms)} in all`);
      body.append(make("tr", {}, make("td", { colspan: "5" }, list)));
    }
  }
  if (troubles.length === 0) body.append(make("tr", {}, make("td", { colspan: "5", name: "quiet", text: "None." })));
  table.replaceChildren(head, body);
}
