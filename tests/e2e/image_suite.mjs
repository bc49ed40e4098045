// The container image: what is in the file, and what it does when it is run as a cluster would run it, by an unprivileged user on a
// read-only root. There is no daemon: chroot in a mount namespace of its own takes its place, where the kernel and the user allow that.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { curl } from "./curl.mjs";
import { ARM_HOST, freePort, isListening, must, run, withinSeconds } from "./harness.mjs";
import { GROUP } from "./scale_set.mjs";

const TREE = fileURLToPath(new URL("../../", import.meta.url));
const USER = 65532;
const UNPACKED_MAX = 40e6;

let made = null;

// Made once for all tests of this suite.
const imageFile = () => made ??= must(path.join(TREE, "scripts/image")).then((file) => path.join(TREE, file.trim()));

const digestOf = (content) => createHash("sha256").update(content).digest("hex");

// The image, unpacked: its parts as they are described, and its root.
async function unpackedImage(world) {
  const file = await imageFile();
  const layout = world.file("layout");
  mkdirSync(layout);
  await must("tar", "-xf", file, "-C", layout);
  const json = (...parts) => JSON.parse(readFileSync(path.join(layout, ...parts), "utf8"));
  const blob = ({ digest, size }) => {
    const [, name] = /^sha256:([0-9a-f]{64})$/.exec(digest);
    const content = readFileSync(path.join(layout, "blobs/sha256", name));
    assert.deepEqual([digestOf(content), content.length], [name, size]);
    return content;
  };
  const index = json("index.json");
  assert.equal(json("oci-layout").imageLayoutVersion, "1.0.0");
  const manifest = JSON.parse(blob(index.manifests[0]));
  const config = JSON.parse(blob(manifest.config));
  const root = world.file("root");
  mkdirSync(root);
  chmodSync(world.directory, 0o711);
  for (const layer of manifest.layers) {
    const packed = world.file("layer.tar.gz");
    writeFileSync(packed, blob(layer));
    await must("tar", "-xpzf", packed, "-C", root);
  }
  return { file, root, config, manifest, docker: json("manifest.json") };
}

function* filesIn(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) yield* filesIn(file);
    else yield { file, status: lstatSync(file) };
  }
}

// What a container's start does; $1 is mounted as the authority, $2 as the configuration. /proc is the machine's.
const CONTAINER = `set -e
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
mkdir -p "$ROOT/etc/armgate-ca"
mount --rbind /proc "$ROOT/proc"
mount --bind "$1" "$ROOT/etc/armgate-ca"
mount -o remount,bind,ro "$ROOT/etc/armgate-ca"
mount --bind "$2" "$ROOT/etc/armgate"
mount -t tmpfs -o uid=${USER},gid=${USER},mode=0700 none "$ROOT/var/lib/armgate"
mount -o remount,bind,ro "$ROOT"
shift 2
cd /
exec env -i HOME=/var/lib/armgate "$(command -v chroot)" --userspec=+${USER}:+${USER} --groups=${USER} "$ROOT" /usr/bin/armgate "$@"
`;

const inContainer = (root, authority, configuration, ...words) =>
  ["/usr/bin/unshare", ["--mount", "env", `ROOT=${root}`, "bash", "-c", CONTAINER, "container", authority, configuration, ...words]];

async function canContain() {
  if (process.getuid() === 0 && (await run("unshare", ["--mount", "mount", "--make-rprivate", "/"])).code === 0) return true;
  console.log("        (not run: that takes root, and a kernel that lets it unshare mounts)");
  return false;
}

// The files of an authority as the kubelet mounts a Secret with defaultMode 0440 and fsGroup: of root, behind links.
function mountedSecret(world, authority, { mode = 0o440, group = USER } = {}) {
  const secret = world.file(`secret-${mode}-${group}`);
  const data = path.join(secret, "..2026_01_01");
  mkdirSync(data, { recursive: true });
  symlinkSync("..2026_01_01", path.join(secret, "..data"));
  for (const name of ["ca.pem", "intermediate.pem", "intermediate.key"]) {
    const file = path.join(data, name);
    writeFileSync(file, readFileSync(path.join(authority, name)));
    chmodSync(file, mode);
    chownSync(file, 0, group);
    symlinkSync(path.join("..data", name), path.join(secret, name));
  }
  return secret;
}

async function preparedContainer(world, upstream) {
  const { root } = await unpackedImage(world);
  const authority = world.file("authority");
  await must(path.join(world.bin, "armgate"), "ca", "init", "--directory", authority);
  const configuration = world.file("configuration");
  mkdirSync(configuration);
  const [port, admin] = [await freePort(), await freePort()];
  writeFileSync(path.join(configuration, "armgate.json"), JSON.stringify({
    listen: { proxy: `127.0.0.1:${port}`, admin: `127.0.0.1:${admin}` },
    ca: { directory: "/etc/armgate-ca" },
    journal: { file: "/var/lib/armgate/journal.db" },
    hosts: { [ARM_HOST]: { address: `127.0.0.1:${upstream.port}`, ca_file: "arm.pem" } },
  }));
  writeFileSync(path.join(configuration, "arm.pem"), readFileSync(upstream.caFile));
  return { root, authority, configuration, port, admin };
}

export const tests = {
  "the file is what it says, runs as a user, is small, and has neither shell nor privileges in it": async (world) => {
    const { file, root, config, manifest, docker } = await unpackedImage(world);
    assert.deepEqual([config.config.User, config.config.Entrypoint, config.config.Cmd], [`${USER}:${USER}`, ["/usr/bin/armgate"], ["run"]]);
    const layer = readFileSync(world.file("layer.tar.gz"));
    assert.deepEqual([manifest.layers.length, docker[0].Layers], [1, [`blobs/sha256/${digestOf(layer)}`]]);
    assert.equal(config.rootfs.diff_ids[0], `sha256:${(await must("sh", "-c", `gzip -dc '${world.file("layer.tar.gz")}' | sha256sum`)).slice(0, 64)}`);

    let bytes = 0;
    const programs = [];
    for (const { file: inside, status } of filesIn(root)) {
      if (status.isSymbolicLink()) continue;
      bytes += status.size;
      assert.equal(status.mode & 0o6022, 0, `${inside}: nobody gets privileges by it, or may change it`);
      if (/^\/usr\/s?bin\//.test(inside.slice(root.length))) programs.push(path.basename(inside));
    }
    console.log(`        unpacked ${(bytes / 1e6).toFixed(1)} MB, packed ${(layer.length / 1e6).toFixed(1)} MB`);
    assert.ok(bytes < UNPACKED_MAX, `${bytes} bytes`);
    assert.deepEqual(programs, ["armgate"]);
    const libraries = readdirSync(path.join(root, "var/lib/dpkg/status.d"));
    for (const name of ["libc6", "libssl3", "ca-certificates"]) {
      assert.ok(libraries.includes(name), name);
      assert.ok(existsSync(path.join(root, "usr/share/doc", name, "copyright")), name);
    }

    const checked = await must(path.join(root, "usr/bin/armgate"), "check", "--config", path.join(root, "etc/armgate/armgate.json"));
    assert.match(checked, /: good; mode protect, proxy on 0\.0\.0\.0:8080, [1-9][0-9]* rules, 2 warnings$/m, "the warnings: others may reach both listeners");

    const before = digestOf(readFileSync(file));
    await must(path.join(TREE, "scripts/image"));
    assert.equal(digestOf(readFileSync(file)), before, "the same program gives the same image");
  },

  "a user without rights serves from it on a read-only root, with a Secret's files, and drains when it is told to": async (world) => {
    if (!(await canContain())) return;
    const sim = await world.startSim(["--operation-ms", "0"]);
    await sim.make(GROUP, "2024-03-01", { location: "westeurope" });
    const { root, authority, configuration, port, admin } = await preparedContainer(world, sim);
    const secret = mountedSecret(world, authority);
    const service = await world.start(...inContainer(root, secret, configuration, "run"), () => isListening(port));
    const status = readFileSync(`/proc/${service.child.pid}/status`, "utf8");
    assert.match(status, new RegExp(`^Uid:\\t${USER}\\t${USER}\\t${USER}\\t${USER}$`, "m"));
    assert.match(status, /^CapEff:\t0+$/m);
    const gateway = { port, caFile: path.join(authority, "ca.pem") };
    assert.equal((await curl(world, gateway, `${GROUP}?api-version=2024-03-01`)).status, 200);
    assert.equal((await must("curl", "--silent", `http://127.0.0.1:${admin}/readyz`)).trim(), "ready");
    service.child.kill("SIGTERM");
    assert.deepEqual(await withinSeconds(20, "the drain", service.exit), { code: 0, signal: null });
  },

  "without its authority, or with one that others could read, it says what to do": async (world) => {
    if (!(await canContain())) return;
    const sim = await world.startSim();
    const { root, authority, configuration } = await preparedContainer(world, sim);
    const refused = async (directory) => {
      const [program, words] = inContainer(root, directory, configuration, "run");
      const { code, stderr } = await run(program, words);
      assert.equal(code, 1, stderr);
      return stderr;
    };
    mkdirSync(world.file("empty"));
    assert.match(await refused(world.file("empty")), /^armgate: .*\/etc\/armgate-ca\/ca\.pem is not there, and can only be mounted there: make an authority elsewhere \(`armgate ca init --directory DIR`\)/m);
    assert.match(await refused(mountedSecret(world, authority, { mode: 0o444 })), /intermediate\.key is a secret, but its mode 0444 lets others at it; .*defaultMode 0440 and securityContext\.fsGroup/);
    assert.match(await refused(mountedSecret(world, authority, { mode: 0o460 })), /intermediate\.key is a secret, but its mode 0460/);
    assert.match(await refused(mountedSecret(world, authority, { mode: 0o440, group: 0 })), /cannot be (reached|read)|cannot open|belongs to user 0, armgate runs as user 65532/);
  },
};
