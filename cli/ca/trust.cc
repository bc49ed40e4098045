#include "cli/ca/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "certs/certificate.h"
#include "certs/secret_file.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;

// What was seen of each: docs/clients.md.
constexpr std::string_view kOthers =
    "Programs with trusted certificates of their own do not look there: Node.js, Python's requests unless it is the system's "
    "(the Azure CLI likewise), some builds of Java. `armgate exec` and `armgate env` serve all but Java, into whose store keytool "
    "imports the file.\n";

struct Root {
  certs::CertificateFacts facts;
  std::string pem;
};

Error bad_input(std::string context) { return gateway_error(ErrorKind::BadInput, std::move(context)); }

// The certificate alone, whatever else stands in the file. As root one should not come to trust a stranger's.
Result<Root> read_root(const fs::path& file) {
  const auto text = certs::read_file(file);
  if (!text) return text.error();
  const auto certificate = certs::certificate_from_pem(*text);
  if (!certificate) return bad_input(fmt::format("{} holds no PEM certificate", file.string()));
  auto facts = certs::facts_of(certificate->get());
  if (!facts.is_armgate_root) {
    return bad_input(
        fmt::format("{} is \"{}\", not the root of an authority that armgate made; armgate puts no other into the "
                    "system's store",
                    file.string(), facts.subject));
  }
  auto pem = certs::to_pem(certificate->get());
  if (!pem) return std::move(pem).error();
  return Root{std::move(facts), *std::move(pem)};
}

Result<TrustStore> store_for(const SystemTrust& system, std::string_view by_hand) {
  auto store = find_store(system);
  if (store) return *std::move(store);
  return bad_input(
      fmt::format("armgate finds no trust store that it knows: neither update-ca-certificates nor update-ca-trust "
                  "with its directory (the package ca-certificates has them); {}",
                  by_hand));
}

// `command` is what to run as root instead.
Result<void> check_allowed(const SystemTrust& system, const TrustStore& store, const fs::path& file, std::string_view command) {
  const int denied = system.denial(store.anchors);
  if (denied == 0) return {};
  const bool not_root = denied == EACCES || denied == EPERM;
  return bad_input(fmt::format("{} cannot be changed: {}{}", file.string(), std::strerror(denied),
                               not_root ? fmt::format("; run: sudo {}", command) : ""));
}

std::string told(const std::vector<Anchor>& anchors) {
  std::string text;
  for (const Anchor& anchor : anchors) text += fmt::format("  {}\n", anchor.file.string());
  return text;
}

}  // namespace

Result<std::string> trust_authority(const SystemTrust& system, const TrustRequest& request, WallTime now) {
  const fs::path& directory = request.directory;
  const fs::path file = certs::files_in(directory).root;
  const auto root = read_root(file);
  if (!root) return root.error();
  if (now < root->facts.from) return bad_input(fmt::format("{} is not valid yet; check this machine's clock", file.string()));
  if (now >= root->facts.until) {
    return bad_input(fmt::format("{} has expired; replace it with `armgate ca init --force --directory {}`", file.string(),
                                 directory.string()));
  }
  const auto store = store_for(system, fmt::format("trust {} by hand", file.string()));
  if (!store) return store.error();
  const Anchor anchor{store->anchors / anchor_name(root->facts.fingerprint), root->facts};
  if (is_held(*store, root->facts.fingerprint).value_or(false)) {
    const auto present = anchors_in(*store);
    const bool by_us = std::any_of(present.begin(), present.end(), [&](const Anchor& a) { return a.file == anchor.file; });
    return by_us ? fmt::format("trusted already, by {}\n", anchor.file.string())
                 : fmt::format("trusted already, but not by {}: what put it there must take it away\n", anchor.file.string());
  }
  if (auto good = check_origin(system, request, root->pem, now); !good) return std::move(good).error();
  const std::string command = fmt::format("armgate ca trust --directory {}", directory.string());
  if (auto allowed = check_allowed(system, *store, anchor.file, command); !allowed) return std::move(allowed).error();
  if (auto put = put_anchor(system, *store, anchor, root->pem); !put) return std::move(put).error();

  auto others = anchors_in(*store);
  std::erase_if(others, [&](const Anchor& a) { return a.file == anchor.file; });
  std::string text = fmt::format("trusted now, by {}\nSHA-256 {}\n{}", anchor.file.string(), root->facts.fingerprint, kOthers);
  if (!others.empty()) {
    text += fmt::format(
        "Roots of other authorities are trusted as well. If they were replaced, take them away: `armgate ca untrust --all`, "
        "and then trust this one again.\n{}",
        told(others));
  }
  return text;
}

Result<std::string> untrust_authority(const SystemTrust& system, const fs::path& directory) {
  const fs::path file = certs::files_in(directory).root;
  const auto root = read_root(file);
  if (!root) return root.error();
  const auto store = store_for(system, fmt::format("what trusts {} must forget it by hand", file.string()));
  if (!store) return store.error();
  const Anchor anchor{store->anchors / anchor_name(root->facts.fingerprint), root->facts};
  std::error_code error;
  const bool is_there = fs::exists(fs::symlink_status(anchor.file, error));
  // Without the file it may be trusted still: if the tool failed the last time.
  if (!is_there && !is_held(*store, root->facts.fingerprint).value_or(false)) {
    return fmt::format("not trusted, nothing to do: there is no {}\n", anchor.file.string());
  }
  const auto present = anchors_in(*store);
  const bool is_ours = std::any_of(present.begin(), present.end(), [&](const Anchor& a) {
    return a.file == anchor.file && a.facts.fingerprint == anchor.facts.fingerprint;
  });
  if (is_there && !is_ours) {
    return bad_input(
        fmt::format("{} does not hold {}; look what it is, and remove it by hand", anchor.file.string(), file.string()));
  }
  const std::string command = fmt::format("armgate ca untrust --directory {}", directory.string());
  if (auto allowed = check_allowed(system, *store, anchor.file, command); !allowed) return std::move(allowed).error();
  if (auto taken = take_anchors(system, *store, {anchor}); !taken) return std::move(taken).error();
  return fmt::format("trusted no more: {} is gone\n", anchor.file.string());
}

Result<std::string> untrust_all(const SystemTrust& system) {
  const auto store = store_for(system, "what was trusted by hand must be forgotten by hand");
  if (!store) return store.error();
  const auto anchors = anchors_in(*store);
  if (anchors.empty()) return fmt::format("nothing to do: there is no root of armgate in {}\n", store->anchors.string());
  if (auto allowed = check_allowed(system, *store, anchors.front().file, "armgate ca untrust --all"); !allowed) {
    return std::move(allowed).error();
  }
  if (auto taken = take_anchors(system, *store, anchors); !taken) return std::move(taken).error();
  return fmt::format("trusted no more; gone {}:\n{}", anchors.size() == 1 ? "is" : "are", told(anchors));
}

}  // namespace armgate
