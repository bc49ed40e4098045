#include "proxy/state/client_state.h"

#include <algorithm>
#include <utility>

namespace armgate {

ClientState::~ClientState() {
  MutexLock lock(&mutex_);
  budget_.page_bytes.fetch_sub(page_bytes_, std::memory_order_relaxed);
}

void ClientState::add_bytes(size_t before, size_t after) {
  page_bytes_ = page_bytes_ - before + after;
  budget_.page_bytes.fetch_add(after - before, std::memory_order_relaxed);  // wraps around correctly for after < before
}

void ClientState::drop_oldest_page() {
  pages_forgotten_ = std::max(pages_forgotten_, pages_.front().shown.order);
  add_bytes(pages_.front().body->bytes.size(), 0);
  pages_.pop_front();
  budget_.pages_evicted.fetch_add(1, std::memory_order_relaxed);
}

KeptPage* ClientState::find_page(uint64_t shown) {
  const auto it = std::find_if(pages_.begin(), pages_.end(), [&](const KeptPage& p) { return p.shown.order == shown; });
  return it == pages_.end() ? nullptr : &*it;
}

void ClientState::record_page(KeptPage page) {
  MutexLock lock(&mutex_);
  while (!pages_.empty() && page.shown.time - pages_.front().shown.time > options_.observation_age) drop_oldest_page();
  // A tool that polls a list is shown the same page again and again: the bytes are kept once.
  for (auto same = pages_.rbegin(); same != pages_.rend(); ++same) {
    const bool is_same = same->scope.id == page.scope.id && same->scope.type == page.scope.type && !same->index &&
                         same->api_version == page.api_version && same->body->compressed == page.body->compressed;
    if (!is_same || same->body->bytes != page.body->bytes) continue;
    page.body = same->body;
    break;
  }
  add_bytes(0, page.body->bytes.size());
  pages_.push_back(std::move(page));
  const auto over = [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return page_bytes_ > options_.page_bytes_max || budget_.page_bytes.load(std::memory_order_relaxed) > budget_.page_bytes_max;
  };
  while (!pages_.empty() && over()) drop_oldest_page();
}

void ClientState::page_lost(uint64_t shown) {
  MutexLock lock(&mutex_);
  if (KeptPage* page = find_page(shown)) page->lost = true;
}

std::vector<KeptPage> ClientState::pages_for(const arm::ResourceId& resource, const Hash128& key) const {
  MutexLock lock(&mutex_);
  const auto below = [&](const std::string& scope) {
    return resource.id.starts_with(scope) && resource.id.substr(scope.size()).starts_with('/');
  };
  std::vector<KeptPage> pages;
  for (const KeptPage& page : pages_) {
    const bool may_show = page.index == nullptr || page.index->items.contains(key);
    const bool in_scope = page.scope.type == resource.type && below(page.scope.id);
    const bool taken = std::find(page.taken.begin(), page.taken.end(), key) != page.taken.end();
    if (in_scope && may_show && !taken) pages.push_back(page);
  }
  return pages;
}

void ClientState::index_page(uint64_t shown, policy::SharedBody plain, std::shared_ptr<const PageIndex> index) {
  MutexLock lock(&mutex_);
  KeptPage* page = find_page(shown);
  if (page == nullptr) return;
  add_bytes(page->body->bytes.size(), plain->bytes.size());
  page->body = std::move(plain);
  page->index = std::move(index);
}

void ClientState::note_taken(uint64_t shown, const Hash128& resource) {
  MutexLock lock(&mutex_);
  if (KeptPage* page = find_page(shown)) page->taken.push_back(resource);
}

uint64_t ClientState::pages_forgotten() const {
  MutexLock lock(&mutex_);
  return pages_forgotten_;
}

std::string ClientState::label() const {
  MutexLock lock(&mutex_);
  return label_;
}

void ClientState::set_label(std::string_view label) {
  MutexLock lock(&mutex_);
  if (label_ != label) label_ = label;
}

ClientState::Counts ClientState::counts() const {
  MutexLock lock(&mutex_);
  return {page_bytes_, pages_.size(), sendings_.size()};
}

}  // namespace armgate
