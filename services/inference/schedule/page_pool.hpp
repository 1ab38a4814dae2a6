// Which pages of the key and value cache are free, shared, or kept because their beginning may come again.
//
// A page whose positions are all computed can be published under what it continues: then a later sequence that begins
// with the same tokens takes it instead of computing it again. A root stands for what else the values depend on: each
// version of an adapter, and the base, have roots of their own. Published pages that nobody uses are kept, the one used
// longest ago is taken first when pages run out.
//
// Pure; not thread-safe. Every operation costs no more than a hash of one page's tokens.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace stackgate::inference {

using Page = std::uint32_t;
/// A beginning: a root, or a root continued by published pages.
using Beginning = std::uint64_t;

class PagePool {
 public:
  PagePool(std::size_t pages, std::size_t page_tokens);

  std::size_t pages() const { return states_.size(); }
  std::size_t page_tokens() const { return page_tokens_; }
  /// Pages that allocate() could return now.
  std::size_t available() const { return free_.size() + idle_.size(); }

  /// A page of one's own; nothing when all are in use.
  std::optional<Page> allocate();
  /// Gives back one share of a page.
  void release(Page page);

  struct Found {
    std::vector<Page> pages;  // one share of each is the caller's now
    Beginning beginning = 0;  // where they end
  };
  /// The longest published beginning of `tokens`, in whole pages and never all of them: the last token is left, whose
  /// logits are wanted.
  Found take(Beginning root, std::span<const std::uint32_t> tokens);

  /// `page` holds exactly the page_tokens() tokens that continue `from`. Returns where it ends. When the same is
  /// published already, `page` stays private.
  Beginning publish(Beginning from, std::span<const std::uint32_t> tokens, Page page);

  /// A new root.
  Beginning root() { return next_++; }

 private:
  struct Key {
    Beginning from = 0;
    std::vector<std::uint32_t> tokens;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Published {
    Page page = 0;
    Beginning beginning = 0;
  };
  using Index = std::unordered_map<Key, Published, Hash>;
  struct State {
    std::size_t shares = 0;
    std::optional<Key> key;  // as published
    std::list<Page>::iterator idle{};
  };

  std::size_t page_tokens_;
  std::vector<State> states_;
  std::vector<Page> free_;
  std::list<Page> idle_;  // published, without shares; used longest ago first
  Index index_;
  Beginning next_ = 1;
};

}  // namespace stackgate::inference
