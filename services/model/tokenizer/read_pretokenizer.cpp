#include <array>

#include "services/kit/base/utf8.hpp"
#include "services/model/tokenizer/read_parts.hpp"

namespace stackgate::tokenizer {
namespace {

constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::array<std::string_view, 5> known_pre_tokenizers = {"ByteLevel", "Split", "Digits", "Metaspace",
                                                                  "Sequence"};
constexpr std::array<std::string_view, 5> known_behaviors = {"Removed", "Isolated", "MergedWithPrevious",
                                                             "MergedWithNext", "Contiguous"};
constexpr std::array<std::string_view, 3> known_schemes = {"always", "first", "never"};
constexpr std::size_t most_pre_tokenizers = 16;

/// The position of a member's word in a list whose order is that of an enumeration; 0 after a finding.
std::size_t word_of(const Component& at, std::string_view key, std::string_view word,
                    std::span<const std::string_view> known, Report& report) {
  for (std::size_t i = 0; i < known.size(); ++i)
    if (known[i] == word) return i;
  report.not_served(at, key, word, known);
  return 0;
}

class StepReader {
 public:
  StepReader(const Component& at, Description& out, Report& report) : at_(at), out_(out), report_(report) {}

  void byte_level() {
    if (report_.flag(at_, "add_prefix_space", true))
      add({.kind = PreTokenizerStep::Kind::prefix_space, .pattern = {}, .replacement = {}});
    if (report_.flag(at_, "use_regex", true))
      add({.kind = PreTokenizerStep::Kind::split, .pattern = std::string(gpt2_pattern), .replacement = {}});
    out_.byte_level = true;
  }

  void split() {
    PreTokenizerStep step;
    const json::Value* pattern = at_.value.find("pattern");
    const json::Value* regex = pattern == nullptr ? nullptr : pattern->find("Regex");
    const json::Value* literal = pattern == nullptr ? nullptr : pattern->find("String");
    step.literal = regex == nullptr;
    if (const json::Value* given = step.literal ? literal : regex) step.pattern = given->string();
    if (step.pattern.empty())
      return report_.wrong("tokenizer-type", at_, "splits by nothing",
                           "write \"pattern\": {\"Regex\": \"…\"} or {\"String\": \"…\"}");
    const std::string behavior = report_.text(at_, "behavior");
    step.behavior = static_cast<SplitBehavior>(word_of(at_, "behavior", behavior, known_behaviors, report_));
    step.invert = report_.flag(at_, "invert", false);
    add(std::move(step));
  }

  void digits() {
    const bool individual = report_.flag(at_, "individual_digits", false);
    add({.kind = PreTokenizerStep::Kind::split,
         .pattern = "\\p{N}",
         .behavior = individual ? SplitBehavior::isolated : SplitBehavior::contiguous,
         .replacement = {}});
  }

  void metaspace() {
    PreTokenizerStep step{.kind = PreTokenizerStep::Kind::metaspace, .pattern = {}, .replacement = {}};
    step.replacement = report_.text(at_, "replacement", "\xE2\x96\x81");
    if (step.replacement.empty() || utf8::sequence_length(step.replacement) != step.replacement.size())
      report_.wrong("tokenizer-type", at_, "replaces blanks by something other than one character",
                    "write \"replacement\": \"▁\"");
    const bool old_prefix = report_.flag(at_, "add_prefix_space", true);
    const std::string scheme = report_.text(at_, "prepend_scheme", old_prefix ? "always" : "never");
    step.scheme = static_cast<PrependScheme>(word_of(at_, "prepend_scheme", scheme, known_schemes, report_));
    step.split = report_.flag(at_, "split", true);
    add(std::move(step));
  }

 private:
  void add(PreTokenizerStep step) {
    if (out_.byte_level)
      return report_.wrong("tokenizer-not-served", at_, "comes after ByteLevel, which must be the last",
                           "move ByteLevel to the end of the sequence");
    if (out_.pre_tokenizer.size() >= most_pre_tokenizers)
      return report_.wrong("tokenizer-limit", at_, "is one of more than 16 pre-tokenizers", "write fewer");
    PreTokenizerStage stage{.step = std::move(step), .pattern = std::nullopt};
    if (stage.step.kind == PreTokenizerStep::Kind::split && !stage.step.literal) {
      auto compiled = Pattern::compile(stage.step.pattern);
      if (!compiled)
        return report_.wrong("tokenizer-pattern", at_, "its pattern " + compiled.error(),
                             "write a pattern without it; what Oniguruma and PCRE2 share is served");
      stage.pattern = std::move(*compiled);
    }
    out_.pre_tokenizer.push_back(std::move(stage));
  }

  const Component& at_;
  Description& out_;
  Report& report_;
};

}  // namespace

void read_pre_tokenizer(const Component& at, Description& out, Report& report, std::size_t depth) {
  const std::string_view type = component_type(at, report);
  StepReader reader(at, out, report);
  if (type.empty()) return;
  if (type == "Sequence")
    return read_sequence(at, "pretokenizers", depth, report,
                         [&](const Component& each) { read_pre_tokenizer(each, out, report, depth + 1); });
  if (type == "ByteLevel") return reader.byte_level();
  if (type == "Split") return reader.split();
  if (type == "Digits") return reader.digits();
  if (type == "Metaspace") return reader.metaspace();
  report.not_served(at, "pre-tokenizer", type, known_pre_tokenizers);
}

}  // namespace stackgate::tokenizer
