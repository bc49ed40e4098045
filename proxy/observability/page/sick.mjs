// Sick resources, and the last operations that failed or were canceled.
import { make } from "./text.mjs";

export const errorOf = ({ error_code: code, message_code: cause }) => (cause ? `${code} (${cause})` : code ?? "");

// Why a resource is sick, in words.
export const whyOf = (sick) => (sick.why === "stuck" ? "at work, and no operation is known to run" : `${sick.failures} operations have failed with ${errorOf(sick) || "no error code"}`);

const row = (name, cells) => make("tr", { name }, ...cells.map((text) => make("td", { text: text ?? "" })));
const table = (titles, rows) => make("table", {}, make("thead", {}, make("tr", {}, ...titles.map((text) => make("th", { text })))), make("tbody", {}, ...rows));

// Shows the section only if there is something in it.
export function showSick(section, place, { sick = [], failures = [] }) {
  section.hidden = sick.length + failures.length === 0;
  const parts = [];
  if (sick.length > 0) parts.push(table(["sick resource", "why", "since", "provisioningState"], sick.map((one) => row("refused", [one.resource, whyOf(one), one.since, one.state]))));
  if (failures.length > 0) parts.push(table(["when", "result", "error", "client", "write"], failures.map((one) => row("", [one.when, one.result, errorOf(one), one.client, one.what]))));
  place.replaceChildren(...parts);
}
