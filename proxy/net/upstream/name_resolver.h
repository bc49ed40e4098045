// name_resolver.h – the addresses of names, by the system (getaddrinfo), which blocks.
//
// Why: where a name is dropped instead of answered, a lookup takes as long as the system is patient (resolv.conf(5): 10 s and
// more). One thread for all, as Asio has, keeps ARM's name waiting behind a telemetry host that somebody asked for and has long
// given up.
//
// Invariants  a name is looked up once for all that ask for it meanwhile; not at all if all of them have given up before it
//             begins.
// Threads     one event loop, which must outlive it; lookups run on threads of their own.
// Limits      so many lookups at once; whoever waits gives up at a deadline of its own.
// Shutdown    the destructor waits for the lookups that run.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "proxy/async/task.h"
#include "proxy/net/upstream/connector.h"
#include "proxy/seams/clock.h"

namespace armgate::net {

class NameResolver {
 public:
  // What a name is to the system; blocks. Called on several threads at once. Errors: Unreachable.
  using Lookup = std::function<Result<Addresses>(const std::string& name)>;
  static Result<Addresses> by_system(const std::string& name);

  // `at_once` > 0: so many threads, made when the first name is asked for.
  NameResolver(Clock& clock, size_t at_once, Lookup lookup = by_system);
  ~NameResolver();
  NameResolver(const NameResolver&) = delete;
  NameResolver& operator=(const NameResolver&) = delete;

  // Errors: TimedOut, Unreachable, all with Sent::No. Suspends.
  Task<Result<Addresses>> resolve(std::string name, TimePoint deadline);
  // The same; must not be used after this ended.
  Resolve as_resolve();

 private:
  struct Table;
  Clock& clock_;
  const std::unique_ptr<Table> table_;
};

}  // namespace armgate::net
