// records.h – where writes are recorded: in the journal, or in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "proxy/config/config.h"
#include "proxy/observability/log.h"
#include "proxy/seams/real_clock.h"
#include "proxy/seams/store.h"

namespace armgate {

enum class WhichWrites : uint8_t;  // proxy/seams/which_writes.h

class ClusterMember;
class MemoryStore;

// From the system's secure random source.
HashKey random_hash_key();

// And what was found there.
struct Records {
  Records();
  Records(Records&&) noexcept;
  ~Records();
  std::unique_ptr<RealClock> clock = std::make_unique<RealClock>();
  std::unique_ptr<ClusterMember> cluster;  // if this process is one of several
  std::unique_ptr<Store> store;
  const MemoryStore* memory = nullptr;  // of what people ask, if there is no journal
  HashKey hash_key{};
  std::optional<PreviousProcess> former;
};

// Errors as of journal::Journal::open. `log` must outlive the store.
Result<Records> open_records(const Config& config, Log& log);

// What the journal has of the newest writes (record_view.h). Errors as of journal::JournalFile::open_to_read.
Result<void> check_journal(const std::filesystem::path& journal);
Result<std::string> recorded_json(const std::filesystem::path& journal, size_t most, std::string_view resource,
                                  WhichWrites which);

// What is remembered of the newest writes (record_view.h), with the names of the members that they changed.
std::string remembered_json(const MemoryStore& memory, size_t most, std::string_view resource, WhichWrites which,
                            const std::optional<ResourceState>& state);

}  // namespace armgate
