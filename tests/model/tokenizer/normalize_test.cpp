#include "services/model/tokenizer/normalize.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace stackgate::tokenizer {
namespace {

using Kind = NormalizerStep::Kind;

std::string normal(Kind kind, std::string_view text) {
  Normalizer normalizer;
  const NormalizerStep step{.kind = kind, .pattern = {}, .content = {}};
  return std::string(normalizer.run({&step, 1}, {.text = text}, true).text);
}

TEST(Normalize, forms_of_unicode) {
  struct Case {
    Kind kind;
    std::string_view from, to;
  };
  const std::vector<Case> cases = {
      {Kind::nfc, "e\u0301", "\u00e9"},
      {Kind::nfc, "\u1112\u1161\u11ab", "\ud55c"},
      {Kind::nfc, "\uac00\u11a8", "\uac01"},
      {Kind::nfc, "q\u0307\u0323", "q\u0323\u0307"},  // canonical order
      {Kind::nfc, "\u2126\u212b", "\u03a9\u00c5"},
      {Kind::nfc, "\u0958", "\u0915\u093c"},  // excluded from composition
      {Kind::nfc, "\ufb01 \u4e00 \U0001f600", "\ufb01 \u4e00 \U0001f600"},
      {Kind::nfd, "\u00e9\ud55c", "e\u0301\u1112\u1161\u11ab"},
      {Kind::nfkc, "\ufb01\uff21\u2460\uff76\uff9e", "fiA1\u30ac"},
      {Kind::nfkd, "\ufb01\u00e9", "fie\u0301"},
      {Kind::lowercase, "ÀÉ\u0130ΣA", "àéi\u0307σa"},
      {Kind::strip, "a", "a"},
  };
  for (const Case& each : cases) EXPECT_EQ(normal(each.kind, each.from), each.to) << each.from;
}

TEST(Normalize, remembers_where_bytes_came_from) {
  Normalizer normalizer;
  const std::vector<NormalizerStep> steps = {{.kind = Kind::nfc, .pattern = {}, .content = {}},
                                             {.kind = Kind::prepend, .pattern = {}, .content = "_"},
                                             {.kind = Kind::replace, .pattern = " ", .content = "__"}};
  const std::string text = "ae\u0301 b";
  const Slice out = normalizer.run(steps, {.text = text, .origin = nullptr, .base = 10}, true);
  EXPECT_EQ(out.text, "_a\u00e9__b");
  std::vector<std::uint32_t> origins;
  for (std::size_t i = 0; i <= out.text.size(); ++i) origins.push_back(out.offset(i));
  EXPECT_EQ(origins, (std::vector<std::uint32_t>{10, 10, 11, 11, 14, 14, 15, 16}));
}

TEST(Normalize, strip_takes_white_space_of_either_side) {
  Normalizer normalizer;
  NormalizerStep step{.kind = Kind::strip, .pattern = {}, .content = {}, .left = true, .right = true};
  EXPECT_EQ(normalizer.run({&step, 1}, {.text = " \u00a0a b\u3000\n"}, false).text, "a b");
  EXPECT_EQ(normalizer.run({&step, 1}, {.text = " \n"}, false).text, "");
}

TEST(Normalize, a_megabyte_of_marks_takes_no_quadratic_time) {
  std::string text = "a";
  for (int i = 0; i < 250'000; ++i) text += i % 2 == 0 ? "\u0307" : "\u0323";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(normal(Kind::nfc, text).size(), text.size());  // ạ for a and one dot below
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace stackgate::tokenizer
