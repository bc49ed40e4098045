#include "certs/cert_cache.h"

#include <utility>

#include "certs/certificate.h"
#include "certs/tls_context.h"

namespace armgate::certs {

Result<std::shared_ptr<SSL_CTX>> CertCache::context_for(std::string_view host, WallTime now) {
  if (auto known = find(host, now)) return known;
  auto entry = make_entry(host, now);
  if (!entry) return std::move(entry).error();
  std::shared_ptr<SSL_CTX> context = entry->context;
  keep(*std::move(entry));
  return context;
}

size_t CertCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::shared_ptr<SSL_CTX> CertCache::find(std::string_view host, WallTime now) {
  const std::lock_guard lock(mutex_);
  const auto it = by_host_.find(host);
  if (it == by_host_.end() || now < it->second->made_at || now >= it->second->renew_at) return nullptr;
  entries_.splice(entries_.begin(), entries_, it->second);
  return it->second->context;
}

Result<CertCache::Entry> CertCache::make_entry(std::string_view host, WallTime now) const {
  auto leaf = minter_.mint(host, now);
  if (!leaf) return std::move(leaf).error();
  auto context = make_server_context();
  if (!context) return std::move(context).error();
  X509* const intermediate = minter_.authority().intermediate.get();
  if (SSL_CTX_use_certificate(context->get(), leaf->get()) != 1 ||
      SSL_CTX_use_PrivateKey(context->get(), minter_.key().get()) != 1 ||
      SSL_CTX_add1_chain_cert(context->get(), intermediate) != 1) {
    return openssl_failure("preparing a TLS context");
  }
  const WallTime until = not_after(leaf->get());
  const bool is_last = until == end_of(minter_.authority());  // a new one would be valid no longer
  return Entry{std::string(host), std::shared_ptr<SSL_CTX>(context->release(), SSL_CTX_free), now,
               is_last ? until : until - std::chrono::days(1)};
}

void CertCache::keep(Entry entry) {
  const std::lock_guard lock(mutex_);
  if (const auto it = by_host_.find(entry.host); it != by_host_.end()) {
    const auto old = it->second;
    by_host_.erase(it);
    entries_.erase(old);
  }
  entries_.push_front(std::move(entry));
  by_host_.emplace(entries_.front().host, entries_.begin());
  if (entries_.size() > options_.contexts_max) {
    by_host_.erase(entries_.back().host);
    entries_.pop_back();
  }
}

}  // namespace armgate::certs
