#include "services/guardrail/detect/language.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "services/guardrail/detect/language_words.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/utf8.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t judged_bytes = 16U << 10U, longest_common_word = 16;

constexpr std::string_view codes[] = {"ar", "de", "el", "en", "es", "fr", "he", "hi", "it", "ja",
                                      "ko", "nl", "pl", "pt", "ru", "sv", "th", "uk", "zh"};

enum class Script : std::uint8_t { latin, cyrillic, greek, hebrew, arabic, devanagari, thai, hangul, kana, han, other };
struct Range {
  std::uint32_t first, last;
  Script script;
};
constexpr Range ranges[] = {
    {0x41, 0x5A, Script::latin},      {0x61, 0x7A, Script::latin},        {0xC0, 0x24F, Script::latin},
    {0x370, 0x3FF, Script::greek},    {0x400, 0x52F, Script::cyrillic},   {0x590, 0x5FF, Script::hebrew},
    {0x600, 0x6FF, Script::arabic},   {0x900, 0x97F, Script::devanagari}, {0xE00, 0xE7F, Script::thai},
    {0x3040, 0x30FF, Script::kana},   {0x3400, 0x4DBF, Script::han},      {0x4E00, 0x9FFF, Script::han},
    {0xAC00, 0xD7AF, Script::hangul}, {0x1100, 0x11FF, Script::hangul},
};

Script script_of(std::uint32_t code) {
  for (const Range& range : ranges)
    if (code >= range.first && code <= range.last) return range.script;
  return Script::other;
}

/// Common words → a bit for each profile.
const std::unordered_map<std::string_view, std::uint32_t>& common_words() {
  static const auto map = [] {
    std::unordered_map<std::string_view, std::uint32_t> out;
    for (std::size_t i = 0; i < language_word_lists; ++i)
      for (std::string_view rest = language_words()[i].words; !rest.empty();) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        out[rest.substr(0, end)] |= 1U << i;
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    return out;
  }();
  return map;
}

/// Lower case of Latin-1's and the basic Cyrillic letters; the rest as it is.
std::uint32_t lower(std::uint32_t code) {
  if (code < 0x80) return static_cast<unsigned char>(ascii::to_lower(static_cast<char>(code)));
  if ((code >= 0xC0 && code <= 0xDE && code != 0xD7) || (code >= 0x410 && code <= 0x42F)) return code + 0x20;
  if (code >= 0x400 && code <= 0x40F) return code + 0x50;
  return code;
}

class Tally {
 public:
  void take(std::uint32_t code) {
    const Script script = script_of(code);
    if (script == Script::other) return end_word();
    ++letters_[static_cast<std::size_t>(script)];
    if (script != Script::latin && script != Script::cyrillic) return end_word();
    std::array<char, 4> bytes{};
    if (word_.size() <= 2 * longest_common_word) word_.append(bytes.data(), utf8::encode(lower(code), bytes.data()));
  }

  void end_word() {
    if (!word_.empty() && word_.size() <= longest_common_word)
      if (const auto found = common_words().find(word_); found != common_words().end())
        for (std::size_t i = 0; i < hits_.size(); ++i) hits_[i] += found->second >> i & 1U;
    word_.clear();
  }

  Language result() const {
    std::size_t all = 0;
    for (const std::size_t each : letters_) all += each;
    if (all == 0) return {};
    const auto best = static_cast<Script>(std::ranges::max_element(letters_) - letters_.begin());
    const auto count = [&](Script script) { return static_cast<double>(letters_[static_cast<std::size_t>(script)]); };
    const double share = count(best) / static_cast<double>(all);
    switch (best) {
      case Script::latin:
      case Script::cyrillic:
        return by_words(share);
      case Script::greek:
        return {"el", share};
      case Script::hebrew:
        return {"he", share};
      case Script::arabic:
        return {"ar", share};
      case Script::devanagari:
        return {"hi", share};
      case Script::thai:
        return {"th", share};
      case Script::hangul:
        return {"ko", share};
      case Script::kana:
        return {"ja", (count(Script::kana) + count(Script::han)) / static_cast<double>(all)};
      case Script::han:  // Japanese has kana between its characters
        return count(Script::kana) * 10 > count(Script::han)
                   ? Language{"ja", (count(Script::kana) + count(Script::han)) / static_cast<double>(all)}
                   : Language{"zh", share};
      case Script::other:
        break;
    }
    return {};
  }

 private:
  Language by_words(double share) const {
    const auto best = std::ranges::max_element(hits_);
    if (*best < 2) return {};
    std::size_t second = 0;
    for (auto it = hits_.begin(); it != hits_.end(); ++it)
      if (it != best) second = std::max<std::size_t>(second, *it);
    if (second == *best) return {};
    const double ahead = static_cast<double>(*best) / static_cast<double>(*best + second);
    return {language_words()[static_cast<std::size_t>(best - hits_.begin())].code, share * ahead};
  }

  std::array<std::size_t, 11> letters_{};
  std::array<std::size_t, language_word_lists> hits_{};
  std::string word_;
};

}  // namespace

std::span<const std::string_view> served_languages() { return codes; }

Language language_of(std::string_view text) {
  text = text.substr(0, judged_bytes);
  Tally tally;
  while (!text.empty()) {
    const std::size_t length = utf8::sequence_length(text);
    tally.take(length == 0 ? ' ' : utf8::character_at(text).code);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  tally.end_word();
  return tally.result();
}

}  // namespace stackgate::guardrail
