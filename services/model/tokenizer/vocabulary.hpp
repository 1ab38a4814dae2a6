// Token texts in one arena, found by id or, by an open-addressing table, by text.
//
// 128,000 tokens take about 2.5 MiB. Built once, then const and safe to share between threads.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::tokenizer {

inline constexpr std::uint32_t most_tokens = 1U << 21U;

/// Not stable over versions.
std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0);

class Vocabulary {
 public:
  enum Flag : std::uint8_t {
    present = 1,      // an id in use
    in_model = 2,     // merging may give it: find() knows it
    added = 4,        // cut out of texts; its bytes are its content
    special = 8,      // gives no text when decoded, unless asked for
    byte_token = 16,  // <0xNN>
    literal = 32,     // byte-level: its text is not made of the byte alphabet
  };
  struct Entry {
    std::string_view bytes;  // for a byte-level model the bytes that its text stands for
    std::uint8_t flags = 0;
  };

  Vocabulary() = default;
  /// `entries` by id; copies the bytes. Entries without `present` are ids that nothing uses.
  explicit Vocabulary(std::span<const Entry> entries);

  /// One more than the largest id.
  std::uint32_t size() const { return static_cast<std::uint32_t>(flags_.size()); }
  /// Empty and 0 for an id beyond size().
  std::string_view bytes(std::uint32_t id) const;
  std::uint8_t flags(std::uint32_t id) const { return id < flags_.size() ? flags_[id] : std::uint8_t{0}; }
  bool has(std::uint32_t id, Flag flag) const { return (flags(id) & flag) != 0; }

  /// The id of a token of the model (not of one that was only added).
  std::optional<std::uint32_t> find(std::string_view bytes) const;

  std::size_t memory_bytes() const;

 private:
  std::string arena_;
  std::vector<std::uint32_t> offsets_;  // size() + 1
  std::vector<std::uint8_t> flags_;
  std::vector<std::uint32_t> slots_;  // id + 1, or 0; a power of two of them
  std::uint64_t seed_ = 0;            // of all texts together: a file cannot choose texts that meet in one slot
};

}  // namespace stackgate::tokenizer
