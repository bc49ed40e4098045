// armgate heal: lost answers, runs that others meet or cannot read, and what a dry run says of what `--confirm` would meet.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, readdirSync, unlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { changeConfig, run } from "./harness.mjs";
import { assertHealed, beginWedged, CLUSTER, GOLDEN, heal, startHeal, taken, VERSION } from "./heal.mjs";
import { waitFor } from "./scale_set.mjs";

const list = (world, { runs }, ...flags) =>
  run(path.join(world.bin, "armgate"), ["heal", "--list", "--runs", runs, ...flags], { env: { HOME: world.directory } });
const runOf = ({ runs }) => path.join(runs, readdirSync(runs).find((name) => !name.endsWith(".lock")));

// armgate with other settings, for the same simulated ARM.
async function settingsOf(world, rig, change) {
  rig.gateway.process.child.kill("SIGTERM");
  await rig.gateway.process.exit;
  changeConfig(rig.gateway, change);
  await world.runGateway(rig.gateway);
}

// The run is killed behind its DELETE.
async function killedBehindItsDelete(world) {
  const rig = await beginWedged(world);
  const started = startHeal(world, rig, "--confirm", "--poll-s", "0.3");
  await waitFor("the delete", async () => taken(rig.seen).includes("DELETE system"));
  started.child.kill("SIGKILL");
  await started.exit;
  return rig;
}

export const tests = {
  "an answer to a write that is lost is looked for, not taken for a refusal": async (world) => {
    for (const [method, where] of [["DELETE", "agentPools/system"], ["PUT", "agentPools/system"], ["PATCH", "tags"]]) {
      const rig = await beginWedged(world);
      await rig.sim.addFaults([{ method, path: where, kind: "drop-after" }]);
      const done = await heal(world, rig, "--confirm");
      assert.equal(done.code, 0, `${method}: ${done.stdout}${done.stderr}`);
      await assertHealed(rig);
    }
  },

  "a pool that a colleague deleted while the run was stopped is made anew from the snapshot": async (world) => {
    const rig = await beginWedged(world);
    const started = startHeal(world, rig, "--confirm");
    await waitFor("the temporary pool", async () => taken(rig.seen).includes("PUT stand-in"));
    started.child.kill("SIGINT");
    await started.exit;
    await rig.sim.ask("DELETE", `${CLUSTER}/agentPools/system`, VERSION, undefined, { "x-sim-operation-ms": "0" });
    const undone = await heal(world, rig, "--undo", "--confirm");
    assert.match(undone.stderr, /pool system is gone, so tmp\w+ stays; the same command without --undo makes it anew/);
    const done = await heal(world, rig, "--confirm");
    assert.equal(done.code, 0, done.stdout + done.stderr);
    await assertHealed(rig);
  },

  "a run that cannot be read is refused by name, and its snapshots stay": async (world) => {
    for (const [what, damage, words] of [
      ["no journal", (file) => unlinkSync(file), /journal\.jsonl cannot be read/],
      ["a damaged line", (file) => writeFileSync(file, readFileSync(file, "utf8").replace("\n", "\ndamaged\n")), /line 2 of \S+journal\.jsonl is damaged \("damaged"\)/],
    ]) {
      const rig = await killedBehindItsDelete(world);
      const place = runOf(rig);
      const journal = path.join(place, "journal.jsonl");
      const whole = readFileSync(journal);
      damage(journal);
      for (let tries = 0; tries < 2; ++tries) {
        const refused = await heal(world, rig, "--confirm");
        assert.deepEqual([refused.code, words.test(refused.stderr), /mend it, or, when the cluster is well, move/.test(refused.stderr)], [1, true, true], `${what}: ${refused.stdout}${refused.stderr}`);
      }
      assert.match((await list(world, rig)).stdout.toString(), words, what);
      assert.match((await heal(world, rig)).stderr, words, what);
      assert.ok(existsSync(path.join(place, "snapshot-1.json")), what);
      writeFileSync(journal, whole);
      const done = await heal(world, rig, "--confirm");
      assert.equal(done.code, 0, `${what}: ${done.stdout}${done.stderr}`);
      await assertHealed(rig);
    }
  },

  "a run that is under way is shown as running, and one that stopped is noticed by a schedule": async (world) => {
    const rig = await beginWedged(world);
    const started = startHeal(world, rig, "--confirm", "--poll-s", "4");
    await waitFor("the temporary pool", async () => taken(rig.seen).includes("PUT stand-in"));
    assert.match((await list(world, rig)).stdout.toString(), /; running now\n$/);
    assert.deepEqual(JSON.parse((await list(world, rig, "--output", "json")).stdout).map(({ open, running }) => [open, running]), [[true, true]]);
    const beside = await heal(world, rig);
    assert.deepEqual([beside.code, /A process of this machine works on it: wait for its end\.\n$/.test(beside.stdout)], [1, true], beside.stdout.toString());
    const machine = JSON.parse((await heal(world, rig, "--output", "json")).stdout);
    assert.deepEqual([machine.would_act, machine.running], [false, true]);
    started.child.kill("SIGKILL");
    await started.exit;
    const stopped = await heal(world, rig, "--output", "json");
    const { would_act, running, open } = JSON.parse(stopped.stdout);
    assert.deepEqual([stopped.code, would_act, running, open], [1, true, false, true]);
  },

  "a dry run says what --confirm would be refused for": async (world) => {
    const rig = await beginWedged(world);
    assert.match((await heal(world, rig)).stdout.toString(), /holds +service +armgate answers at 127\.0\.0\.1:\d+ and can keep others away meanwhile\n/);
    const told = async (words) => {
      const plan = await heal(world, rig);
      assert.deepEqual([plan.code, words.test(plan.stdout), /Nothing would be done\./.test(plan.stdout)], [1, true, true], plan.stdout + plan.stderr);
      const { would_act } = JSON.parse((await heal(world, rig, "--output", "json")).stdout);
      assert.equal(would_act, false);
    };
    const elsewhere = mkdtempSync(world.file("runs-"));
    const first = startHeal(world, { ...rig, runs: elsewhere }, "--confirm", "--poll-s", "5");
    await waitFor("the abort", async () => taken(rig.seen).length > 0);
    await told(/REFUSED +(operation age|service) +/);
    first.child.kill("SIGKILL");
    await first.exit;
    const again = await beginWedged(world);
    Object.assign(rig, again);
    await settingsOf(world, rig, (settings) => ({ ...settings, mode: "observe" }));
    await told(/REFUSED +service +armgate runs in the mode observe, in which nobody waits/);
    await settingsOf(world, rig, ({ listen: { admin, ...listen }, ...settings }) => ({ ...settings, mode: "protect", listen }));
    await told(/REFUSED +service +listen\.admin is not set/);
    assert.deepEqual(rig.seen.filter(({ method }) => method !== "GET"), []);
  },

  "a dry run for programs is one JSON document, also where the activity log may not be read yet": async (world) => {
    let refusals = 0;
    const rig = await beginWedged(world, { onRequest: ({ url }) => {
      if (!/Microsoft\.Insights/.test(url) || ++refusals > 1) return undefined;
      return { status: 403, headers: ["Content-Type", "application/json"], body: JSON.stringify({ error: { code: "AuthorizationFailed", message: "no role" } }) };
    } });
    const plan = await heal(world, rig, "--output", "json");
    assert.equal(plan.code, 0, plan.stderr);
    assert.equal(JSON.parse(plan.stdout).would_act, true);
    assert.match(plan.stderr, /the activity log may not be read \(yet\)/);
    assert.ok(refusals > 1);
  },

  "who reads the output may die: the run goes on": async (world) => {
    const rig = await beginWedged(world);
    const started = startHeal(world, rig, "--confirm", "--poll-s", "0.3");
    await waitFor("the temporary pool", async () => taken(rig.seen).includes("PUT stand-in"));
    started.child.stdout.destroy();
    await new Promise((resolve) => { started.child.on("exit", resolve); });
    assert.deepEqual([started.child.exitCode, started.child.signalCode], [3, null], "not all of it was told");
    assert.deepEqual(taken(rig.seen), GOLDEN);
    await assertHealed(rig);
  },

  "a lease that was lost is taken anew, and that is said": async (world) => {
    const rig = await beginWedged(world);
    const started = startHeal(world, rig, "--confirm", "--poll-s", "1");
    await waitFor("the temporary pool", async () => taken(rig.seen).includes("PUT stand-in"));
    const unlocked = await run(path.join(world.bin, "armgate"), ["unlock", "--config", rig.gateway.configFile, CLUSTER], { env: { HOME: world.directory } });
    assert.equal(unlocked.code, 0, unlocked.stderr);
    const [code] = await started.exit;
    assert.equal(code, 0, started.log);
    assert.match(started.log, /lease +the lease was lost .* and is taken anew; others may have written meanwhile/);
    await assertHealed(rig);
  },

  "the lease of a run that is over keeps nobody from the next": async (world) => {
    const rig = await beginWedged(world);
    const started = startHeal(world, rig, "--confirm");
    await waitFor("the end", async () => existsSync(path.join(rig.runs)) && readdirSync(rig.runs).some((name) => {
      const journal = path.join(rig.runs, name, "journal.jsonl");
      const isOver = existsSync(journal) && /"event":"finished"/.test(readFileSync(journal, "utf8"));
      if (isOver) started.child.kill("SIGKILL");
      return isOver;
    }));
    await started.exit;
    // Whether it was killed before its lease went is luck; the test gives it one.
    const last = path.basename(runOf(rig));
    const standIn = rig.seen.map(({ url }) => /agentPools\/(tmp\w+)/.exec(url)?.[1]).find((name) => name !== undefined);
    const client = { client: `heal-${last}`, purpose: "left", resources: [CLUSTER, ...["system", standIn].map((name) => `${CLUSTER}/agentPools/${name}`)] };
    const lease = await fetch(`http://127.0.0.1:${rig.admin}/leases`, { method: "POST", body: JSON.stringify(client), headers: { "x-armgate-operator": "left" } });
    assert.ok([200, 201].includes(lease.status), await lease.text());
    const next = await heal(world, rig, "--confirm");
    assert.deepEqual([next.code, /nothing to do: pool system is Succeeded/.test(next.stdout)], [0, true], next.stdout + next.stderr);
  },

  "az has a minute for a token": async (world) => {
    const tools = mkdtempSync(world.file("tools-"));
    writeFileSync(path.join(tools, "az"), "#!/bin/sh\nexec sleep 1000\n", { mode: 0o755 });
    const rig = await beginWedged(world);
    const began = Date.now();
    const late = await heal(world, { ...rig, env: { PATH: `${tools}:${process.env.PATH}` } });
    assert.equal(late.code, 1);
    assert.match(late.stderr, /no token for ARM: az did not come to its end within 1 min; run `az login`, or set ARMGATE_HEAL_TOKEN/);
    assert.ok(Date.now() - began < 75_000);
  },

  "who cannot reach the proxy is told what they have set": async (world) => {
    const rig = await beginWedged(world);
    rig.gateway.process.child.kill("SIGTERM");
    await rig.gateway.process.exit;
    const alone = await heal(world, rig);
    assert.equal(alone.code, 1);
    assert.match(alone.stderr, /\(listen\.proxy\)/);
    assert.doesNotMatch(alone.stderr, /HTTPS_PROXY/);
  },
};
