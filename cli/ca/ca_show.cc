#include "cli/ca/ca_show.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/utc.h"
#include "certs/authority_facts.h"
#include "json/tree.h"

namespace armgate {
namespace {

namespace fs = std::filesystem;

// How the store of this system stands to one root.
struct TrustState {
  bool store_known = false;
  bool trusted = false;
  fs::path anchor;             // where armgate puts it
  bool placed = false;         // it is there
  std::vector<fs::path> rest;  // roots of other authorities that are there
};

TrustState trust_state_of(const SystemTrust& system, const certs::CertificateFacts& root) {
  TrustState state;
  const auto store = find_store(system);
  if (!store) return state;
  state.store_known = true;
  state.anchor = store->anchors / anchor_name(root.fingerprint);
  for (const Anchor& anchor : anchors_in(*store)) {
    if (anchor.facts.fingerprint == root.fingerprint) {
      state.placed = true;
    } else {
      state.rest.push_back(anchor.file);
    }
  }
  state.trusted = is_held(*store, root.fingerprint).value_or(state.placed);
  return state;
}

int64_t days_left(const certs::CertificateFacts& certificate, WallTime now) {
  return std::chrono::floor<std::chrono::days>(certificate.until - now).count();
}

std::string validity_text(const certs::CertificateFacts& certificate, WallTime now) {
  const int64_t days = days_left(certificate, now);
  const std::string left = now >= certificate.until ? "expired" : fmt::format("{} day{} left", days, days == 1 ? "" : "s");
  return fmt::format("{} to {}, {}", utc_text(certificate.from), utc_text(certificate.until),
                     now < certificate.from ? "not valid yet" : left);
}

std::string store_text(const TrustState& state, const fs::path& directory) {
  const std::string command = fmt::format("sudo armgate ca trust --directory {}", directory.string());
  if (!state.store_known) return "none that armgate knows; trust the file by hand";
  if (state.trusted && state.placed) return fmt::format("trusts it, by {}", state.anchor.string());
  if (state.trusted) return fmt::format("trusts it, but not by {}", state.anchor.string());
  if (state.placed) return fmt::format("has {}, but does not trust it yet: {}", state.anchor.string(), command);
  return fmt::format("does not trust it: {}", command);
}

std::string key_text(certs::KeyState key) {
  switch (key) {
    case certs::KeyState::Good: return "fine: private, and the intermediate's";
    case certs::KeyState::OfAnotherUser: return "private to another user, so not looked into";
    case certs::KeyState::Refused: break;
  }
  return "not fine";
}

std::string key_word(certs::KeyState key) {
  switch (key) {
    case certs::KeyState::Good: return "good";
    case certs::KeyState::OfAnotherUser: return "of-another-user";
    case certs::KeyState::Refused: break;
  }
  return "refused";
}

std::string text_of(const certs::AuthorityFacts& facts, const std::optional<TrustState>& state, const fs::path& directory,
                    WallTime now) {
  const auto files = certs::files_in(directory);
  std::string text;
  const auto line = [&text](std::string_view name, std::string_view value) { text += fmt::format("{:<14}{}\n", name, value); };
  if (facts.root) {
    line("to trust:", files.root.string());
    line("SHA-256:", facts.root->fingerprint);
    line("subject:", facts.root->subject);
    line("valid:", validity_text(*facts.root, now));
  }
  if (state) {
    line("system store:", store_text(*state, directory));
    for (const fs::path& other : state->rest) line("", fmt::format("also trusts {}, of another authority", other.string()));
  }
  if (facts.intermediate) {
    line("signs for:", facts.hosts.empty() ? std::string("any host: this is no intermediate of armgate")
                                           : fmt::format("{}, and names below", fmt::join(facts.hosts, ", ")));
    line("intermediate:", files.intermediate.string());
    line("valid:", validity_text(*facts.intermediate, now));
    line("key:", fmt::format("{}, {}", files.key.string(), key_text(facts.key)));
  }
  return text;
}

nlohmann::json json_of(const certs::CertificateFacts& certificate, const fs::path& file, WallTime now) {
  return {{"file", file.string()},
          {"fingerprint_sha256", certificate.fingerprint},
          {"subject", certificate.subject},
          {"valid_from", utc_text(certificate.from)},
          {"valid_until", utc_text(certificate.until)},
          {"days_left", days_left(certificate, now)}};
}

nlohmann::json json_of(const TrustState& state) {
  nlohmann::json rest = nlohmann::json::array();
  for (const fs::path& file : state.rest) rest.push_back(file.string());
  return {{"known", state.store_known},
          {"trusted", state.store_known ? nlohmann::json(state.trusted) : nlohmann::json()},
          {"file", state.placed ? nlohmann::json(state.anchor.string()) : nlohmann::json()},
          {"other_roots", std::move(rest)}};
}

std::string json_text(const certs::AuthorityFacts& facts, const std::optional<TrustState>& state, const fs::path& directory,
                      WallTime now) {
  const auto files = certs::files_in(directory);
  nlohmann::json json{{"directory", directory.string()},
                      {"root", nullptr},
                      {"system_store", nullptr},
                      {"intermediate", nullptr},
                      {"hosts", facts.hosts},
                      {"key", {{"file", files.key.string()}, {"state", key_word(facts.key)}}},
                      {"fault", facts.fault.empty() ? nlohmann::json() : nlohmann::json(facts.fault)}};
  if (facts.root) json["root"] = json_of(*facts.root, files.root, now);
  if (facts.intermediate) json["intermediate"] = json_of(*facts.intermediate, files.intermediate, now);
  if (state) json["system_store"] = json_of(*state);
  return dump_json(json, 2) + "\n";
}

}  // namespace

ShownAuthority show_authority(const SystemTrust& system, const fs::path& directory, const std::vector<std::string>& hosts,
                              WallTime now, std::string_view init_command, ShowAs as) {
  const auto facts = certs::look_at_authority(directory, hosts, now, init_command);
  std::optional<TrustState> state;
  if (facts.root) state = trust_state_of(system, *facts.root);
  const auto shown = as == ShowAs::Json ? json_text : text_of;
  return {shown(facts, state, directory, now), facts.fault};
}

}  // namespace armgate
