// The random source of generators: numbers from a seed, or from a fuzzer's bytes (zeros when they are used up). The
// same seed gives the same objects on every machine.
#pragma once
#include <cstdint>
#include <span>

namespace stackgate::testing {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  explicit Dice(std::span<const std::uint8_t> bytes) : bytes_(bytes), from_bytes_(true) {}

  /// 0 to sides - 1.
  std::size_t roll(std::size_t sides) {
    if (sides < 2) return 0;
    if (from_bytes_) {
      if (at_ >= bytes_.size()) return 0;
      return bytes_[at_++] % sides;
    }
    state_ ^= state_ << 13U;
    state_ ^= state_ >> 7U;
    state_ ^= state_ << 17U;
    return static_cast<std::size_t>((state_ >> 11U) % sides);
  }
  bool chance(std::size_t percent) { return roll(100) < percent; }
  bool used_up() const { return from_bytes_ && at_ >= bytes_.size(); }
  template <class List>
  const auto& pick(const List& list) {
    return list[roll(std::size(list))];
  }

 private:
  std::uint64_t state_ = 1;
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  bool from_bytes_ = false;
};

}  // namespace stackgate::testing
