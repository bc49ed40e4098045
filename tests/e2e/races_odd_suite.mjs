// Races on which simple remedies break: ETags that move by themselves, writers that wait for nothing, writers that never read, answers
// that get lost.
import assert from "node:assert/strict";
import { curlJson, sending } from "./curl.mjs";
import { sleep } from "./harness.mjs";
import { assertSafe, judged, racersOf, single, startSim } from "./races.mjs";
import { measure, missing, say, SCALE_SET, tagsOf } from "./tools.mjs";

const namesOf = (racers) => racers.map((racer) => racer.client);

export const tests = {
  // Nothing that a client could see changes, only the ETag: ARM's 412 is spurious.
  // There are five resources, and one of them moves each time: a read and its write take longer than the pause.
  "JavaScript, named, beside a neighbour that moves ETags": async (world) => {
    const sim = await startSim(world, ["--operation-ms", "0", "--neighbour-ms", "3"]);
    const racers = racersOf("js", 3);
    const gateway = await world.startGateway(sim, single(namesOf(racers)));
    const result = await judged(world, sim, gateway, "named", "addTags", racers, 5);
    assert.ok(result.report.undeserved_412 > 0, "no ETag moved between a read and its write: this tested nothing");
    assertSafe(result);
  },

  // Each reads while its own operation, or another's, still runs, and the end of that operation moves the ETag once more.
  "Python, named: chains of writes that wait for no operation": async (world) => {
    const sim = await startSim(world, ["--operation-ms", "300"]);
    const racers = racersOf("python", 3);
    const gateway = await world.startGateway(sim, single(namesOf(racers)));
    const result = await judged(world, sim, gateway, "named", "chain", racers);
    assertSafe(result);  // a client's next PUT may meet its own operation: it passes, or is tried again
  },

  "Python behind one name: chains of writes that wait for no operation": async (world) => {
    const sim = await startSim(world, ["--operation-ms", "300"]);
    const racers = racersOf("python", 2).map((racer) => ({ ...racer, user: "jvm" }));
    const gateway = await world.startGateway(sim);
    assertSafe(await judged(world, sim, gateway, "named", "chain", racers));
  },

  "JavaScript and Python, named, while answers to writes are lost": async (world) => {
    const sim = await startSim(world);
    const racers = [...racersOf("js", 2), ...racersOf("python", 2)];
    const gateway = await world.startGateway(sim, single(namesOf(racers)));
    await sim.addFaults([{ method: "PUT", path: "virtualMachineScaleSets", kind: "drop-after", times: 4 },
                         { method: "PUT", path: "virtualMachineScaleSets", kind: "drop-before", times: 2 }]);
    const result = await judged(world, sim, gateway, "named", "addTags", racers);
    assert.equal(result.report.dropped_after, 4);
    assertSafe(result);
  },

  // A PATCH is an intention, not a copy: it needs no base, is never refused, and takes nothing from those who write the whole.
  "curl loops that PATCH the capacity beside JavaScript that writes the whole": async (world) => {
    const sim = await startSim(world);
    const racers = racersOf("js", 2);
    const gateway = await world.startGateway(sim, single(namesOf(racers)));
    const path = `${SCALE_SET.id}?api-version=${SCALE_SET.version}`;
    const patched = { done: 0, last: [] };
    const patch = async (user, first) => {
      for (let capacity = first; capacity < first + 6; ++capacity) {
        const answer = await curlJson(world, gateway, path, { user, args: sending("PATCH", { sku: { capacity } }) });
        assert.equal(answer.status, 200, `${user}: ${answer.body}`);
        assert.equal(answer.headers["x-armgate-guard"], undefined, "a PATCH was guarded");
        patched.done += 1;
      }
      patched.last.push(first + 5);
    };
    const [result] = await Promise.all([judged(world, sim, gateway, "named", "addTags", racers), patch("patch-1", 10), patch("patch-2", 20)]);
    assertSafe(result);
    const { capacity } = (await sim.read(SCALE_SET.id, SCALE_SET.version)).sku;
    say(`${patched.done} of 12 unconditional PATCHes done, the capacity is ${capacity} in the end`);
    assert.ok(patched.last.includes(capacity), `a PATCH was taken back: ${capacity}`);
  },

  "curl, unnamed, of one token: loops that write the whole without reading": async (world) => {
    const sim = await startSim(world);
    const gateway = await world.startGateway(sim);
    const path = `${SCALE_SET.id}?api-version=${SCALE_SET.version}`;
    let refused = 0;
    let done = 0;
    const loop = async (tag) => {
      const body = { location: "westeurope", sku: { name: "S", capacity: 2 }, tags: { [tag]: "1" } };
      for (let tries = 0; tries < 30; ++tries) {
        const answer = await curlJson(world, gateway, path, { user: "", args: sending("PUT", body) });
        assert.ok([200, 412].includes(answer.status), `${answer.status} ${answer.body}`);
        if (answer.status === 200) {
          done += 1;
          return;
        }
        refused += 1;
        await sleep(200);
      }
    };
    await Promise.all(["blind-1", "blind-2", "blind-3"].map(loop));
    const report = await sim.report();
    say(`${done} of 3 unconditional writes done, ${refused} refused with 412`);
    measure({ clients: "3 curl, unnamed", writes: 3, lost: "not promised", twice: report.applied_twice, deserved: refused, undeserved: 0 });
    assert.equal(done, 3);
    assert.equal(report.applied_twice, 0, report.findings.join("\n"));
    assert.equal(missing([...tagsOf(await sim.read(SCALE_SET.id, SCALE_SET.version))], new Set(["blind-1", "blind-2", "blind-3"])).length, 0);
  },
};
