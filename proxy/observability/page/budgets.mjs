// What ARM's last answers said is left of the requests that it takes of each principal for a subscription.
import { about, count, fill, listOf, make, opener, tableOf } from "./text.mjs";

const SCARCE = 0.25;  // as armgate's own reads have it

const isScarce = ({ left, most }) => left <= 10 || left <= SCARCE * most;
const whose = (row) => `${row.principal} in ${row.subscription || "the tenant"}`;

// The scarcest comes first.
const byNeed = (told) => [...told].sort((a, b) => a.left / a.most - b.left / b.most);

// What is worth a sentence: [{pause, text}]. A budget that never had more than is left is not scarce, only small.
export function scarceOf(budgets) {
  const told = [];
  for (const row of budgets) {
    if (row.come_again_ms > 0) told.push({ pause: true, text: `ARM has answered 429 to ${whose(row)}: ${about(row.come_again_ms)} to wait.` });
    else if (row.waiting.length > 0) told.push({ pause: false, text: `${count(row.waiting.length, "request waits", "requests wait")} for a share of what ARM lets ${whose(row)} do.` });
    else {
      const [low] = byNeed(row.told).filter((one) => isScarce(one) && one.left < one.most);
      if (low) told.push({ pause: false, text: `ARM lets ${whose(row)} do little more: ${low.budget} ${low.left} of ${low.most}.` });
    }
  }
  return told;
}

const bar = ({ budget, left, most }) => make("span", { name: `budget${isScarce({ left, most }) ? " low" : ""}` },
  make("meter", { min: "0", max: String(Math.max(1, most)), value: String(left) }), make("span", { text: `${budget} ` }), make("b", { text: `${left} of ${most}` }));

const COLUMNS = [["principal", "who"], ["subscription", "what"], ["left, of the most lately", "words"], ["ARM asks to wait", "time"], ["wait for a share", "time"]];

export function showBudgets(section, table, budgets, open) {
  section.hidden = budgets.length === 0;
  const rows = budgets.map((row) => {
    const id = `budget-${row.principal}-${row.subscription}`;
    return {
      id, name: row.come_again_ms > 0 ? "refused" : "",
      cells: [opener(row.principal, { id, open }), row.subscription || "(tenant)", make("span", { name: "budgets" }, ...byNeed(row.told).map(bar)),
              row.come_again_ms > 0 ? about(row.come_again_ms) : "", row.waiting.length > 0 ? String(row.waiting.length) : ""],
      opened: () => listOf([["principal", `${row.principal}: a keyed hash of the token's claims, as clients without a name have it in the log`],
                            ...row.waiting.map(({ client, what, waited_ms: ms }) => ["waits", `${client}, for ${about(ms)}: ${what}`]),
                            ["waits", row.waiting.length === 0 ? "nobody" : ""]]),
    };
  });
  fill(table, ...tableOf(COLUMNS, rows, { open }));
}
