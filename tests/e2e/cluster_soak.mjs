// Many rounds of cluster_rounds.mjs: three replicas, two PostgreSQL, real clients; a kill, a promotion and one more fault in each round.
//   node tests/e2e/cluster_soak.mjs --bin build/release/bin [--rounds 100] [--seed 1] [--minutes 600]
import { parseArgs } from "node:util";
import { runRounds } from "./cluster_rounds.mjs";
import { World } from "./harness.mjs";

const { values: options } = parseArgs({ options: { bin: { type: "string" }, rounds: { type: "string", default: "100" },
                                                   seed: { type: "string", default: "1" }, minutes: { type: "string", default: "600" } } });
const world = new World(options.bin);
try {
  await runRounds(world, { seed: Number(options.seed), rounds: Number(options.rounds), until: Date.now() + Number(options.minutes) * 60_000, say: (line) => console.log(line) });
  console.log("nothing lost, nothing twice, no overlaps");
} catch (error) {
  console.log(`BROKEN  ${error.stack}`);
  console.log(world.children.map(({ name, log }) => `${name}:\n${log.split("\n").slice(-40).join("\n")}`).join("\n"));
  process.exitCode = 1;
} finally {
  await world.close();
}
