#include <array>
#include <optional>
#include <vector>

#include "services/model/tokenizer/read_parts.hpp"

namespace stackgate::tokenizer {
namespace {

constexpr std::array<std::string_view, 3> known_post_processors = {"TemplateProcessing", "ByteLevel", "Sequence"};
constexpr std::size_t most_template_tokens = 64;

/// The ids of a special token of a template: {"special_tokens": {"<s>": {"ids": [1]}}}.
std::optional<std::vector<TokenId>> template_ids(const Component& at, std::string_view name, const Description& known,
                                                 Report& report) {
  const json::Value* all = at.value.find("special_tokens");
  const json::Value* token = all == nullptr ? nullptr : all->find(name);
  const json::Value* ids = token == nullptr ? nullptr : token->find("ids");
  std::vector<TokenId> out;
  bool good = ids != nullptr && ids->is_array() && ids->items().size() <= most_template_tokens;
  for (const json::Value& id : good ? ids->items() : std::span<const json::Value>{}) {
    good = good && id.is_integer() && id.integer() >= 0 && id.integer() < most_tokens &&
           known.vocabulary.has(static_cast<TokenId>(id.integer()), Vocabulary::present);
    if (good) out.push_back(static_cast<TokenId>(id.integer()));
  }
  if (good) return out;
  report.wrong("tokenizer-missing", at, fmt::format("its special_tokens lack the ids of \"{}\"", name),
               fmt::format("write \"special_tokens\": {{\"{}\": {{\"ids\": [<id>]}}}}", name));
  return std::nullopt;
}

void read_template(const Component& at, Description& out, Report& report) {
  const json::Value* single = at.value.find("single");
  if (single == nullptr || !single->is_array() || single->items().size() > most_template_tokens)
    return report.wrong("tokenizer-type", at, "lacks a list \"single\" of at most 64 parts", "write \"single\": […]");
  std::vector<TokenId> before, after;
  int sequences = 0;
  for (const json::Value& part : single->items()) {
    if (const json::Value* special = part.find("SpecialToken")) {
      const auto ids = template_ids(at, json::text_at(*special, "id"), out, report);
      auto& into = sequences == 0 ? before : after;
      if (ids) into.insert(into.end(), ids->begin(), ids->end());
    } else {
      sequences += part.find("Sequence") != nullptr ? 1 : 2;
    }
  }
  if (sequences != 1)
    return report.wrong("tokenizer-type", at, "\"single\" must hold special tokens and the sequence A once",
                        "write {\"Sequence\": {\"id\": \"A\"}} once");
  out.prefix.insert(out.prefix.begin(), before.begin(), before.end());
  out.suffix.insert(out.suffix.end(), after.begin(), after.end());
  out.has_template = true;
}

}  // namespace

void read_post_processor(const Component& at, Description& out, Report& report, std::size_t depth) {
  const std::string_view type = component_type(at, report);
  if (type.empty() || type == "ByteLevel") return;  // ByteLevel changes offsets only
  if (type == "Sequence")
    return read_sequence(at, "processors", depth, report,
                         [&](const Component& each) { read_post_processor(each, out, report, depth + 1); });
  if (type == "TemplateProcessing") return read_template(at, out, report);
  report.not_served(at, "post-processor", type, known_post_processors);
}

}  // namespace stackgate::tokenizer
