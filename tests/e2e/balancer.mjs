// A balancer of connections in front of the replicas of a cluster, which asks /readyz as a Service in Kubernetes does.
import net from "node:net";
import { sleep } from "./harness.mjs";

const LOOKS_EVERY_MS = 1000;

// Leads each connection to one of those that were ready when it last looked: in turn, or as `draw` says. A replica that takes none is no
// reason to try another.
export class Balancer {
  static async start(world, cluster, { draw } = {}) {
    const balancer = new Balancer();
    Object.assign(balancer, { cluster, draw, ready: cluster.replicas.map(() => true), next: 0, refused: 0, led: cluster.replicas.map(() => 0), stopped: false });
    const server = net.createServer((client) => balancer.lead(client));
    await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
    world.servers.push({ closeAllConnections() { balancer.stopped = true; }, close: () => server.close() });
    balancer.port = server.address().port;
    balancer.looking = balancer.look();
    return balancer;
  }

  async look() {
    while (!this.stopped) {
      const asked = this.cluster.replicas.map((_, number) => this.cluster.askAdmin(number, "GET", "/readyz").then(({ status }) => status === 200, () => false));
      this.ready = await Promise.all(asked);
      await sleep(LOOKS_EVERY_MS);
    }
  }

  async stop() {
    this.stopped = true;
    await this.looking;
  }

  lead(client) {
    const ready = this.ready.flatMap((is, number) => (is ? [number] : []));
    client.on("error", () => {});
    if (ready.length === 0) return client.destroy();
    const number = ready[this.draw ? this.draw(ready.length) : this.next++ % ready.length];
    this.led[number] += 1;
    const replica = net.connect(this.cluster.replicas[number].port, "127.0.0.1");
    replica.on("error", ({ code }) => {
      if (code === "ECONNREFUSED") this.refused += 1;
      client.destroy();
    });
    client.on("close", () => replica.destroy());
    replica.on("close", () => client.destroy());
    return client.pipe(replica).pipe(client);
  }
}
