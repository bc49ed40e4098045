// Rounds of a race over three replicas and two PostgreSQL, each with a kill, a promotion and one more fault at moments that a seed draws.
import assert from "node:assert/strict";
import { assertNothingLost, makeScaleSet, persistent, race, startSim } from "./cluster_race.mjs";
import { Cluster, drawn, Postgres } from "./engines.mjs";
import { sleep } from "./harness.mjs";
import { SCALE_SET } from "./scale_set.mjs";

const LEASE_SECONDS = 2;
const ROUND_MS = 120_000;  // against hanging only

// A primary and its standby, and what becomes of them. One thing at a time.
class Engines {
  static async make(world) {
    const engines = new Engines();
    engines.primary = await Postgres.make(world);
    engines.standby = await engines.primary.makeStandby();
    const ports = [engines.primary.port, engines.standby.port];
    engines.url = `postgres://armgate@${ports.map((port) => `127.0.0.1:${port}`).join(",")}/postgres?sslmode=disable`;
    return engines;
  }

  // The old primary lives on for a while: it can acknowledge nothing that the standby has not. Then another follows the new one.
  async promote(livesOn) {
    const old = this.primary;
    if (livesOn === 0) await old.kill();
    await this.standby.promote();
    await sleep(livesOn);
    if (livesOn > 0) await old.kill();
    this.primary = this.standby;
    this.standby = await this.primary.makeStandby(old.port);
  }

  async stop(postgres, ms) {
    await postgres.kill();
    await sleep(ms);
    await postgres.start();
  }
}

// Starts each replica again that ends, as whoever watches over it does. Only what killed it, or the lease, may be its end: nothing that was
// acknowledged is lost here.
class Watch {
  constructor(cluster) {
    Object.assign(this, { cluster, ended: false, lapsed: 0, strange: [] });
    cluster.replicas.forEach((_, number) => this.keep(number));
  }

  async keep(number) {
    while (!this.ended) {
      const { process } = this.cluster.replicas[number];
      const { code, signal } = await process.exit;
      if (this.ended) return;
      if (code === 75 && process.log.includes("silent for too long")) this.lapsed += 1;
      else if (signal !== "SIGKILL") this.strange.push(`replica ${number} ended with ${signal ?? code}: ${process.log.slice(-1000)}`);
      while (!this.ended && !(await this.startAgain(number))) await sleep(300);
    }
  }

  // False: it was in need of an engine that is away.
  async startAgain(number) {
    const { world: { children } } = this.cluster;
    const before = children.length;
    try {
      await this.cluster.startReplica(number);
      return true;
    } catch {
      const own = children.slice(before).find(({ child }) => child.spawnargs.includes(this.cluster.replicas[number].configFile));
      if (own && !own.exited) own.child.kill("SIGKILL");
      await own?.exit;
      return false;
    }
  }
}

// One action at a time, sent again until its outcome is told: 409 is one, too.
async function act(cluster, draw, path, round, isOver, until, told) {
  const ask = persistent(cluster, draw, until, told);
  for (let number = 0; !isOver(); ++number) {
    const name = `r${round}-restart-${number}`;
    const headers = { "x-ms-client-request-id": `00000000-0000-4000-8000-${String(round * 1000 + number).padStart(12, "0")}`,
                      "x-sim-client": "nightly", "x-sim-write-id": name };
    const answer = await ask("nightly", "POST", path.replace("?", "/restart?"), { headers });
    assert.ok(answer.status < 300 || answer.status === 409, `${answer.status} ${answer.body}`);
    told.actions[answer.status < 300 ? "done" : "in doubt"] += 1;
    await sleep(draw(1500));
  }
}

// Two races, one for a resource whose writes run on and that is restarted meanwhile, one whose writes are over with their answers.
async function begin({ sim, cluster }, draw, round, isOver) {
  const until = Date.now() + ROUND_MS;
  const told = { busy: 0, broken: 0, actions: { done: 0, "in doubt": 0 } };
  const ids = [`web-${round}`, `worker-${round}`].map((name) => SCALE_SET.replace(/web$/, name));
  for (const id of ids) await makeScaleSet(sim, id);
  const [slow, quick] = ids.map((id) => `${id}?api-version=2024-07-01`);
  const racing = (path, names, more) => race(cluster, draw(1 << 30), { clients: 3, isOver, until, path, names, more });
  const all = Promise.all([racing(slow, `r${round}-`, {}), racing(quick, `r${round}-q-`, { "x-sim-operation-ms": "0" }),
                           act(cluster, drawn(draw(1 << 30)), slow, round, isOver, until, told)]);
  return { ids, told, all };
}

async function runRound({ sim, engines, cluster, counts }, seed, round) {
  const draw = drawn(seed * 100_003 + round);
  let isOver = false;
  const racing = await begin({ sim, cluster }, draw, round, () => isOver);
  racing.all.catch(() => { isOver = true; });

  const replica = () => cluster.replicas[draw(cluster.replicas.length)].process.child;
  const kill = async () => {
    counts.kills += 1;
    replica().kill("SIGKILL");
  };
  const pause = async () => {
    counts.pauses += 1;
    const child = replica();
    child.kill("SIGSTOP");
    await sleep(LEASE_SECONDS * 1000 + 500 + draw(2500));
    child.kill("SIGCONT");
  };
  let atEngines = Promise.resolve();
  const afterEngines = (what) => (atEngines = atEngines.then(what));
  const promote = () => afterEngines(() => {
    counts.promotions += 1;
    return engines.promote(draw(2) * draw(3000));
  });
  const engineAway = () => afterEngines(() => {
    counts.engineStops += 1;
    return engines.stop(engines.primary, 500 + draw(4000));
  });
  const standbyLost = () => afterEngines(() => {
    counts.standbyStops += 1;
    return engines.stop(engines.standby, 500 + draw(4000));
  });
  const third = [pause, pause, engineAway, standbyLost, kill][draw(5)];
  await Promise.all([kill, promote, third].map(async (fault) => {
    await sleep(draw(8000));
    await fault();
  }));
  await sleep(1000);
  isOver = true;
  const raced = await racing.all;
  for (const [i, id] of racing.ids.entries()) {
    await assertNothingLost(sim, raced[i], id);
    counts.writes += raced[i].acknowledged.length;
  }
  counts.restarts += racing.told.actions.done;
  counts.inDoubt += racing.told.actions["in doubt"];
}

// Throws at the first promise that is broken. `say` gets a line for each round.
export async function runRounds(world, { seed, rounds, until = Infinity, say = () => {} }) {
  const counts = { kills: 0, promotions: 0, pauses: 0, engineStops: 0, standbyStops: 0, writes: 0, restarts: 0, inDoubt: 0, leasesLapsed: 0 };
  const [sim, engines] = await Promise.all([startSim(world, ["--operation-ms", "30", "--retry-after", "0", "--latency-ms", "5", "40", "--exclusivity", "accept"]),
                                            Engines.make(world)]);
  const cluster = await Cluster.start(world, sim, engines.url, { lease: LEASE_SECONDS, config: { log: { level: "info" } } });
  const watch = new Watch(cluster);
  try {
    for (let round = 1; round <= rounds && Date.now() < until; ++round) {
      await runRound({ sim, engines, cluster, counts }, seed, round);
      counts.leasesLapsed = watch.lapsed;
      assert.deepEqual(watch.strange, []);
      say(`round ${round}: ${JSON.stringify(counts)}`);
    }
  } finally {
    watch.ended = true;
  }
  return counts;
}
