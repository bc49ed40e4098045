// Runs the end-to-end tests: the real programs, real clients, on loopback.
//   node run.mjs --bin DIRECTORY_OF_THE_PROGRAMS [--only PART_OF_A_NAME] [--jobs SUITES_AT_ONCE] [--suite NAME]
//       [--seconds FOR_ONE_TEST]
// Each test gets a World of its own (harness.mjs), which is taken down whatever happens; a failed test shows its logs.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { oneAtATime, World, withinSeconds } from "./harness.mjs";
import { runInLanes } from "./lanes.mjs";
import { beginLiveness, printLiveness } from "./liveness.mjs";
import { printMerging } from "./merging.mjs";
import { PARTS } from "./requirements_suite.mjs";
import { installSdk } from "./sdk.mjs";
import { beginScenario, buildGoClient, printCompared, printMeasured } from "./tools.mjs";

// The longest first, so that no lane waits for one that began last.
const SUITES = [
  "parent",
  "merging",
  "races",
  "az",
  "protection",
  "races_behind",
  "races_odd",
  "cluster",
  "cluster_engine",
  "cluster_rolling",
  "cluster_cut",
  "cluster_clients",
  "cluster_rules",
  "cluster_import",
  "cluster_shared",
  "cluster_tail",
  "cluster_tls",
  ...PARTS.map((part) => `requirements_${part}`),
  "liveness_loops",
  "liveness_refused",
  "liveness_lost",
  "admin",
  "journal",
  "late",
  "heal_killed",
  "heal",
  "heal_nodes",
  "heal_meanwhile",
  "heal_asked",
  "traps",
  "unruled",
  "exec",
  "doctor",
  "page",
  "image",
  "service",
  "package",
  "trust",
  "deploy",
  "docs",
  "transport",
  "passthrough",
  "requirements",
];
// These compare times.
const ALONE = [
  "budgets",
  "harm",
  "liveness_adds",
];
const SECONDS_PER_TEST = "240";  // against hanging only: a loaded machine takes several times as long as a quiet one

const { values: options } = parseArgs({ options: { bin: { type: "string" }, only: { type: "string", default: "" },
                                                   jobs: { type: "string", default: "1" }, suite: { type: "string" },
                                                   seconds: { type: "string", default: SECONDS_PER_TEST } } });
if (Number(process.versions.node.split(".")[0]) < 18) throw new Error(`Node 18 or later is needed, this is ${process.version}`);
if (!options.bin) throw new Error("--bin DIRECTORY is missing: where armgate and armsim are");

async function runTest(name, test) {
  const world = new World(options.bin);
  const started = Date.now();
  try {
    await withinSeconds(Number(options.seconds), "the test", test(world));
    console.log(`ok      ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
    return true;
  } catch (error) {
    console.log(`FAILED  ${name}`);
    console.log(String(error.stack ?? error).replace(/^/gm, "    "));
    console.log(world.logs().replace(/^/gm, "    | "));
    return false;
  } finally {
    await world.close();
  }
}

// The tests of one suite after the other, in this process.
async function runHere(suites) {
  const sum = { passed: 0, total: 0 };
  for (const suite of suites) {
    const { tests } = await import(`./${suite}_suite.mjs`);
    for (const [name, test] of Object.entries(tests)) {
      const full = `${suite}: ${name}`;
      if (!full.includes(options.only)) continue;
      sum.total += 1;
      beginScenario(name);
      beginLiveness(name);
      if (await runTest(full, test)) sum.passed += 1;
    }
  }
  printMeasured();
  printCompared();
  printLiveness();
  printMerging();
  return sum;
}

async function runAll() {
  await oneAtATime("e2e-setup.lock", async () => {
    await installSdk();
    await buildGoClient();
  });
  if (options.jobs === "1") return runHere([...SUITES, ...ALONE]);
  const own = fileURLToPath(import.meta.url);
  return runInLanes(SUITES, ALONE, Number(options.jobs), (suite) => [own, "--bin", options.bin, "--only", options.only, "--seconds", options.seconds, "--suite", suite]);
}

const { passed, total } = await (options.suite ? runHere([options.suite]) : runAll());
console.log(`${passed} of ${total} end-to-end tests passed`);
process.exit(passed === total && (total > 0 || options.suite) ? 0 : 1);
