// Runs suites side by side, each in a process of its own. What a suite prints comes out together, when it has ended.
import { spawn } from "node:child_process";
import { once } from "node:events";

const TOTAL = /^([0-9]+) of ([0-9]+) end-to-end tests passed\n$/m;

// One suite by `words`, a command that ends with the line of TOTAL: {passed, total}. One that does not get there has failed once.
async function runSuite(name, words) {
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece) => { text += piece; });
  const [code, signal] = await once(child, "close");
  const counted = TOTAL.exec(text);
  process.stdout.write(text.replace(TOTAL, ""));
  if (counted) return { passed: Number(counted[1]), total: Number(counted[2]) };
  console.log(`FAILED  ${name}: it ended with ${signal ?? code} before its tests did`);
  return { passed: 0, total: 1 };
}

// `suites` in `lanes` lanes, then each of `alone` by itself. `wordsOf(suite)` is its command.
export async function runInLanes(suites, alone, lanes, wordsOf) {
  const sum = { passed: 0, total: 0 };
  const runOne = async (suite) => {
    const { passed, total } = await runSuite(suite, wordsOf(suite));
    sum.passed += passed;
    sum.total += total;
  };
  const waiting = [...suites];
  const lane = async () => {
    while (waiting.length > 0) await runOne(waiting.shift());
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  for (const suite of alone) await runOne(suite);
  return sum;
}
