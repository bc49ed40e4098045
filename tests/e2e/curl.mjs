// curl and a raw TLS connection as clients of armgate.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import net from "node:net";
import tls from "node:tls";
import { ARM_HOST, run, withinSeconds } from "./harness.mjs";

let requests = 0;

// One request through armgate. `path` goes to ARM unless `url` is given; `args` are more options of curl.
export async function curl(world, gateway, path, { user = "curl", args = [], input, url = `https://${ARM_HOST}${path}`, caFile = gateway.caFile,
                                                   direct = false, token = "token-of-the-test" } = {}) {
  const number = ++requests;
  const headFile = world.file(`curl-${number}.head`);
  const bodyFile = world.file(`curl-${number}.body`);
  const proxy = direct ? [] : ["--proxy", `http://${user}:x@127.0.0.1:${gateway.port}`];
  const done = await run("curl", ["--silent", "--show-error", "--max-time", "60", "--http1.1", "--suppress-connect-headers", ...proxy,
                                  "--cacert", caFile, "--dump-header", headFile, "--output", bodyFile,
                                  "--header", `Authorization: Bearer ${token}`, "--write-out", "%{http_code} %{http_connect}",
                                  ...args, url], { input });
  const [status, connectStatus] = done.stdout.toString().split(" ").map(Number);
  const fields = parseLastHead(readIfThere(headFile).toString());
  return { code: done.code, error: done.stderr, status, connectStatus, fields, headers: lowerCased(fields), body: readIfThere(bodyFile) };
}

export async function curlJson(world, gateway, path, options) {
  const answer = await curl(world, gateway, path, options);
  if (answer.code !== 0) throw new Error(`curl: ${answer.error}`);
  return { ...answer, json: answer.body.length > 0 ? JSON.parse(answer.body) : null };
}

// Arguments of a request with a JSON body.
export const sending = (method, value, ...headers) => [
  "--request", method, "--header", "Content-Type: application/json", "--data-binary", JSON.stringify(value),
  ...headers.flatMap((header) => ["--header", header]),
];

function readIfThere(file) {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}

// The fields of the last head in the text: heads of 1xx answers come before it.
function parseLastHead(text) {
  const heads = text.split("\r\n\r\n").filter((head) => head !== "");
  const lines = (heads.at(-1) ?? "").split("\r\n").slice(1);
  return lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
}

function lowerCased(fields) {
  return Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), value]));
}

// A TLS connection to ARM through armgate, for requests that no well-behaved client sends.
export async function openRaw(gateway, { user = "raw" } = {}) {
  const socket = net.connect(gateway.port, "127.0.0.1");
  const credentials = Buffer.from(`${user}:x`).toString("base64");
  socket.write(`CONNECT ${ARM_HOST}:443 HTTP/1.1\r\nHost: ${ARM_HOST}:443\r\nProxy-Authorization: Basic ${credentials}\r\n\r\n`);
  const [piece] = await withinSeconds(5, "CONNECT", once(socket, "data"));
  if (!piece.toString().startsWith("HTTP/1.1 200")) throw new Error(`CONNECT: ${piece}`);
  const stream = tls.connect({ socket, servername: ARM_HOST, ca: readFileSync(gateway.caFile) });
  await withinSeconds(5, "TLS handshake", once(stream, "secureConnect"));
  return new RawConnection(stream);
}

class RawConnection {
  constructor(stream) {
    this.stream = stream;
    this.received = "";
    this.ended = false;
    stream.on("data", (piece) => { this.received += piece; stream.emit("progress"); });
    const end = () => { this.ended = true; stream.emit("progress"); };
    stream.on("end", end);
    stream.on("error", end);
    stream.on("close", end);
  }

  write(text) {
    this.stream.write(text);
  }

  // Everything received so far, as soon as it matches, or the connection has ended.
  async receive(pattern) {
    await withinSeconds(10, `an answer like ${pattern}`, (async () => {
      while (!pattern.test(this.received) && !this.ended) await once(this.stream, "progress");
    })());
    return this.received;
  }

  close() {
    this.stream.destroy();
  }
}
