// The way from one program to another, which a test can cut (connections are reset, new ones refused), stall (nothing gets through, and
// nobody is told) and mend.
import { once } from "node:events";
import net from "node:net";

export class Relay {
  // Leads to `target`, a port of loopback.
  static async start(world, target) {
    const relay = Object.assign(new Relay(), { target, pairs: new Set(), isStalled: false, led: 0, server: null });
    await relay.listen(0);
    world.servers.push({ closeAllConnections: () => relay.breakAll(), close: () => relay.server?.close() });
    return relay;
  }

  async listen(port) {
    this.server = net.createServer({ allowHalfOpen: true }, (near) => this.lead(near));
    this.server.listen(port, "127.0.0.1");
    await once(this.server, "listening");
    this.port = this.server.address().port;
  }

  lead(near) {
    this.led += 1;
    const far = net.connect({ port: this.target, host: "127.0.0.1", allowHalfOpen: true });
    const pair = [near, far];
    this.pairs.add(pair);
    for (const [from, to] of [pair, [far, near]]) {
      from.on("error", () => {});
      from.on("close", () => {
        this.pairs.delete(pair);
        if (from.errored) to.resetAndDestroy();
        else to.destroySoon();
      });
    }
    if (this.isStalled) this.hold(pair);
    else this.join(pair);
  }

  join([near, far]) {
    near.pipe(far).pipe(near);
  }

  // What is under way stays in the sockets, an end as well.
  hold([near, far]) {
    near.unpipe(far);
    far.unpipe(near);
    near.pause();
    far.pause();
  }

  breakAll() {
    for (const pair of this.pairs) for (const socket of pair) socket.resetAndDestroy();
  }

  cut() {
    this.server.close();
    this.server = null;
    this.breakAll();
  }

  stall() {
    this.isStalled = true;
    for (const pair of this.pairs) this.hold(pair);
  }

  async mend() {
    if (this.server === null) await this.listen(this.port);
    this.isStalled = false;
    for (const pair of this.pairs) this.join(pair);
  }
}
