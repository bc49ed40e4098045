#include "proxy/state/client_state.h"

#include <absl/hash/hash.h>

#include <algorithm>
#include <utility>

namespace armgate {
namespace {

// What keeping something costs beside the bytes of bodies, nearly: many small pages must not be for nothing.
constexpr size_t kPageCost = 512;
constexpr size_t kShowingCost = 128;
constexpr size_t kItemCost = 64;

template <class Index, class Iterator>
void remove_from(Index& index, size_t key, Iterator place) {
  const auto it = index.find(key);
  it->second.erase(std::find(it->second.begin(), it->second.end(), place));
  if (it->second.empty()) index.erase(it);
}

}  // namespace

ClientState::~ClientState() {
  MutexLock lock(&mutex_);
  budget_.page_bytes.fetch_sub(page_bytes_, std::memory_order_relaxed);
}

size_t ClientState::hash_of_list(std::string_view type, std::string_view scope) { return absl::HashOf(type, scope); }

size_t ClientState::hash_of_content(const ListAnswer& page) {
  return absl::HashOf(page.scope.type, page.scope.id, page.api_version, page.body->compressed, page.body->bytes);
}

std::optional<ClientState::Iterator> ClientState::find_same(const ListAnswer& page, size_t content_hash) const {
  const auto it = by_content_.find(content_hash);
  if (it == by_content_.end()) return std::nullopt;
  const auto same = std::find_if(it->second.begin(), it->second.end(), [&](const Iterator& known) {
    return known->scope.id == page.scope.id && known->scope.type == page.scope.type && known->api_version == page.api_version &&
           known->body->compressed == page.body->compressed && known->body->bytes == page.body->bytes;
  });
  if (same == it->second.end()) return std::nullopt;
  return *same;
}

// ---- bytes

void ClientState::set_bytes(Page& page, size_t bytes) {
  page_bytes_ = page_bytes_ - page.bytes + bytes;
  budget_.page_bytes.fetch_add(bytes - page.bytes, std::memory_order_relaxed);  // wraps around correctly if it is less
  page.bytes = bytes;
}

void ClientState::count_bytes(Page& page) {
  size_t bytes = kPageCost + page.body->bytes.size() + page.showings.size() * kShowingCost + page.taken.size() * kItemCost;
  if (page.plain && page.plain != page.body) bytes += page.plain->bytes.size();
  if (page.index) bytes += page.index->items.size() * kItemCost;
  set_bytes(page, bytes);
}

void ClientState::drop_oldest_page() {
  const Iterator page = pages_.begin();
  for (const Showing& showing : page->showings) {
    pages_forgotten_ = std::max(pages_forgotten_, showing.shown.order);
    by_shown_.erase(showing.shown.order);
  }
  remove_from(by_list_, page->list_hash, page);
  remove_from(by_content_, page->content_hash, page);
  set_bytes(*page, 0);
  pages_.erase(page);
  budget_.pages_evicted.fetch_add(1, std::memory_order_relaxed);
}

void ClientState::keep_within_budget() {
  while (!pages_.empty()) {
    const bool all_are_over = budget_.page_bytes.load(std::memory_order_relaxed) > budget_.page_bytes_max;
    if (page_bytes_ <= options_.page_bytes_max && !all_are_over) return;
    drop_oldest_page();
  }
}

void ClientState::drop_pages(size_t most) {
  MutexLock lock(&mutex_);
  while (!pages_.empty() && budget_.page_bytes.load(std::memory_order_relaxed) > most) drop_oldest_page();
}

// ---- what is shown

// Of a page that is shown very often the first showing stays, for writes that were on their way then, and the latest.
void ClientState::add_showing(Page& page, ListAnswer& answer) {
  if (page.showings.size() == kShowingsMax) {
    by_shown_.erase(page.showings[1].shown.order);
    page.showings.erase(page.showings.begin() + 1);
  }
  page.showings.push_back({std::move(answer.request_id), answer.asked, answer.shown, false, ++showings_});
}

void ClientState::record_page(ListAnswer answer) {
  const size_t content_hash = hash_of_content(answer);
  MutexLock lock(&mutex_);
  const auto is_too_old = [&](const Page& page) {
    return answer.shown.time - page.showings.back().shown.time > options_.observation_age;
  };
  while (!pages_.empty() && is_too_old(pages_.front())) drop_oldest_page();
  const auto same = find_same(answer, content_hash);
  const Iterator page = same ? *same : pages_.emplace(pages_.end());
  if (same) {
    pages_.splice(pages_.end(), pages_, page);
  } else {
    page->scope = std::move(answer.scope);
    page->api_version = std::move(answer.api_version);
    page->body = std::move(answer.body);
    page->list_hash = hash_of_list(page->scope.type, page->scope.id);
    page->content_hash = content_hash;
    by_list_[page->list_hash].push_back(page);
    by_content_[content_hash].push_back(page);
  }
  by_shown_[answer.shown.order] = page;
  add_showing(*page, answer);
  count_bytes(*page);
  keep_within_budget();
}

void ClientState::note_page_missed(uint64_t shown) {
  MutexLock lock(&mutex_);
  pages_forgotten_ = std::max(pages_forgotten_, shown);
}

std::vector<Hash128> ClientState::page_lost(uint64_t shown) {
  MutexLock lock(&mutex_);
  std::vector<Hash128> told;
  const auto it = by_shown_.find(shown);
  if (it == by_shown_.end()) return told;
  Page& page = *it->second;
  for (Showing& showing : page.showings) {
    if (showing.shown.order != shown) continue;
    showing.lost = true;
    for (const auto& [resource, number] : page.taken) {
      if (showing.number <= number) told.push_back(resource);
    }
  }
  return told;
}

// ---- what a write asks for

// Lists of all that contains it: of its group, its subscription, the resource above it.
template <class Action>
void ClientState::for_each_page_of(const arm::ResourceId& resource, Action action) const {
  if (by_list_.empty()) return;
  const std::string_view id = resource.id;
  for (size_t slash = id.find('/'); slash != std::string_view::npos; slash = id.find('/', slash + 1)) {
    const std::string_view scope = id.substr(0, slash);
    const auto list = by_list_.find(hash_of_list(resource.type, scope));
    if (list == by_list_.end()) continue;
    for (const Iterator& page : list->second) {
      if (page->scope.type == resource.type && page->scope.id == scope) action(*page);
    }
  }
}

std::vector<UnreadPage> ClientState::unread_pages(const arm::ResourceId& resource) const {
  MutexLock lock(&mutex_);
  std::vector<UnreadPage> pages;
  for_each_page_of(resource, [&](const Page& page) {
    if (!page.index) pages.push_back({page.showings.front().shown.order, page.body});
  });
  return pages;
}

void ClientState::index_page(uint64_t shown, policy::SharedBody plain, std::shared_ptr<const PageIndex> index) {
  MutexLock lock(&mutex_);
  const auto it = by_shown_.find(shown);
  if (it == by_shown_.end()) return;
  const Iterator page = it->second;
  page->plain = std::move(plain);
  page->index = std::move(index);
  pages_.splice(pages_.end(), pages_, page);  // it is needed: others go first
  count_bytes(*page);
  keep_within_budget();
}

std::vector<ShownItem> ClientState::items_of(const arm::ResourceId& resource, const Hash128& key) const {
  MutexLock lock(&mutex_);
  std::vector<ShownItem> items;
  for_each_page_of(resource, [&](const Page& page) {
    const auto item =
        page.index ? page.index->items.find(key) : absl::flat_hash_map<Hash128, PageIndex::Span>::const_iterator();
    if (!page.index || item == page.index->items.end()) return;
    const auto taken = page.taken.find(key);
    for (const Showing& showing : page.showings) {
      if (taken != page.taken.end() && showing.number <= taken->second) continue;
      items.push_back({page.api_version, showing.request_id, showing.asked, showing.shown, page.plain, item->second});
    }
  });
  std::sort(items.begin(), items.end(), [](const ShownItem& a, const ShownItem& b) { return a.shown.order < b.shown.order; });
  return items;
}

bool ClientState::note_taken(uint64_t shown, const Hash128& key) {
  MutexLock lock(&mutex_);
  const auto it = by_shown_.find(shown);
  if (it == by_shown_.end()) return false;
  Page& page = *it->second;
  const auto showing =
      std::find_if(page.showings.begin(), page.showings.end(), [&](const Showing& s) { return s.shown.order == shown; });
  uint64_t& number = page.taken[key];
  number = std::max(number, showing->number);
  count_bytes(page);
  return showing->lost;
}

uint64_t ClientState::pages_forgotten() const {
  MutexLock lock(&mutex_);
  return pages_forgotten_;
}

uint64_t ClientState::pages_known() const {
  MutexLock lock(&mutex_);
  uint64_t newest = pages_forgotten_;
  for (const Page& page : pages_) newest = std::max(newest, page.showings.back().shown.order);
  return newest;
}

// ---- what people know it by

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
