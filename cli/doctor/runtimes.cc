#include "cli/doctor/runtimes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "certs/secret_file.h"
#include "cli/process/runtime_directory.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;
using Kind = RuntimeVerdict::Kind;

// Each prints "issuer NAME" once TLS stands, and else why it does not.

constexpr std::string_view kPython = R"py(
import sys
url = sys.argv[1]
def told(certificate):
    names = [value for part in (certificate or {}).get("issuer", ()) for _, value in part]
    print("issuer", " ".join(names) or "unknown")
try:
    import requests
except ImportError:
    requests = None
try:
    if requests:
        answer = requests.get(url, stream=True, timeout=20)
        told(answer.raw._connection.sock.getpeercert())
    else:
        import urllib.error, urllib.request
        try:
            answer = urllib.request.urlopen(url, timeout=20)
        except urllib.error.HTTPError as error:
            answer = error
        told(answer.fp.raw._sock.getpeercert())
except Exception as error:
    print(error)
    sys.exit(1)
)py";

constexpr std::string_view kNode = R"js(
const host = process.argv[1];
const proxy = new URL(process.env.https_proxy || process.env.HTTPS_PROXY);
const user = Buffer.from(`${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`).toString("base64");
// fetch() has a dispatcher from the start only if Node, or what it was told to load, gave it one that knows the proxy.
if (!Object.getOwnPropertySymbols(globalThis).some((one) => one.description?.startsWith("undici.globalDispatcher")))
  console.log(`fetch() of Node ${process.version} goes around`);
const fail = (error) => { console.log(error.message); process.exit(1); };
const asked = require("http").request({ method: "CONNECT", host: proxy.hostname.replace(/^\[|\]$/g, ""), port: proxy.port || 80,
  path: `${host}:443`, headers: { Host: `${host}:443`, "Proxy-Authorization": `Basic ${user}` } });
asked.setTimeout(20000, () => asked.destroy(new Error("no answer in 20 s"))).on("error", fail).on("connect", (answer, socket) => {
  if (answer.statusCode !== 200) fail(new Error(`the proxy answers ${answer.statusCode}`));
  const secured = require("tls").connect({ socket, servername: host }, () => {
    console.log("issuer", secured.getPeerCertificate().issuer.O);
    secured.end(() => process.exit(0));  // sent first: else the proxy takes it for a failed handshake
  }).on("error", fail);
}).end();
)js";

constexpr std::string_view kGo = R"go(package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	client := http.Client{Timeout: 20 * time.Second}
	answer, err := client.Get(os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("issuer", answer.TLS.PeerCertificates[0].Issuer)
}
)go";

constexpr std::string_view kJava = R"java(import java.net.URL;
import java.security.cert.X509Certificate;
import javax.net.ssl.HttpsURLConnection;

public class Probe {
  public static void main(String[] arguments) {
    try {
      HttpsURLConnection connection = (HttpsURLConnection) new URL(arguments[0]).openConnection();
      connection.setConnectTimeout(20000);
      connection.setReadTimeout(20000);
      connection.connect();
      System.out.println("issuer " + ((X509Certificate) connection.getServerCertificates()[0]).getIssuerX500Principal());
    } catch (Exception error) {
      System.out.println(error.getMessage());
      System.exit(1);
    }
  }
}
)java";

// What distrust is called by OpenSSL and curl, Python, Node, Go, Java.
constexpr std::array<std::string_view, 6> kDistrust = {"certificate", "self-signed", "self signed",
                                                       "x509:",       "PKIX",        "trustAnchors"};

constexpr std::string_view kOrganization = "armgate";  // in the name of each of its authorities (certs/certificate.cc)

std::string variable(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

bool is_installed(const std::string& program, const Environment& environment) {
  std::string_view rest = environment.contains("PATH") ? std::string_view(environment.at("PATH")) : "/usr/bin:/bin";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, end)) / program;
    std::error_code error;
    if (end > 0 && fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// What it said in the end, without a tool's echo of its own exit code. curl explains itself below its error's line.
std::string last_words(std::string_view printed) {
  std::string last;
  while (!printed.empty()) {
    const size_t end = std::min(printed.find('\n'), printed.size());
    const std::string_view line = trim(printed.substr(0, end));
    if (line.starts_with("curl: (")) return std::string(line);
    if (!line.empty() && !line.starts_with("exit status ")) last = line;
    printed.remove_prefix(std::min(end + 1, printed.size()));
  }
  return last;
}

std::optional<std::string> issuer_in(std::string_view printed) {
  const size_t at = printed.rfind("issuer");
  if (at == printed.npos) return std::nullopt;
  std::string_view rest = printed.substr(at + std::string_view("issuer").size());
  rest = rest.substr(0, rest.find('\n'));
  return std::string(trim(rest.starts_with(':') ? rest.substr(1) : rest));
}

RuntimeVerdict verdict_of(const Finished& finished) {
  const std::string last = last_words(finished.printed);
  if (finished.exit_code == 0) {
    const std::string issuer = issuer_in(finished.printed).value_or("");
    return {contains_ignoring_case(issuer, kOrganization) ? Kind::Trusts : Kind::Around, issuer};
  }
  const bool distrusts = std::any_of(kDistrust.begin(), kDistrust.end(),
                                     [&](std::string_view word) { return contains_ignoring_case(last, word); });
  return {distrusts ? Kind::Distrusts : Kind::Fails, last.empty() ? fmt::format("it ended with {}", finished.exit_code) : last};
}

// Runs a program whose source has to be in a file.
RuntimeVerdict run_source(const std::string& file_name, std::string_view source, std::vector<std::string> words,
                          const RuntimeQuestion& question, const RunQuietly& run) {
  const auto directory = RuntimeDirectory::make(question.environment, "armgate-doctor");
  if (!directory) return {Kind::CannotTry, directory.error().context};
  const std::string file = (directory->path() / file_name).string();
  if (const auto written = certs::write_file(file, std::string(source), 0600); !written) {
    return {Kind::CannotTry, written.error().context};
  }
  std::replace(words.begin(), words.end(), std::string("FILE"), file);
  return verdict_of(run(words));
}

// The SDK for JavaScript goes by the variables itself, fetch() in few versions.
RuntimeVerdict try_node(const RuntimeQuestion& question, const RunQuietly& run) {
  const Finished finished = run({"node", "-e", std::string(kNode), question.host});
  const RuntimeVerdict verdict = verdict_of(finished);
  const std::string_view said = std::string_view(finished.printed).substr(0, finished.printed.find('\n'));
  if (verdict.kind != Kind::Trusts || !said.starts_with("fetch() ")) return verdict;
  return {Kind::TrustsInPart, fmt::format("trusts it: the JavaScript SDK; but {} armgate, whatever HTTPS_PROXY says", said)};
}

// Java looks at none of the variables that other tools look at, but for its own.
RuntimeVerdict try_java(const std::string& url, const RuntimeQuestion& question, const RunQuietly& run) {
  const std::string settings =
      variable(question.environment, "JAVA_TOOL_OPTIONS") + " " + variable(question.environment, "JDK_JAVA_OPTIONS");
  if (settings.find("https.proxyHost") == settings.npos)
    return {Kind::NotThrough, "JAVA_TOOL_OPTIONS names no https.proxyHost"};
  RuntimeVerdict verdict = run_source("Probe.java", kJava, {"java", "FILE", url}, question, run);
  // A runtime without a compiler (JRE) says so in these words.
  const bool has_no_compiler = verdict.text.find("jdk.compiler") != verdict.text.npos;
  return has_no_compiler
             ? RuntimeVerdict{Kind::CannotTry, "this Java has no compiler (a JRE), so no program of ours can be run"}
             : verdict;
}

}  // namespace

const std::vector<Runtime>& runtimes() {
  static const std::vector<Runtime> all = {
      {"curl", "scripts", "CURL_CA_BUNDLE"},
      {"python3", "the Azure CLI and the Python SDK", "REQUESTS_CA_BUNDLE and SSL_CERT_FILE"},
      {"node", "the JavaScript SDK", "NODE_EXTRA_CA_CERTS"},
      {"go", "Terraform and the Go SDK", "SSL_CERT_FILE"},
      {"java", "the Java SDK", "its trust store"},
  };
  return all;
}

RuntimeVerdict try_runtime(const Runtime& runtime, const RuntimeQuestion& question, const RunQuietly& run) {
  if (!is_installed(runtime.name, question.environment)) return {Kind::Missing, ""};
  const std::string url = fmt::format("https://{}/metadata/endpoints?api-version=2022-09-01", question.host);
  if (runtime.name == "curl") {
    // What it says while it connects has the issuer.
    return verdict_of(
        run({"curl", "--silent", "--show-error", "--verbose", "--http1.1", "--max-time", "20", "--output", "/dev/null", url}));
  }
  if (runtime.name == "python3") return verdict_of(run({"python3", "-c", std::string(kPython), url}));
  if (runtime.name == "node") return try_node(question, run);
  if (runtime.name == "go") return run_source("probe.go", kGo, {"go", "run", "FILE", url}, question, run);
  return try_java(url, question, run);
}

}  // namespace armgate
