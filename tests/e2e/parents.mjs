// Proxies between armgate and the world: squid and tinyproxy as Debian has them, and one that misbehaves as it is told.
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import path from "node:path";
import { freePort, isListening, must } from "./harness.mjs";

const CERTIFICATE_MAKER = "/usr/lib/squid/security_file_certgen";
const PASSWORD_CHECK = "/usr/lib/squid/basic_ncsa_auth";

function systemProgram(name) {
  const found = ["/usr/sbin", "/usr/bin", "/usr/local/sbin"].map((place) => path.join(place, name)).find(existsSync);
  if (!found) throw new Error(`${name} is not installed (packages.txt)`);
  return found;
}

// Started by root, squid works as somebody else: what it needs is open to all.
function openDirectory(world) {
  chmodSync(world.directory, 0o711);
  const directory = mkdtempSync(world.file("squid-"));
  chmodSync(directory, 0o777);
  return directory;
}

// `user`: the one who is let in. `inspects`: squid looks into TLS, for hosts by name: {port, caFile} is where it finds each and whom it trusts
// there. `rules`: more of its access rules.
export async function startSquid(world, { user, inspects, rules = [] } = {}) {
  const directory = openDirectory(world);
  const port = await freePort();
  const file = (name) => path.join(directory, name);
  const lines = [`pid_filename ${file("squid.pid")}`, `access_log stdio:${file("access.log")} squid`, "logfile_rotate 0",
                 `cache_log ${file("cache.log")}`, `coredump_dir ${directory}`, "cache deny all", "shutdown_lifetime 0 seconds"];
  if (user) {
    const hash = (await must("openssl", "passwd", "-apr1", user.password)).trim();
    writeFileSync(file("users"), `${user.name}:${hash}\n`);
    lines.push(`auth_param basic program ${PASSWORD_CHECK} ${file("users")}`, "auth_param basic children 1", "acl known proxy_auth REQUIRED");
  }
  lines.push(...rules, user ? "http_access allow known" : "http_access allow all", "http_access deny all");
  const authority = file("authority.pem");
  if (inspects) {
    await must("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/O=Corp/CN=Corp inspection", "-addext",
               "keyUsage=critical,keyCertSign,cRLSign", "-keyout", file("key.pem"), "-out", authority);
    writeFileSync(file("both.pem"), readFileSync(authority) + readFileSync(file("key.pem")));
    await must(CERTIFICATE_MAKER, "-c", "-s", file("made"), "-M", "4MB");
    await must("chmod", "-R", "a+rwX", directory);
    lines.push(`http_port 127.0.0.1:${port} ssl-bump generate-host-certificates=on dynamic_cert_mem_cache_size=4MB cert=${file("both.pem")}`,
               `sslcrtd_program ${CERTIFICATE_MAKER} -s ${file("made")} -M 4MB`, "sslcrtd_children 1 startup=1", "ssl_bump bump all", "never_direct allow all");
    Object.entries(inspects).forEach(([host, { port: there, caFile }], i) => {
      lines.push(`cache_peer 127.0.0.1 parent ${there} 0 no-query no-digest originserver tls tls-cafile=${caFile} ssldomain=${host} name=peer${i}`,
                 `acl host${i} dstdomain ${host}`, `cache_peer_access peer${i} allow host${i}`, `cache_peer_access peer${i} deny all`);
    });
  } else {
    lines.push(`http_port 127.0.0.1:${port}`);
  }
  writeFileSync(file("squid.conf"), `${lines.join("\n")}\n`);
  const process = await world.start(systemProgram("squid"), ["-N", "-f", file("squid.conf")], () => isListening(port));
  const accesses = () => (existsSync(file("access.log")) ? readFileSync(file("access.log"), "utf8").trim().split("\n").filter((line) => line !== "") : []);
  return { port, process, caFile: authority, accesses };
}

export async function startTinyproxy(world, { user } = {}) {
  const directory = mkdtempSync(world.file("tinyproxy-"));
  const port = await freePort();
  const log = path.join(directory, "log");
  const lines = [`Port ${port}`, "Listen 127.0.0.1", "Timeout 60", `LogFile "${log}"`, "LogLevel Connect", "MaxClients 50"];
  if (user) lines.push(`BasicAuth ${user.name} ${user.password}`);
  writeFileSync(path.join(directory, "conf"), `${lines.join("\n")}\n`);
  const process = await world.start(systemProgram("tinyproxy"), ["-d", "-c", path.join(directory, "conf")], () => isListening(port));
  return { port, process, log: () => readFileSync(log, "utf8") };
}

// A proxy that does with each tunnel what `act({client, host, head})` says, which gets both ends unconnected; `plain` connects them.
export async function startOddProxy(world, act) {
  const tunnels = [];
  const server = net.createServer(async (client) => {
    client.on("error", () => {});
    const [piece] = await once(client, "data");
    const head = piece.toString();
    const [, name, port] = /^CONNECT ([^: ]+):(\d+)/.exec(head);
    const host = net.connect(Number(port), name);
    host.on("error", () => {});
    tunnels.push(client, host);
    act({ client, host, head });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.closeAllConnections = () => tunnels.forEach((socket) => socket.destroy());
  world.servers.push(server);
  return { port: server.address().port };
}

export function plain({ client, host }) {
  client.write("HTTP/1.1 200 Connection established\r\n\r\n");
  client.pipe(host);
  host.pipe(client);
  for (const [one, other] of [[client, host], [host, client]]) one.on("close", () => other.destroy());
}

// A file with a password, as armgate wants it.
export function passwordFile(world, password, mode = 0o600) {
  mkdirSync(world.file("secrets"), { recursive: true });
  const file = path.join(mkdtempSync(path.join(world.file("secrets"), "p-")), "password");
  writeFileSync(file, `${password}\n`, { mode });
  chmodSync(file, mode);
  return file;
}
