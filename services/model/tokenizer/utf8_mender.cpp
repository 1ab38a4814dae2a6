#include "services/model/tokenizer/utf8_mender.hpp"

#include <algorithm>
#include <cstddef>

#include "services/kit/base/utf8.hpp"

namespace stackgate::tokenizer {
namespace {

constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

/// How many bytes of `text`, which does not begin with a whole character, could begin one; 0: not even the first.
std::size_t sound_prefix(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  const unsigned lead = byte(0);
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t whole = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  unsigned low = 0x80, high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  std::size_t length = 1;
  for (; length < std::min(whole, text.size()); ++length, low = 0x80, high = 0xBF)
    if (byte(length) < low || byte(length) > high) break;
  return length;
}

}  // namespace

void Utf8Mender::push(std::string_view bytes, std::string& out) {
  std::string joined;
  if (!held_.empty()) {
    joined = held_;
    joined += bytes;
    bytes = joined;
    held_.clear();
  }
  while (!bytes.empty()) {
    std::size_t whole = 0;
    while (whole < bytes.size()) {
      const std::size_t length = utf8::sequence_length(bytes.substr(whole));
      if (length == 0) break;
      whole += length;
    }
    out += bytes.substr(0, whole);
    bytes.remove_prefix(whole);
    if (bytes.empty()) return;
    const std::size_t sound = sound_prefix(bytes);
    if (sound == bytes.size()) {
      held_ = bytes;
      return;
    }
    out += replacement_character;
    bytes.remove_prefix(std::max<std::size_t>(sound, 1));
  }
}

void Utf8Mender::finish(std::string& out) {
  if (!held_.empty()) out += replacement_character;
  held_.clear();
}

}  // namespace stackgate::tokenizer
