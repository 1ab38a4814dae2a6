#include "services/model/tokenizer/vocabulary.hpp"

#include <bit>
#include <cstring>

namespace stackgate::tokenizer {

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = 0x9E3779B97F4A7C15U ^ seed ^ bytes.size();
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0xD6E8FEB86659FD93U;
    hash ^= hash >> 32U;
  };
  while (bytes.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    mix(word);
    bytes.remove_prefix(8);
  }
  std::uint64_t rest = 0;
  if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
  mix(rest);
  return hash ^ hash >> 29U;
}

Vocabulary::Vocabulary(std::span<const Entry> entries) {
  std::size_t total = 0, known = 0;
  for (const Entry& entry : entries) {
    total += entry.bytes.size();
    known += (entry.flags & in_model) != 0 ? 1 : 0;
  }
  arena_.reserve(total);
  offsets_.reserve(entries.size() + 1);
  flags_.reserve(entries.size());
  slots_.resize(std::bit_ceil(known * 3 / 2 + 1));
  offsets_.push_back(0);
  for (const Entry& entry : entries) {
    arena_ += entry.bytes;
    offsets_.push_back(static_cast<std::uint32_t>(arena_.size()));
    flags_.push_back(entry.flags);
  }
  seed_ = hash_bytes(arena_);
  for (std::uint32_t id = 0; id < size(); ++id) {
    if (!has(id, in_model)) continue;
    std::size_t slot = hash_bytes(bytes(id), seed_) & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = id + 1;
  }
}

std::string_view Vocabulary::bytes(std::uint32_t id) const {
  if (id >= flags_.size()) return {};
  return std::string_view(arena_).substr(offsets_[id], offsets_[id + 1] - offsets_[id]);
}

std::optional<std::uint32_t> Vocabulary::find(std::string_view text) const {
  if (slots_.empty()) return std::nullopt;
  for (std::size_t slot = hash_bytes(text, seed_) & (slots_.size() - 1); slots_[slot] != 0;
       slot = (slot + 1) & (slots_.size() - 1)) {
    if (bytes(slots_[slot] - 1) == text) return slots_[slot] - 1;
  }
  return std::nullopt;
}

std::size_t Vocabulary::memory_bytes() const {
  return arena_.capacity() + offsets_.capacity() * sizeof(offsets_[0]) + flags_.capacity() +
         slots_.capacity() * sizeof(slots_[0]);
}

}  // namespace stackgate::tokenizer
