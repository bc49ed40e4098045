// The Debian package: what it holds works where it is put, with what came with it. It is unpacked, not installed.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "./harness.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

// Made once for all tests of this suite.
let made = null;

async function make() {
  const done = await run(path.join(ROOT, "scripts/package"), []);
  assert.equal(done.code, 0, done.stderr.toString());
  return path.join(ROOT, done.stdout.toString().trim());
}

async function unpacked(world) {
  const file = await (made ??= make());
  const directory = path.join(world.directory, "unpacked");
  assert.equal((await run("dpkg-deb", ["-x", file, directory])).code, 0);
  assert.equal((await run("dpkg-deb", ["-e", file, path.join(world.directory, "control")])).code, 0);
  const at = (...parts) => path.join(directory, ...parts);
  const armgate = (...words) => run(at("usr/bin/armgate"), words, { env: { HOME: world.directory } });
  return { file, at, armgate };
}

export const tests = {
  "the program finds the rules and the configuration that came with it": async (world) => {
    const { at, armgate } = await unpacked(world);
    const config = at("etc/armgate/armgate.json");
    const checked = await armgate("check", "--config", config);
    assert.match(checked.stdout.toString(), /: good; mode protect, proxy on 127\.0\.0\.1:8080, [1-9][0-9]* rules\n$/, checked.stderr.toString());
    assert.match((await armgate("--version")).stdout.toString(), /^armgate [0-9.]+\n$/);
    const broken = at("usr/share/armgate/rules/zz.json");
    writeFileSync(broken, "{");
    const refused = await armgate("check", "--config", config);
    assert.equal(refused.code, 1);
    assert.ok(refused.stderr.toString().startsWith(broken), "the rules beside the program are those that it reads");
    for (const schema of ["armgate.schema.json", "rules.schema.json"]) JSON.parse(readFileSync(at("usr/share/armgate/schema", schema), "utf8"));
  },

  "man pages and completions are where man and the shells look": async (world) => {
    const { at, armgate } = await unpacked(world);
    for (const name of ["armgate", "armgate-exec", "armgate-ca-init"]) {
      const page = at("usr/share/man/man1", `${name}.1.gz`);
      const warned = await run("sh", ["-c", `gzip -dc '${page}' | grep -q '^.TH ${name.toUpperCase().replaceAll("-", ".-")} 1 '`]);
      assert.equal(warned.code, 0, page);
    }
    const places = { bash: "bash-completion/completions/armgate", zsh: "zsh/vendor-completions/_armgate", fish: "fish/vendor_completions.d/armgate.fish" };
    for (const [shell, place] of Object.entries(places)) {
      assert.equal(readFileSync(at("usr/share", place), "utf8"), (await armgate("completion", shell)).stdout.toString());
    }
  },

  // With scripts in place of all programs that it calls: what it would do to this machine.
  "the first install makes an authority unless there is one, and an upgrade never does": async (world) => {
    await unpacked(world);
    const stubs = path.join(world.directory, "stubs");
    mkdirSync(stubs);
    const log = path.join(world.directory, "called");
    const stub = (name, script) => writeFileSync(path.join(stubs, name), `#!/bin/sh\necho "${name} $*" >>${log}\n${script}\n`, { mode: 0o755 });
    for (const name of ["getent", "adduser", "install", "chmod", "deb-systemd-helper", "deb-systemd-invoke", "systemctl"]) stub(name, "");
    stub("runuser", 'shift 3; exec "$@"');
    const there = path.join(world.directory, "there");
    const after = async (before, former, init = `echo "$AT" >${there}`) => {
      for (const file of [log, there]) rmSync(file, { force: true });
      if (before) writeFileSync(there, `${before}\n`);
      stub("armgate", `case "$2" in path) cat ${there} 2>/dev/null || exit 1;; init) ${init};; esac`);
      const done = await run("sh", [path.join(world.directory, "control/postinst"), "configure", ...former],
                             { env: { PATH: `${stubs}:/usr/bin:/bin`, AT: "/var/lib/armgate/ca/ca.pem" } });
      const called = readFileSync(log, "utf8");
      return { code: done.code, made: called.includes("armgate ca init"), opened: called.includes("chmod 0711 /var/lib/armgate/ca\n") };
    };
    assert.deepEqual(await after(null, [""]), { code: 0, made: true, opened: true });
    assert.deepEqual(await after("/srv/ca/ca.pem", [""]), { code: 0, made: false, opened: false });
    assert.deepEqual(await after(null, [""], `echo /srv/ca/ca.pem >${there}`), { code: 0, made: true, opened: false });
    for (const before of [null, "/var/lib/armgate/ca/ca.pem", "/srv/ca/ca.pem"]) {
      assert.deepEqual(await after(before, ["0.0.9"], "exit 1"), { code: 0, made: false, opened: false }, String(before));
    }
    assert.notEqual((await after(null, [""], "exit 1")).code, 0, "the service could not begin");
  },

  "the package says what it needs, and its service ends later than armgate's drain": async (world) => {
    const { file, at } = await unpacked(world);
    const fields = (await run("dpkg-deb", ["-f", file])).stdout.toString();
    for (const library of ["libssl3", "libsqlite3-0", "adduser"]) assert.match(fields, new RegExp(`^Depends: .*\\b${library}\\b`, "m"));
    for (const script of ["postinst", "prerm", "postrm"]) {
      const own = path.join(world.directory, "control", script);
      assert.equal(statSync(own).mode & 0o777, 0o755);
      assert.equal((await run("sh", ["-n", own])).code, 0);
    }
    assert.equal(readFileSync(path.join(world.directory, "control/conffiles"), "utf8"), "/etc/armgate/armgate.json\n");
    const unit = readFileSync(at("lib/systemd/system/armgate.service"), "utf8");
    const [, command] = /^ExecStart=(.*)$/m.exec(unit);
    assert.deepEqual(command.split(" "), ["/usr/bin/armgate", "run", "--config", "/etc/armgate/armgate.json"]);
    const [, stop] = /^TimeoutStopSec=([0-9]+)$/m.exec(unit);
    const [, drain] = /"drain_max": "([0-9]+)s"/.exec(readFileSync(path.join(ROOT, "conf/armgate.json"), "utf8"));
    assert.ok(Number(stop) > Number(drain) + 5);
    const named = /^Documentation=file:\/\/(.*)$/m.exec(unit)[1];
    assert.ok(existsSync(at(named)), named);
  },
};
