// Sick resources, and the last operations that failed or were canceled.
import { brief, clockOf, fill, make, tableOf } from "./text.mjs";

export const errorOf = ({ error_code: code, message_code: cause }) => (cause ? `${code} (${cause})` : code ?? "");

// Why a resource is sick, in words.
export const whyOf = (sick) => (sick.why === "stuck" ? "at work, and no operation is known to run" : `${sick.failures} operations have failed with ${errorOf(sick) || "no error code"}`);

const named = (id) => make("span", { name: "name", text: brief(id), title: id });
const SHOWN = 5;  // of the last failures
const SICK = [["since", "time"], ["sick resource", "what"], ["why", "words"], ["provisioningState", ""]];
const FAILURES = [["when", "time"], ["client", "who"], ["write", "what"], ["result", "status"], ["error", "words"]];

// Shows the section only if there is something in it.
export function showSick(section, place, { sick = [], failures = [] }) {
  section.hidden = sick.length + failures.length === 0;
  const tables = [];
  if (sick.length > 0)
    tables.push(make("table", {}, ...tableOf(SICK, sick.map((one) => ({ name: "refused", cells: [clockOf(one.since), named(one.resource), whyOf(one), one.state ?? ""] })))));
  if (failures.length > 0)
    tables.push(make("table", {}, ...tableOf(FAILURES, failures.slice(0, SHOWN).map((one) => ({ name: "refused", cells: [clockOf(one.when), one.client, named(one.what), one.result, errorOf(one)] })))));
  fill(place, ...tables);
}
