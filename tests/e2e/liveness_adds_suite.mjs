// Everyone gets through: many clients add to the same resources while ARM is busy, loses answers and lags. Whoever is refused reads
// again and tries again, and gets there soon.
import { racersOf, single } from "./races.mjs";
import { assertLive, raceToAdd } from "./liveness.mjs";
import { tokenOf } from "./tools.mjs";

const EIGHT = ["js", "python", "go", "curl"].flatMap((kind) => racersOf(kind, 2));
const SIX = ["js", "python", "go"].flatMap((kind) => racersOf(kind, 2));

async function raceWithoutEtags(world, operationMs) {
  const racers = [...racersOf("go", 2), ...racersOf("python", 2)];
  assertLive(await raceToAdd(world, { racers, writes: 5, seconds: 60, operationMs, command: "addOld", faults: [] }));
}

export const tests = {
  // Every other client is declared to be one actor; nothing is known of the rest.
  "8 clients with names, 12 adds each to three resources": async (world) => {
    const config = single(EIGHT.filter((_, i) => i % 2 === 0).map(({ client }) => client));
    assertLive(await raceToAdd(world, { racers: EIGHT, writes: 12, seconds: 100, config }));
  },

  // Who of them has read what is a guess: what is lost is counted, and not promised to be nothing (docs/whose-write.md).
  "6 clients behind one token, 6 adds each to three resources": async (world) => {
    const racers = SIX.map((racer) => ({ ...racer, token: tokenOf("one-for-all") }));
    await raceToAdd(world, { racers, writes: 6, seconds: 60, way: "unnamed" });
  },

  // What has no ETag is compared with what was shown.
  "B6: Go and Python SDKs, named, at an api-version of scale sets without ETags": (world) => raceWithoutEtags(world, 100),
  "B6: the same where no write is an operation, so that hardly one waits": (world) => raceWithoutEtags(world, 0),
};
