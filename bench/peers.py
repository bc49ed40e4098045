"""The proxies that bench/compare sets beside each other, and the origin behind them, each with a configuration of its own in
one directory. Everything listens on loopback, on ports that were free."""
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

HOST = "management.azure.com"
PATH = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/load/providers/Microsoft.Network/virtualNetworks/{}?api-version=2023-09-01"
SIZES = {"small": 1500, "medium": 100_000, "large": 4_000_000}
PACKAGES = {"haproxy": "haproxy", "nginx": "nginx-light", "squid": "squid-openssl", "mitmdump": "mitmproxy"}


def fail(text):
    sys.exit(f"compare: {text}")


def find_program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


def install(programs):
    missing = [PACKAGES[name] for name in programs if not find_program(name)]
    if not missing:
        return
    command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *missing]
    if os.geteuid() != 0:
        fail(f"these packages are missing; as root, run: {' '.join(command)}")
    print("compare: installing", *missing, file=sys.stderr)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-q"], check=True, stdout=subprocess.DEVNULL, env=environment)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def body_of(size):
    head = '{"name":"net","etag":"W/\\"0c2b\\"","location":"westeurope","tags":{"load":"0"},"properties":{"provisioningState":"Succeeded","notes":["'
    line = "abcdefghijklmnopqrstuvwxyz 0123456789 abcdefghijklmnopqrstuvwxyz"
    lines = [line] * ((size - len(head) - 4) // (len(line) + 3))
    return head + '","'.join(lines) + '"]}}'


def run_load(build, target, load_arguments, seconds, warm_up):
    command = [str(Path(build) / "armgate_load"), target, *load_arguments, "--rounds", "1", "--quiet", "--json", "-",
               "--duration", f"{int(seconds * 1000)}ms", "--warm-up", f"{int(warm_up * 1000)}ms"]
    if os.cpu_count() > 1 and shutil.which("taskset"):
        command = ["taskset", "-c", "1", *command]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{' '.join(command)}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)["targets"][0]


def with_journal(directory):
    """Options of an armgate with a journal, as shipped: `journal.durability` `process`."""
    return {"journal": {"file": f"{directory}/journal.db"}}


class Rig:
    """The directory, the certificates, the origin and the peers. `wrap` goes before the command of a peer (valgrind)."""

    def __init__(self, directory, binaries, threads=1, wrap=()):
        self.directory = Path(directory)
        self.binaries = Path(binaries)
        self.threads = threads
        self.wrap = list(wrap)
        self.children = []
        self.make_certificates()
        self.start_origin()

    def write(self, name, text):
        path = self.directory / name
        path.write_text(text)
        return path

    def openssl(self, *arguments):
        done = subprocess.run(["openssl", *map(str, arguments)], cwd=self.directory, capture_output=True, text=True)
        if done.returncode != 0:
            fail(f"openssl {arguments[0]}: {done.stderr}")

    def make_certificates(self):
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        self.openssl("req", "-x509", *key, "-days", 2, "-subj", "/CN=bench CA", "-keyout", "ca.key", "-out", "ca.pem",
                     "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        self.write("leaf.ext", f"subjectAltName=DNS:{HOST},DNS:*.{HOST}\n")
        self.openssl("req", *key, "-subj", f"/CN={HOST}", "-keyout", "leaf.key", "-out", "leaf.csr")
        self.openssl("x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", 2,
                     "-extfile", "leaf.ext", "-out", "leaf.pem")
        both = (self.directory / "leaf.pem").read_text() + (self.directory / "leaf.key").read_text()
        self.write("leaf-both.pem", both)
        self.write("ca-both.pem", (self.directory / "ca.pem").read_text() + (self.directory / "ca.key").read_text())

    def start(self, name, command, port, core, wrap=()):
        if os.cpu_count() > 1 and shutil.which("taskset"):
            command = ["taskset", "-c", str(core), *wrap, *command]
        else:
            command = [*wrap, *command]
        log = open(self.directory / f"{name}.log", "w")
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        child = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.directory, env=environment)
        self.children.append(child)
        for _ in range(600):
            if is_listening(port):
                return child.pid
            if child.poll() is not None:
                break
            time.sleep(0.1)
        fail(f"{name} did not start:\n{(self.directory / f'{name}.log').read_text()[-2000:]}")

    def stop(self):
        for child in self.children:
            child.terminate()
        for child in self.children:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    # ---- the origin: bytes from memory, and 201 for a PUT (with 200 nginx would judge If-Match itself)

    def nginx(self, name, port, locations, core, extra="", wrap=()):
        (self.directory / name).mkdir()
        self.write(f"{name}.conf", f"""
daemon off; master_process off; worker_processes 1; pid {name}.pid; error_log {name}/error.log;
events {{ worker_connections 32768; }}
http {{
  access_log off; keepalive_requests 100000000; keepalive_timeout 600s; default_type application/json; open_file_cache max=100;
  client_max_body_size 16m; client_body_buffer_size 64k; sendfile on; tcp_nodelay on;
  client_body_temp_path {name}/1; proxy_temp_path {name}/2; fastcgi_temp_path {name}/3; uwsgi_temp_path {name}/4; scgi_temp_path {name}/5;
  {extra}
  server {{
    listen 127.0.0.1:{port} ssl backlog=4096;
    ssl_certificate leaf.pem; ssl_certificate_key leaf.key; ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache off;
    {locations}
  }}
}}""")
        return self.start(name, [find_program("nginx"), "-p", self.directory, "-e", "stderr", "-c", self.directory / f"{name}.conf"], port, core, wrap)

    def start_origin(self):
        self.origin_port = free_port()
        (self.directory / "content").mkdir()
        locations = ""
        for name, size in SIZES.items():
            (self.directory / "content" / f"{name}.json").write_text(body_of(size))
            locations += f"location ~ /{name} {{ try_files /{name}.json =404; }}\n"
        # What server-side includes look through has no length known in advance, and comes in chunks.
        locations += "location ~ /chunked { ssi on; ssi_types application/json; try_files /small.json =404; }\n"
        put_answer = body_of(SIZES["small"]).replace("\\", "\\\\")  # nginx takes one backslash off
        locations += f"location ~ /put {{ return 201 '{put_answer}'; }}\n"
        # What is there is the same whenever it is read, or another each time: then somebody else seems to have written meanwhile.
        for name, answer in {"still": put_answer, "moving": put_answer.replace("0c2b", "$request_id").replace('"load":"0"', '"load":"0","other":"$request_id"')}.items():
            locations += f"location ~ /{name} {{ if ($request_method = PUT) {{ return 201 '{answer}'; }} return 200 '{answer}'; }}\n"
        self.nginx("origin", self.origin_port, f"root {self.directory}/content;\n{locations}", core=1)

    # ---- the peers: each gives what armgate_load needs to reach it

    def start_nginx(self):
        port = free_port()
        extra = f"upstream origin {{ server 127.0.0.1:{self.origin_port}; keepalive 256; keepalive_requests 100000000; }}"
        locations = f"""location / {{
      proxy_pass https://origin; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
      proxy_ssl_verify on; proxy_ssl_trusted_certificate ca.pem; proxy_ssl_name {HOST}; proxy_ssl_server_name on; proxy_max_temp_file_size 0;
    }}"""
        pid = self.nginx("nginx", port, locations, core=0, extra=extra, wrap=self.wrap)
        return {"pid": pid, "direct": f"https://{HOST},connect=127.0.0.1:{port},ca={self.directory}/ca.pem"}

    def start_haproxy(self):
        port = free_port()
        self.write("haproxy.cfg", f"""
global
  nbthread {self.threads}
  maxconn 8000
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 600s
frontend in
  bind 127.0.0.1:{port} ssl crt {self.directory}/leaf-both.pem alpn http/1.1
  default_backend origin
backend origin
  http-reuse always
  server origin 127.0.0.1:{self.origin_port} ssl verify required ca-file {self.directory}/ca.pem sni str({HOST}) verifyhost {HOST}
""")
        pid = self.start("haproxy", [find_program("haproxy"), "-db", "-f", "haproxy.cfg"], port, 0, self.wrap)
        return {"pid": pid, "direct": f"https://{HOST},connect=127.0.0.1:{port},ca={self.directory}/ca.pem"}

    def start_armgate(self, name="armgate", options=None):
        """`options`: of the configuration, beside those that every armgate here has."""
        proxy, tls = free_port(), free_port()
        program = self.binaries / "armgate"
        config = self.write(f"{name}.json", json.dumps({
            "listen": {"proxy": f"127.0.0.1:{proxy}", "tls": f"127.0.0.1:{tls}"}, "threads": self.threads,
            "ca": {"directory": f"{self.directory}/armgate-ca"}, "log": {"file": f"{self.directory}/{name}-requests.log"},
            "limits": {"connections": 100000},
            "hosts": {HOST: {"address": f"127.0.0.1:{self.origin_port}", "ca_file": f"{self.directory}/ca.pem"}},
            **(options or {}),
        }))
        step = "path" if (self.directory / "armgate-ca").exists() else "init"  # several share one
        made = subprocess.run([program, "ca", step, "--config", config], capture_output=True, text=True)
        if made.returncode != 0:
            fail(f"armgate ca {step}: {made.stderr}")
        authority = made.stdout.strip()
        pid = self.start(name, [program, "run", "--config", config], tls, 0, self.wrap)
        return {"pid": pid, "direct": f"https://{HOST},connect=127.0.0.1:{tls},ca={authority}", "proxy_port": proxy, "proxy_target_port": 443,
                "connect": f"https://{HOST},proxy=http://load@127.0.0.1:{proxy},ca={authority}"}

    def start_squid(self):
        port = free_port()
        certgen = "/usr/lib/squid/security_file_certgen"
        subprocess.run([certgen, "-c", "-s", self.directory / "squid-certs", "-M", "4MB"], check=True, capture_output=True)
        shutil.chown(self.directory / "squid-certs", "proxy")
        for entry in (self.directory / "squid-certs").rglob("*"):
            shutil.chown(entry, "proxy")
        self.write("hosts", f"127.0.0.1 localhost {HOST}\n")
        self.write("squid.conf", f"""
http_port 127.0.0.1:{port} ssl-bump generate-host-certificates=on dynamic_cert_mem_cache_size=8MB cert={self.directory}/ca-both.pem
sslcrtd_program {certgen} -s {self.directory}/squid-certs -M 4MB
sslcrtd_children 1 startup=1
ssl_bump bump all
tls_outgoing_options cafile={self.directory}/ca.pem
hosts_file {self.directory}/hosts
http_access allow all
cache deny all
cache_mem 8 MB
access_log none
cache_log {self.directory}/squid-cache.log
pid_filename {self.directory}/squid.pid
coredump_dir {self.directory}
server_pconn_for_nonretriable allow all
client_persistent_connections on
""")
        os.chmod(self.directory, 0o777)
        pid = self.start("squid", [find_program("squid"), "-N", "-f", self.directory / "squid.conf"], port, 0, self.wrap)
        return {"pid": pid, "proxy_port": port, "proxy_target_port": self.origin_port,
                "connect": f"https://{HOST}:{self.origin_port},proxy=http://127.0.0.1:{port},ca={self.directory}/ca.pem"}

    def start_mitmproxy(self):
        port = free_port()
        (self.directory / "mitm").mkdir()
        shutil.copy(self.directory / "ca-both.pem", self.directory / "mitm" / "mitmproxy-ca.pem")
        self.write("mitm-addon.py", f"def server_connect(data):\n    data.server.address = ('127.0.0.1', {self.origin_port})\n")
        pid = self.start("mitmproxy", [find_program("mitmdump"), "-q", "--listen-host", "127.0.0.1", "--listen-port", port, "--set",
                                       f"confdir={self.directory}/mitm", "--set", f"ssl_verify_upstream_trusted_ca={self.directory}/ca.pem",
                                       "-s", self.directory / "mitm-addon.py"], port, 0, self.wrap)
        return {"pid": pid, "proxy_port": port, "proxy_target_port": self.origin_port,
                "connect": f"https://{HOST}:{self.origin_port},proxy=http://127.0.0.1:{port},ca={self.directory}/ca.pem"}
