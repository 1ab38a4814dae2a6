#include "services/inference/schedule/page_pool.hpp"

namespace stackgate::inference {

PagePool::PagePool(std::size_t pages, std::size_t page_tokens) : page_tokens_(page_tokens), states_(pages) {
  for (std::size_t i = pages; i > 0; --i) free_.push_back(static_cast<Page>(i - 1));
}

std::size_t PagePool::Hash::operator()(const Key& key) const {
  std::uint64_t hash = key.from * 0x9e3779b97f4a7c15U;
  for (const std::uint32_t token : key.tokens) {
    hash = (hash ^ token) * 0xff51afd7ed558ccdU;
    hash ^= hash >> 32U;
  }
  return hash;
}

std::optional<Page> PagePool::allocate() {
  if (!free_.empty()) {
    const Page page = free_.back();
    free_.pop_back();
    states_[page].shares = 1;
    return page;
  }
  if (idle_.empty()) return std::nullopt;
  const Page page = idle_.front();
  idle_.pop_front();
  index_.erase(*states_[page].key);
  states_[page].key.reset();
  states_[page].shares = 1;
  return page;
}

void PagePool::release(Page page) {
  State& state = states_[page];
  if (--state.shares > 0) return;
  if (state.key)
    state.idle = idle_.insert(idle_.end(), page);
  else
    free_.push_back(page);
}

PagePool::Found PagePool::take(Beginning root, std::span<const std::uint32_t> tokens) {
  Found out{.pages = {}, .beginning = root};
  for (; tokens.size() > page_tokens_; tokens = tokens.subspan(page_tokens_)) {
    const auto of_page = tokens.first(page_tokens_);
    const auto found = index_.find(Key{out.beginning, {of_page.begin(), of_page.end()}});
    if (found == index_.end()) break;
    State& state = states_[found->second.page];
    if (state.shares++ == 0) idle_.erase(state.idle);
    out.pages.push_back(found->second.page);
    out.beginning = found->second.beginning;
  }
  return out;
}

Beginning PagePool::publish(Beginning from, std::span<const std::uint32_t> tokens, Page page) {
  Key key{from, {tokens.begin(), tokens.end()}};
  const auto [entry, added] = index_.try_emplace(key, Published{page, next_});
  if (added) {
    ++next_;
    states_[page].key = std::move(key);
  }
  return entry->second.beginning;
}

}  // namespace stackgate::inference
