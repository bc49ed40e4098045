// armgate heal, the real program against a simulated ARM behind armgate: the runbook, who is kept out meanwhile, and what it refuses.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { curl, sending } from "./curl.mjs";
import { run, sleep } from "./harness.mjs";
import { assertHealed, beginWedged, CLUSTER, GOLDEN, heal, startHeal, taken, TOKEN, VERSION, wedge } from "./heal.mjs";
import { waitFor } from "./scale_set.mjs";

// `isDead(record)`: from that request on ARM does not take this token any more.
function beginExpiring(world, token, isDead) {
  let expired = false;
  return beginWedged(world, { onRequest: (record) => {
    if (record.headers.authorization !== `Bearer ${token}`) return undefined;
    expired ||= isDead(record);
    return expired ? { status: 401, headers: ["Content-Type", "application/json"],
                       body: JSON.stringify({ error: { code: "ExpiredAuthenticationToken", message: "It has expired." } }) } : undefined;
  } });
}

export const tests = {
  "a dry run says what would be done, and changes nothing": async (world) => {
    const rig = await beginWedged(world);
    const plan = await heal(world, rig);
    assert.equal(plan.code, 0, plan.stderr);
    const text = plan.stdout.toString();
    assert.match(text, /holds +failure storm +12 failed writes of pool system's scale set with NetworkingInternalOperationError/);
    assert.match(text, /3\. delete the wedged pool \(at most 20 min\)\n +DELETE .*\/agentPools\/system {2}\(If-Match: its ETag\)/);
    assert.match(text, /This was a dry run/);
    assert.deepEqual(rig.seen.filter(({ method }) => method !== "GET"), []);
    assert.deepEqual(readdirSync(rig.runs), [], "nothing is written down");
    const json = JSON.parse((await heal(world, rig, "--output", "json")).stdout.toString());
    assert.equal(json.would_act, true);
    assert.equal(json.again.properties.nodeLabels.zone, "one");
  },

  "the wedged pool is made anew, step by step, and what happens is told as it happens": async (world) => {
    const rig = await beginWedged(world);
    const done = await heal(world, rig, "--confirm", "--output", "json");
    assert.equal(done.code, 0, done.stdout + done.stderr);
    assert.deepEqual(taken(rig.seen), GOLDEN);
    await assertHealed(rig);
    const lines = done.stdout.toString().trimEnd().split("\n").map((line) => JSON.parse(line));
    for (const line of lines) assert.deepEqual(Object.keys(line), ["at", "component", "run_id", "phase", "event", "text"]);
    assert.equal(new Set(lines.map(({ run_id }) => run_id)).size, 1);
    assert.ok(lines.some(({ event, text }) => event === "loss" && /every node of pool system goes/.test(text)), "what will be lost");
    assert.ok(lines.some(({ event, text }) => event === "begin" && text === "delete the wedged pool (at most 20 min)"), "its deadline");
    assert.deepEqual([...new Set(lines.map(({ phase }) => phase))], ["guards", "abort", "recheck", "stand-in", "delete", "recreate", "remove", "mark", "final-check"]);
    assert.ok(rig.seen.every(({ headers }) => headers.authorization === `Bearer ${TOKEN}`), "its own credential");
    assert.ok(!done.stdout.includes(TOKEN));
    for (const name of readdirSync(rig.runs)) {
      if (name.endsWith(".lock")) continue;
      for (const file of readdirSync(path.join(rig.runs, name))) assert.ok(!readFileSync(path.join(rig.runs, name, file)).includes(TOKEN), file);
    }
    const list = await run(path.join(world.bin, "armgate"), ["heal", "--list", "--runs", rig.runs], { env: { HOME: world.directory } });
    assert.match(list.stdout.toString(), /; finished\n$/);
    const again = await heal(world, rig, "--confirm");
    assert.deepEqual([again.code, /nothing to do: pool system is Succeeded/.test(again.stdout)], [0, true]);
    assert.equal(taken(rig.seen).length, GOLDEN.length, "there is nothing to do the second time");
  },

  "nobody else writes to the cluster or its pools while it runs, and is told why": async (world) => {
    const others = [];
    let shown = [];
    let rig = null;
    rig = await beginWedged(world, { onRequest: async ({ method, url }) => {
      if (method !== "PUT" || !/agentPools\/tmp/.test(url) || others.length > 0) return;
      for (const target of [`${CLUSTER}/agentPools/work`, CLUSTER]) {
        others.push(curl(world, rig.gateway, `${target}?api-version=${VERSION}`, { user: "pipeline", args: sending("DELETE", {}, "If-Match: *") }));
      }
      const waiting = () => run(path.join(world.bin, "armgate"), ["status", "--config", rig.gateway.configFile, "--output", "json"], { env: { HOME: world.directory } });
      await waitFor("the others' places in line", async () => JSON.parse((await waiting()).stdout.toString()).waiting >= 2);
      shown = JSON.parse((await waiting()).stdout.toString()).writes;
    } });
    const running = heal(world, rig, "--confirm");
    const done = await running;
    assert.equal(done.code, 0, done.stdout + done.stderr);
    for (const other of await Promise.all(others)) assert.ok(other.status < 300, `${other.status} ${other.body}`);
    assert.ok(shown.some(({ what, phase }) => what === `LEASE ${CLUSTER.toLowerCase()}` && phase === "runs"), JSON.stringify(shown));
    const tagged = rig.seen.findIndex(({ method }) => method === "PATCH");
    const first = rig.seen.findIndex(({ headers, method }) => method === "DELETE" && headers["if-match"] === "*");
    assert.ok(first > tagged, "the others came after the last write of the run");
  },

  "without the service, its admin listener or the cluster's lease nothing is begun": async (world) => {
    const rig = await beginWedged(world);
    const first = startHeal(world, rig, "--confirm", "--poll-s", "5");
    await waitFor("the abort", async () => taken(rig.seen).length > 0);
    const elsewhere = { ...rig, runs: mkdtempSync(world.file("runs-")) };
    const second = await heal(world, elsewhere, "--confirm");
    assert.equal(second.code, 1);
    assert.match(second.stderr, /no lease: .* is in a lease of heal-/);
    const here = await heal(world, rig, "--confirm");
    assert.match(here.stderr, /another process repairs /);
    first.child.kill("SIGKILL");
    await first.exit;
    rig.gateway.process.child.kill("SIGTERM");
    await rig.gateway.process.exit;
    const alone = await heal(world, rig, "--confirm");
    assert.equal(alone.code, 1);
    assert.match(alone.stderr, /no answer from /);
  },

  "Ctrl-C ends it at a step's edge, and --undo takes the temporary pool away again": async (world) => {
    const rig = await beginWedged(world);
    const started = startHeal(world, rig, "--confirm");
    await waitFor("the temporary pool", async () => taken(rig.seen).includes("PUT stand-in"));
    started.child.kill("SIGINT");
    const [code] = await started.exit;
    assert.equal(code, 1, started.log);
    assert.match(started.log, /^armgate: interrupted: before delete$/m);
    assert.match(started.log, /^armgate: it ends at the end of the step that is under way; a second Ctrl-C ends it at once/m);
    assert.ok(started.log.indexOf("a second Ctrl-C") < started.log.indexOf("stand-in     done"), "at once");
    assert.match(started.log, /^steps done: abort, stand-in; not done: delete, recreate, remove, mark, final-check; /m);
    const back = /to go back, while nothing was deleted: armgate (heal aks-system-pool .* --undo --confirm)$/m.exec(started.log);
    assert.ok(back, started.log);
    assert.deepEqual(taken(rig.seen), GOLDEN.slice(0, 2));
    const undone = await run(path.join(world.bin, "armgate"), [...back[1].split(" "), "--poll-s", "0.05"], { env: { HOME: world.directory, ARMGATE_HEAL_TOKEN: TOKEN } });
    assert.equal(undone.code, 0, undone.stdout + undone.stderr);
    assert.deepEqual(taken(rig.seen), [...GOLDEN.slice(0, 2), "DELETE stand-in"]);
    const cluster = await rig.sim.read(CLUSTER, VERSION);
    assert.deepEqual(cluster.properties.agentPoolProfiles.map(({ name }) => name).sort(), ["system", "work"]);
  },

  "armgate itself may be killed and started again meanwhile: the run waits for it, and asks for its lease anew": async (world) => {
    const rig = await beginWedged(world);
    const started = startHeal(world, rig, "--confirm");
    await waitFor("the temporary pool", async () => taken(rig.seen).includes("PUT stand-in"));
    rig.gateway.process.child.kill("SIGKILL");
    await rig.gateway.process.exit;
    await sleep(300);
    await world.runGateway(rig.gateway);
    const [code] = await started.exit;
    assert.equal(code, 0, started.log);
    assert.match(started.log, /warning +the cluster cannot be looked at/);
    assert.deepEqual(taken(rig.seen), GOLDEN);
    await assertHealed(rig);
  },

  "without quota, and with a delete that fails, it stops by name and can go on": async (world) => {
    const rig = await beginWedged(world, { how: { started_s: 0, on_delete: "fails" } });
    await rig.sim.addFaults([{ method: "PUT", path: "agentPools/tmp", kind: "error-quota" }]);
    const refused = await heal(world, rig, "--confirm");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /stopped: create the pool tmp\w+ with the mode System was refused: ARM answers 409 .*[Qq]uota/);
    assert.deepEqual(taken(rig.seen), []);
    const failed = await heal(world, rig, "--confirm");
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /stopped: the delete of pool system failed; both pools are there/);
    await wedge(rig.sim, CLUSTER, { now: 0, started_s: 0, failures: 0 });
    const done = await heal(world, rig, "--confirm");
    assert.equal(done.code, 0, done.stdout + done.stderr);
    await assertHealed(rig);
  },

  "what may not be touched is refused by name, and nothing is changed": async (world) => {
    const refused = async (what, begun, words, code = 1) => {
      const rig = await beginWedged(world, begun);
      const done = await heal(world, rig, "--confirm");
      assert.deepEqual([done.code, words.test(done.stdout + done.stderr)], [code, true], `${what}: ${done.stdout}${done.stderr}`);
      assert.deepEqual(rig.seen.filter(({ method }) => method !== "GET"), [], what);
      assert.deepEqual(readdirSync(rig.runs).filter((name) => !name.endsWith(".lock")), [], what);
    };
    await refused("it is not wedged", { how: null }, /nothing to do: pool system is Succeeded/, 0);
    await refused("a second system pool", { before: (sim) => sim.make(`${CLUSTER}/agentPools/system2`, VERSION, { properties: { mode: "System", count: 1 } }) },
                  /refused, nothing was changed: system is not the only system pool \(system2 too\)/);
    await refused("a setting of its own", { pool: { newSetting: { a: 1 } } }, /\/properties\/newSetting: whether a create may carry it is not known/);
    await refused("a young operation", { how: { started_s: 600 } }, /nothing to do: the cluster's operation runs since .* \(10 min; before 30 it is left alone\)/, 0);
  },

  "a token that expires half-way stops it by name, or is had anew from az": async (world) => {
    const isDelete = ({ method }) => method === "DELETE";
    const given = await beginExpiring(world, TOKEN, isDelete);
    const stopped = await heal(world, given, "--confirm");
    assert.equal(stopped.code, 1);
    assert.match(stopped.stderr, /stopped: .*ARM answers 401 ExpiredAuthenticationToken: It has expired\./);
    assert.match(stopped.stderr, /^steps done: abort, stand-in; not done: delete, /m);
    assert.deepEqual(taken(given.seen), GOLDEN.slice(0, 2));
    const done = await heal(world, { ...given, env: { ARMGATE_HEAL_TOKEN: "another" } }, "--confirm");
    assert.equal(done.code, 0, done.stdout + done.stderr);
    assert.deepEqual(taken(given.seen), GOLDEN);

    // Each call gives another one.
    const tools = mkdtempSync(world.file("tools-"));
    writeFileSync(path.join(tools, "az"), `#!/bin/sh\necho "WARNING: of az" >&2\necho x >> ${tools}/calls\necho "{\\"accessToken\\": \\"az-$(wc -l < ${tools}/calls)\\"}"\n`, { mode: 0o755 });
    const asked = await beginExpiring(world, "az-1", isDelete);
    const healed = await heal(world, { ...asked, env: { PATH: `${tools}:${process.env.PATH}` } }, "--confirm");
    assert.equal(healed.code, 0, healed.stdout + healed.stderr);
    assert.deepEqual(taken(asked.seen), GOLDEN);
    assert.ok(asked.seen.some(({ headers }) => headers.authorization === "Bearer az-2"));
  },

  "taken up with another token, it is not kept waiting by an operation whose own token has expired": async (world) => {
    let isMade = false;
    const rig = await beginExpiring(world, TOKEN, ({ method, url }) => {
      const dead = isMade;
      isMade ||= method === "PUT" && /agentPools\/tmp/.test(url);
      return dead;
    });
    const stopped = await heal(world, rig, "--confirm");
    assert.equal(stopped.code, 1);
    assert.match(stopped.stderr, /stopped: .*ExpiredAuthenticationToken/);
    assert.deepEqual(taken(rig.seen), GOLDEN.slice(0, 2), "the temporary pool's operation is the last that armgate knows of");
    const began = Date.now();
    const done = await heal(world, { ...rig, env: { ARMGATE_HEAL_TOKEN: "another" } }, "--confirm");
    assert.equal(done.code, 0, done.stdout + done.stderr);
    assert.ok(Date.now() - began < 30_000, `${Date.now() - began} ms: its lease hurries armgate's own look as a waiting write does`);
    assert.deepEqual(taken(rig.seen), GOLDEN);
    await assertHealed(rig);
  },
};
