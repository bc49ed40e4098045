// The list of requirements (docs/requirements.md) and the tests that are named after them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

export const PARTS = ["etag", "state", "conflict", "queue", "group"];
const LIST = new URL("../../docs/requirements.md", import.meta.url);

export const tests = {
  "every row of the list names its tests, and every test has its row": async () => {
    const rows = readFileSync(LIST, "utf8").split("\n").filter((line) => /^\| [A-Z]\d+ \|/.test(line)).map((line) => line.split("|").map((cell) => cell.trim()));
    const listed = rows.flatMap(([, row, , shown]) => [...shown.matchAll(/"([^"]+)"/g)].map(([, title]) => `${row}: ${title}`));
    const names = [];
    for (const part of PARTS) names.push(...Object.keys((await import(`./requirements_${part}_suite.mjs`)).tests));
    assert.deepEqual(listed.sort(), names.sort());
  },
};
