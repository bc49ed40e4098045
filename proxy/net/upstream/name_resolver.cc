#include "proxy/net/upstream/name_resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <map>
#include <optional>
#include <utility>

#include "proxy/async/waiter.h"

namespace armgate::net {
namespace {

namespace ip = boost::asio::ip;

enum NameSignal : uint32_t { kNameFound = 1, kNameAwaitedTooLong = 2 };

// One that waits. What it gets is written before it is woken.
struct Asker {
  explicit Asker(const Executor& executor) : done(executor) {}
  Waiter done;
  std::optional<Result<Addresses>> found;
};

// One name, and who waits for it.
struct Asked {
  explicit Asked(std::string name_) : name(std::move(name_)) {}
  const std::string name;
  std::atomic<size_t> waiting = 0;               // who has not given up; lookup threads only read it
  std::vector<std::shared_ptr<Asker>> askers{};  // event loop's
};

class StillWaits {
 public:
  explicit StillWaits(Asked& asked) : asked_(asked) { asked_.waiting.fetch_add(1, std::memory_order_relaxed); }
  ~StillWaits() { asked_.waiting.fetch_sub(1, std::memory_order_relaxed); }
  StillWaits(const StillWaits&) = delete;
  StillWaits& operator=(const StillWaits&) = delete;

 private:
  Asked& asked_;
};

}  // namespace

struct NameResolver::Table {
  Table(size_t at_once_, Lookup lookup_) : at_once(at_once_), lookup(std::move(lookup_)) {}
  // The threads end first: what they post needs the table.
  ~Table() { threads.reset(); }

  // Whether nobody had asked for it.
  std::pair<std::shared_ptr<Asked>, bool> join(const std::string& name, std::shared_ptr<Asker> asker) {
    auto& asked = all[name];
    const bool is_new = asked == nullptr;
    if (is_new) asked = std::make_shared<Asked>(name);
    asked->askers.push_back(std::move(asker));
    return {asked, is_new};
  }

  void look_up(std::shared_ptr<Asked> asked, const Executor& executor) {
    if (!threads) threads.emplace(at_once);
    boost::asio::post(*threads, [this, asked = std::move(asked), executor]() mutable {
      std::optional<Result<Addresses>> found;
      if (asked->waiting.load(std::memory_order_relaxed) != 0) found = lookup(asked->name);
      boost::asio::post(executor, [this, asked = std::move(asked), found = std::move(found), executor]() mutable {
        end(std::move(asked), std::move(found), executor);
      });
    });
  }

  void end(std::shared_ptr<Asked> asked, std::optional<Result<Addresses>> found, const Executor& executor) {
    // Somebody came after the thread had seen nobody.
    const bool is_wanted = !found && asked->waiting.load(std::memory_order_relaxed) != 0;
    if (is_wanted) return look_up(std::move(asked), executor);
    all.erase(asked->name);
    for (const auto& asker : asked->askers) {
      asker->found = found;
      asker->done.signal(kNameFound);
    }
  }

  const size_t at_once;
  const Lookup lookup;
  std::map<std::string, std::shared_ptr<Asked>> all;  // event loop's
  std::optional<boost::asio::thread_pool> threads;
};

Result<Addresses> NameResolver::by_system(const std::string& name) {
  boost::asio::io_context nobody_runs_it;
  boost::system::error_code failure;
  Addresses addresses;
  for (const auto& result : ip::tcp::resolver(nobody_runs_it).resolve(name, "", failure)) {
    const ip::address address = result.endpoint().address();
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) addresses.push_back(address);
  }
  if (!failure && !addresses.empty()) return addresses;
  return upstream_error(ErrorKind::Unreachable, Sent::No,
                        fmt::format("the name {} has no address: {}", name, failure.message()));
}

NameResolver::NameResolver(Clock& clock, size_t at_once, Lookup lookup)
    : clock_(clock), table_(std::make_unique<Table>(at_once, std::move(lookup))) {}

NameResolver::~NameResolver() = default;

Task<Result<Addresses>> NameResolver::resolve(std::string name, TimePoint deadline) {
  const Executor executor = co_await current_executor();
  const auto asker = std::make_shared<Asker>(executor);
  const auto [asked, is_new] = table_->join(name, asker);
  const StillWaits waiting(*asked);
  if (is_new) table_->look_up(asked, executor);
  const auto timer = clock_.call_at(executor, deadline, [asker] { asker->done.signal(kNameAwaitedTooLong); });
  const uint32_t signals = co_await asker->done.wait();
  if ((signals & kNameFound) != 0 && asker->found) co_return *std::move(asker->found);
  co_return upstream_error(ErrorKind::TimedOut, Sent::No, fmt::format("the name {} was not resolved in time", name));
}

Resolve NameResolver::as_resolve() {
  return [this](std::string name, TimePoint deadline) { return resolve(std::move(name), deadline); };
}

}  // namespace armgate::net
