#include "proxy/gateway/records.h"

#include <sys/random.h>

#include <utility>
#include <vector>

#include "base/check.h"
#include "json/tree.h"
#include "proxy/gateway/cluster/member.h"
#include "proxy/gateway/journal_options.h"
#include "proxy/gateway/options.h"
#include "proxy/journal/journal_file.h"
#include "proxy/observability/record_view.h"
#include "proxy/request/write/changed_members.h"
#include "proxy/state/memory_store.h"

namespace armgate {
namespace {

// Of writes, by each event loop, for whoever asks without a journal.
constexpr size_t kKept = 500;
constexpr size_t kChangesKept = 64;

std::string text_of(const std::vector<JournaledWrite>& newest_first, const std::optional<ResourceState>& state) {
  return dump_json(to_json(newest_first, state), 2);
}

}  // namespace

HashKey random_hash_key() {
  HashKey key;
  const ssize_t got = ::getrandom(&key, sizeof key, 0);
  GATE_CHECK(got == static_cast<ssize_t>(sizeof key), "the system gives no random bytes");
  return key;
}

Records::Records() = default;
Records::Records(Records&&) noexcept = default;
Records::~Records() = default;

Result<Records> open_records(const Config& config, Log& log) {
  Records records;
  MemoryStore::Options options;
  if (!config.listen.admin.empty()) options = {.kept = kKept, .changes = kChangesKept};
  if (!config.cluster.engine.empty()) {
    auto member = ClusterMember::join(config, log, *records.clock, options);
    if (!member) return std::move(member).error();
    records.cluster = *std::move(member);
    records.memory = &records.cluster->history();
    records.store = records.cluster->store(config);
    records.hash_key = records.cluster->hash_key();
    return records;
  }
  if (config.journal.file.empty()) {
    auto memory = std::make_unique<MemoryStore>(options);
    records.memory = memory.get();
    records.store = std::move(memory);
    records.hash_key = random_hash_key();
    return records;
  }
  const auto alert = [&log, clock = records.clock.get()](const std::string& message) {
    log.event(LogLevel::Error, clock->wall(), "attention", {{"text", message}});
  };
  auto journal = journal::Journal::open(journal_options(config), *records.clock, random_hash_key(), alert, changed_members);
  if (!journal) return std::move(journal).error();
  records.hash_key = (*journal)->key();
  records.former = (*journal)->previous_process();
  records.store = *std::move(journal);
  return records;
}

Result<void> check_journal(const std::filesystem::path& journal) { return journal::JournalFile::check(journal); }

Result<std::string> recorded_json(const std::filesystem::path& journal, size_t most, std::string_view resource,
                                  WhichWrites which) {
  auto file = journal::JournalFile::open_to_read(journal);
  if (!file) return std::move(file).error();
  const auto writes = file->newest(most, resource, which);
  if (!writes) return writes.error();
  const auto state = file->state_of(resource);
  if (!state) return state.error();
  return text_of(*writes, *state);
}

std::string remembered_json(const MemoryStore& memory, size_t most, std::string_view resource, WhichWrites which,
                            const std::optional<ResourceState>& state) {
  std::vector<JournaledWrite> writes;
  for (auto& [write, change] : memory.newest(most, resource, which)) {
    if (!write.touched) write.touched = changed_members(change);
    writes.push_back(std::move(write));
  }
  return text_of(writes, state);
}

}  // namespace armgate
