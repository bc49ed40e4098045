// The list of requirements (docs/requirements.md) and the tests that are named after them.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";

export const PARTS = ["etag", "state", "conflict", "queue", "group", "failure", "once"];
// The rows of the repair name end-to-end tests in quotes and unit tests as code.
const REPAIR = ["heal", "heal_meanwhile", "heal_nodes", "heal_asked", "heal_killed"];
const UNIT_TESTS = ["cli/heal", "cli", "proxy/state/lock"];
async function holdRepair(rows) {
  const names = [];
  for (const suite of REPAIR) names.push(...Object.keys((await import(`./${suite}_suite.mjs`)).tests));
  const sources = UNIT_TESTS.flatMap((folder) => {
    const directory = new URL(`../${folder}/`, import.meta.url);
    return readdirSync(directory).filter((name) => name.endsWith("_test.cc")).map((name) => readFileSync(new URL(name, directory), "utf8"));
  });
  for (const [, row, , shown] of rows) {
    for (const [, title] of shown.matchAll(/"([^"]+)"/g)) assert.ok(names.includes(title), `${row}: there is no test "${title}"`);
    for (const [, suite, name] of shown.matchAll(/`(\w+)\.(\w+)`/g)) {
      assert.ok(sources.some((text) => new RegExp(`TEST(_[FP])?\\(${suite}, ${name}\\)`).test(text)), `${row}: there is no test ${suite}.${name}`);
    }
  }
}

const LIST = new URL("../../docs/requirements.md", import.meta.url);

export const tests = {
  "every row of the list names its tests, and every test has its row": async () => {
    const all = readFileSync(LIST, "utf8").split("\n").filter((line) => /^\| [A-Z]\d+ \|/.test(line)).map((line) => line.split("|").map((cell) => cell.trim()));
    const isOfRepair = ([, row]) => /^(W([4-9]|1\d)|U[1-3])$/.test(row);
    await holdRepair(all.filter(isOfRepair));
    const rows = all.filter((row) => !isOfRepair(row));
    const listed = rows.flatMap(([, row, , shown]) => [...shown.matchAll(/"([^"]+)"/g)].map(([, title]) => `${row}: ${title}`));
    const names = [];
    for (const part of PARTS) names.push(...Object.keys((await import(`./requirements_${part}_suite.mjs`)).tests));
    assert.deepEqual(listed.sort(), names.sort());
  },
};
