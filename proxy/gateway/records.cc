#include "proxy/gateway/records.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "proxy/cluster/cluster_store.h"
#include "proxy/gateway/cluster_member.h"
#include "proxy/gateway/journal_options.h"
#include "proxy/gateway/options.h"
#include "proxy/observability/record_view.h"
#include "proxy/request/write/changed_members.h"
#include "proxy/state/memory_store.h"

namespace armgate {
namespace {

// Of writes, by each event loop, for whoever asks without a journal.
constexpr size_t kKept = 500;
constexpr size_t kChangesKept = 64;

}  // namespace

Records::Records() = default;
Records::Records(Records&&) noexcept = default;
Records::~Records() = default;

Result<Records> open_records(const Config& config, Log& log) {
  Records records;
  MemoryStore::Options options;
  if (!config.listen.admin.empty()) options = {.kept = kKept, .changes = kChangesKept};
  if (!config.cluster.engine.empty()) {
    auto member = ClusterMember::join(config, log, *records.clock);
    if (!member) return std::move(member).error();
    records.cluster = *std::move(member);
    auto store =
        std::make_unique<cluster::ClusterStore>(records.cluster->replica(), *records.clock, options, config.cluster.write_max);
    records.memory = &store->memory();
    records.store = std::move(store);
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
  const auto tell_loudly = [&log, clock = records.clock.get()](const std::string& message) {
    log.event(LogLevel::Error, clock->wall(), "attention", {{"text", message}});
  };
  auto journal =
      journal::Journal::open(journal_options(config), *records.clock, random_hash_key(), tell_loudly, changed_members);
  if (!journal) return std::move(journal).error();
  records.hash_key = (*journal)->key();
  records.former = (*journal)->former_life();
  records.store = *std::move(journal);
  return records;
}

std::string remembered_json(const MemoryStore& memory, size_t most, std::string_view resource,
                            const std::optional<ResourceState>& state) {
  std::vector<JournaledWrite> writes;
  for (auto& [write, change] : memory.newest(most, resource)) {
    write.touched = changed_members(change);
    writes.push_back(std::move(write));
  }
  return to_json(writes, state).dump(2, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace armgate
