// armgate heal, whose writes come late: what a run that died had sent may still be on its way.
import assert from "node:assert/strict";
import { heal, startHeal, beginWedged, VERSION } from "./heal.mjs";
import { sleep } from "./harness.mjs";
import { waitFor } from "./scale_set.mjs";

export const tests = {
  "an undo waits for the temporary pool whose PUT is still on its way": async (world) => {
    let came = false;
    const onRequest = async ({ method, url }) => {
      if (method !== "PUT" || !/agentPools\/tmp/.test(url)) return;
      came = true;
      await sleep(4000);
    };
    const rig = await beginWedged(world, { onRequest });
    const run = startHeal(world, rig, "--confirm");
    await waitFor("its PUT", async () => came);
    run.child.kill("SIGKILL");
    await run.exit;
    const undone = await heal(world, rig, "--undo", "--confirm");
    assert.equal(undone.code, 0, undone.stdout + undone.stderr);
    await sleep(5000);
    const { properties: { agentPoolProfiles } } = await rig.sim.read(rig.cluster, VERSION);
    assert.deepEqual(agentPoolProfiles.map(({ name }) => name).sort(), ["system", "work"], "it came after it had been said to be gone");
  },
};
