// Which adapters are in memory, and which of those are resident (in the engine's slots): least recently used go first,
// those in use never. A value: no I/O, not thread-safe.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

namespace stackgate::inference {

enum class Residency : std::uint8_t { disk, memory, resident };

class TwoTierLru {
 public:
  using Key = std::uint64_t;
  using InUse = std::function<bool(Key)>;

  /// `resident` of the `memory` places are slots; both at least 1, `resident` at most `memory`.
  TwoTierLru(std::size_t resident, std::size_t memory) : resident_(resident), memory_(memory) {}

  /// Makes a place in memory for `key`, which is not there. Who had to leave for it (at most one), or nothing when all
  /// others are in use.
  std::optional<std::vector<Key>> admit(Key key, const InUse& in_use);
  /// It was asked for: the most recent one, and resident unless all slots are in use.
  void touch(Key key, const InUse& in_use);
  void erase(Key key);

  bool has_room() const { return places_.size() < memory_; }
  std::size_t size() const { return places_.size(); }
  Residency residency_of(Key key) const;

 private:
  struct Place {
    Key key = 0;
    bool resident = false;
  };
  std::size_t resident_, memory_;
  std::list<Place> places_;  // the most recent one first
  std::unordered_map<Key, std::list<Place>::iterator> by_key_;
};

}  // namespace stackgate::inference
