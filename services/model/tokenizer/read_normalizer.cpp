#include <algorithm>
#include <array>

#include "services/model/tokenizer/read_parts.hpp"

namespace stackgate::tokenizer {
namespace {

constexpr std::array<std::string_view, 9> known_normalizers = {"NFC",     "NFD",     "NFKC",  "NFKD",    "Lowercase",
                                                               "Prepend", "Replace", "Strip", "Sequence"};

/// Replace: only a text can be replaced, not an expression.
void read_replace(const Component& at, NormalizerStep& step, Report& report) {
  const json::Value* pattern = at.value.find("pattern");
  const json::Value* text = pattern == nullptr ? nullptr : pattern->find("String");
  step.pattern = text == nullptr ? "" : text->string();
  step.content = report.text(at, "content");
  if (step.pattern.empty())
    report.wrong("tokenizer-not-served", at, "replaces something other than a text",
                 "write \"pattern\": {\"String\": \"…\"}");
  if (step.content.size() > 16 * step.pattern.size())
    report.wrong("tokenizer-limit", at, "makes texts more than 16 times as long", "replace by less");
}

}  // namespace

void read_normalizer(const Component& at, Description& out, Report& report, std::size_t depth) {
  const std::string_view type = component_type(at, report);
  if (type.empty()) return;
  if (type == "Sequence")
    return read_sequence(at, "normalizers", depth, report,
                         [&](const Component& each) { read_normalizer(each, out, report, depth + 1); });
  const auto found = std::ranges::find(known_normalizers, type);
  if (found == known_normalizers.end()) return report.not_served(at, "normalizer", type, known_normalizers);
  NormalizerStep step{
      .kind = static_cast<NormalizerStep::Kind>(found - known_normalizers.begin()), .pattern = {}, .content = {}};
  if (step.kind == NormalizerStep::Kind::prepend) {
    step.content = report.text(at, "prepend");
    if (step.content.size() > 64) report.wrong("tokenizer-limit", at, "prepends more than 64 bytes", "prepend less");
  }
  if (step.kind == NormalizerStep::Kind::replace) read_replace(at, step, report);
  if (step.kind == NormalizerStep::Kind::strip) {
    step.left = report.flag(at, "strip_left", true);
    step.right = report.flag(at, "strip_right", true);
  }
  if (out.normalizer.size() >= most_components)
    return report.wrong("tokenizer-limit", at, "is one of more than 64 normalizers", "write fewer");
  out.normalizer.push_back(std::move(step));
}

}  // namespace stackgate::tokenizer
