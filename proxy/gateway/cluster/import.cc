#include "proxy/gateway/cluster/import.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "proxy/cluster/engine/import.h"
#include "proxy/gateway/journal_options.h"
#include "proxy/gateway/options.h"
#include "proxy/journal/journal_file.h"
#include "proxy/request/cluster/import_journal.h"
#include "proxy/seams/real_clock.h"

namespace armgate {
namespace {

// As a service opens it, which nobody else may have then; but it must be there.
Result<journal::JournalFile> open_journal(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file))
    return gateway_error(ErrorKind::BadInput, fmt::format("{}: there is no such journal", file.string()));
  auto opened = journal::JournalFile::open(file, journal::Durability::Process, HashKey{});
  if (opened && opened->is_new())
    return gateway_error(ErrorKind::BadInput, fmt::format("{} is empty: it is the journal of no armgate", file.string()));
  return opened;
}

}  // namespace

Result<TakenOver> import_into_cluster(const Config& config, const std::filesystem::path& journal, cluster::PgConnection& engine,
                                      const cluster::ClusterKey& key) {
  if (auto fits = cluster::check_importable(engine, key); !fits) return std::move(fits).error();
  auto file = open_journal(journal);
  if (!file) return std::move(file).error();
  RealClock clock;
  const auto former = file->previous_process(journal_options(config).recent, clock.wall());
  if (!former) return former.error();

  const auto rules = std::make_shared<const rules::Ruleset>(config.rules, config.errors, config.queue_timeouts, config.facts);
  ImportedJournal imported;
  const auto done = cluster::import_events(
      engine, key,
      {.name = "import of " + journal.string(),
       .hash_key = file->key(),
       .events =
           [&](cluster::ReplicaId id) {
             imported = import_journal(*former, shared_options(config), file->key(), rules, clock, id, cluster::id_of_imported);
             return std::move(imported.events);
           },
       .counts = [&] { return std::make_pair(imported.open.running + imported.open.in_doubt, imported.ended); }});
  if (!done) return done.error();
  return TakenOver{*done, imported.open.running, imported.open.in_doubt, imported.ended, imported.open.dropped};
}

}  // namespace armgate
