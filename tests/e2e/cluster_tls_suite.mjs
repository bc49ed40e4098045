// The way to a cluster's engine over TLS: an authority of its own, one that signed nothing, a name that is not the certificate's.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { startSim } from "./cluster_race.mjs";
import { Cluster, Postgres } from "./engines.mjs";
import { changeConfig, must } from "./harness.mjs";
import { PATH } from "./scale_set.mjs";

const NAME = "db.example";

const openssl = (...words) => must("openssl", ...words);
const newKey = (key) => ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key];

async function makeAuthority(world, name) {
  const [key, certificate] = [world.file(`${name}-key.pem`), world.file(`${name}.pem`)];
  await openssl("req", "-x509", ...newKey(key), "-days", "2", "-subj", `/CN=${name}`, "-addext", "basicConstraints=critical,CA:true",
                "-addext", "keyUsage=critical,keyCertSign", "-out", certificate);
  return { key, certificate };
}

async function signFor(world, authority, name) {
  const [key, request, certificate, extensions] = ["key", "request", "certificate", "extensions"].map((what) => world.file(`${name}-${what}`));
  await openssl("req", "-new", ...newKey(key), "-subj", `/CN=${name}`, "-out", request);
  writeFileSync(extensions, `subjectAltName=DNS:${name}\n`);
  await openssl("x509", "-req", "-in", request, "-CA", authority.certificate, "-CAkey", authority.key, "-CAcreateserial", "-days", "2",
                "-extfile", extensions, "-out", certificate);
  return { key: readFileSync(key), certificate: readFileSync(certificate) };
}

// PostgreSQL with a certificate for NAME, and one armgate that is to find it there, without a name server.
async function startWithTls(world) {
  const [sim, postgres, authority, stranger] = await Promise.all([startSim(world), Postgres.make(world), makeAuthority(world, "engines-authority"),
                                                                  makeAuthority(world, "strangers-authority")]);
  const { key, certificate } = await signFor(world, authority, NAME);
  await postgres.kill();
  postgres.settings = ["ssl=on", `ssl_key_file=${postgres.give("server.key", key)}`, `ssl_cert_file=${postgres.give("server.pem", certificate)}`];
  await postgres.start();
  const urlOf = (name, { certificate: root }) =>
    `postgres://armgate@${name}:${postgres.port}/postgres?hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert=${root}`;
  const cluster = await Cluster.configure(world, sim, urlOf(NAME, authority), { count: 1, init: false });
  const use = (url) => changeConfig(cluster.replicas[0], (config) => { config.cluster.engine = url; });
  return { postgres, cluster, authority, stranger, urlOf, use };
}

// Neither the command nor the service goes on, and both say why.
async function assertRefused(cluster, why) {
  const status = await cluster.command("status");
  assert.notEqual(status.code, 0);
  assert.match(status.stderr.toString(), why);
  await assert.rejects(cluster.startReplica(0));
  const { exit, log } = cluster.world.children.at(-1);
  assert.deepEqual(await exit, { code: 3, signal: null }, log);
  assert.match(log, why);
}

export const tests = {
  "the engine is reached over TLS when its certificate is its authority's and for its name": async (world) => {
    const { postgres, cluster } = await startWithTls(world);
    const made = await cluster.command("init", "--lease", "2");
    assert.equal(made.code, 0, made.stderr);
    await cluster.startReplica(0);
    assert.equal((await cluster.ask(0, "reader", "GET", PATH)).status, 200);
    const ways = await postgres.sql("select distinct s.ssl from pg_stat_ssl s join pg_stat_activity a using (pid) where a.application_name = 'armgate'");
    assert.equal(ways.trim(), "t");
    for (const said of [cluster.replicas[0].process.log, (await cluster.command("status")).stderr.toString()]) assert.doesNotMatch(said, /verify-full/);
  },

  "an engine whose certificate another authority signed, or that is for another name, is refused, and it is said which": async (world) => {
    const { cluster, authority, stranger, urlOf, use } = await startWithTls(world);
    assert.equal((await cluster.command("init", "--lease", "2")).code, 0);
    use(urlOf(NAME, stranger));
    await assertRefused(cluster, /connection to server at \W*"127\.0\.0\.1\W*", port \d+ failed: SSL error: certificate verify failed \(it must be valid, and who signed it must stand in sslrootcert, [^ )]*strangers-authority\.pem\)/);
    use(urlOf("db-b.example", authority));
    await assertRefused(cluster, /server certificate for \W*"db\.example\W*" does not match host name \W*"db-b\.example/);
    use(urlOf(NAME, { certificate: world.file("missing.pem") }));
    await assertRefused(cluster, /root certificate file \W*"[^"]*missing\.pem\W*" does not exist/);
    use(urlOf(NAME, authority));
    await cluster.startReplica(0);
    assert.equal((await cluster.ask(0, "reader", "GET", PATH)).status, 200);
  },
};
