// A grammar run over bytes, all readings at once; states and steps are made when they are first needed, and kept.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "services/inference/constrain/grammar.hpp"

namespace stackgate::inference {

/// Not thread-safe. At most 2¹⁵ states (1 KiB each) and 2²⁰ stacks are kept; what would need more has no way on.
class Automaton {
 public:
  using State = std::uint32_t;
  static constexpr State dead = 0;

  explicit Automaton(std::shared_ptr<const Grammar> grammar);

  State start() const { return start_; }
  State step(State from, unsigned char byte) {
    State& to = states_[from].next[byte];
    return to == unknown ? made(from, byte) : to;
  }
  State run(State from, std::string_view bytes);
  /// Whether a whole value has been read.
  bool complete(State state) const { return states_[state].complete; }
  /// Whether any whole characters that need no escape may come, as many as one likes.
  bool takes_text(State state) const { return states_[state].takes_text; }
  /// Whether anything but the end may come.
  bool goes_on(State state) const { return !states_[state].places.empty(); }

 private:
  static constexpr State unknown = 0xFFFF'FFFF;
  struct Place {
    NodeId node = 0;
    std::uint32_t stack = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct Known {
    std::vector<Place> places;
    bool complete = false, takes_text = false;
    std::array<State, 256> next;
  };
  struct Frame {
    NodeId back_to = 0;
    std::uint32_t below = 0, depth = 0;
  };
  struct PlacesHash {
    std::size_t operator()(const std::vector<Place>& places) const;
  };

  State made(State from, unsigned char byte);
  State state_of(std::vector<Place> reached);
  void reach(const Place& place, std::vector<Place>& work);
  std::uint32_t pushed(std::uint32_t stack, NodeId back_to);

  std::shared_ptr<const Grammar> grammar_;
  std::vector<Frame> frames_;  // 0: nothing was called
  std::unordered_map<std::uint64_t, std::uint32_t> frame_ids_;
  std::vector<Known> states_;
  std::unordered_map<std::vector<Place>, State, PlacesHash> state_ids_;
  State start_ = dead;
};

}  // namespace stackgate::inference
