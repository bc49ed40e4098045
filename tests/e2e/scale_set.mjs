// A scale set whose writes run on after their answers, and an upstream that answers when it is let: for suites that look at a gateway
// while writes or requests are under way.
import { curlJson, sending } from "./curl.mjs";
import { sleep, withinSeconds } from "./harness.mjs";

export const GROUP = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg";
export const SCALE_SET = `${GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/web`;
export const PATH = `${SCALE_SET}?api-version=2024-07-01`;

export async function waitFor(what, check) {
  await withinSeconds(20, what, (async () => {
    while (!(await check())) await sleep(50);
  })());
}

// A scale set that two clients have read; `operationMs` is how long each later write goes on after its answer, `simFlags` are more
// for armsim.
export async function startWithScaleSet(world, operationMs, config = {}, simFlags = []) {
  const sim = await world.startSim(["--operation-ms", operationMs, ...simFlags]);
  await sim.make(GROUP, "2024-03-01", { location: "westeurope" });
  await sim.make(SCALE_SET, "2024-07-01", { location: "westeurope", sku: { capacity: 1 } });
  return { sim, gateway: await world.startGateway(sim, config) };
}

// A PATCH says what it wants, not what it saw: the second is not stale after the first.
export const patchTags = (world, gateway, user, tags) => curlJson(world, gateway, PATH, { user, args: sending("PATCH", { tags }) });

// `upstream` answers nothing until release() is called.
export async function startHeldUpstream(world) {
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  const upstream = await world.startRecorder(async () => {
    await released;
    return { headers: ["Content-Type", "application/json"], body: "{}" };
  });
  return { upstream, release };
}
