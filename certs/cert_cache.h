// cert_cache.h – ready TLS server contexts for intercepted hosts, minted when first asked for.
//
// Why: making a context costs about 80 µs, using a cached one nothing.
// Invariants
//   1. At most `contexts_max` are kept; the least recently used goes first. One in use stays alive until released.
//   2. A context handed out is valid since an hour, and for a day at least or until the authority ends, by the clock of now:
//      also one that was set back.
// Threads   any. Two threads may mint for one host at once; one of the two contexts is kept, either is good.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "base/time.h"
#include "certs/leaf.h"

namespace armgate::certs {

struct CertCacheOptions {
  size_t contexts_max = 1000;
};

class CertCache {
 public:
  CertCache(LeafMinter minter, CertCacheOptions options) : minter_(std::move(minter)), options_(options) {}

  // The context that serves `host` (lower case).
  Result<std::shared_ptr<SSL_CTX>> context_for(std::string_view host, WallTime now);

  size_t size() const;
  const Authority& authority() const { return minter_.authority(); }

 private:
  struct Entry {
    std::string host;
    std::shared_ptr<SSL_CTX> context;
    WallTime made_at;
    WallTime renew_at;
  };

  std::shared_ptr<SSL_CTX> find(std::string_view host, WallTime now);
  Result<Entry> make_entry(std::string_view host, WallTime now) const;
  void keep(Entry entry);

  const LeafMinter minter_;
  const CertCacheOptions options_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;                                                  // guarded by mutex_; most recently used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_host_;  // guarded by mutex_; keys live in entries_
};

}  // namespace armgate::certs
