#include "services/trainer/data/tokens.hpp"

#include <algorithm>

namespace stackgate::trainer {

TextFrame text_frame(const model::ModelDirectory& model, const tokenizer::Tokenizer& tokenizer) {
  TextFrame out{.prefix = tokenizer.description().prefix};
  if (const std::string* eos = model.special_tokens.find("eos_token")) out.end = tokenizer.token_id(*eos);
  if (!out.end && !model.end_ids.empty()) out.end = model.end_ids.front();
  for (const std::uint32_t id : model.end_ids)
    if (std::string text = tokenizer.token_text(id); !text.empty()) out.end_texts.push_back(std::move(text));
  return out;
}

std::expected<Example, std::string> Tokens::encode(std::span<const Segment> segments, bool framed) {
  Example out;
  if (framed) out.ids = frame_.prefix;
  const auto add = [&](std::span<const std::uint32_t> ids, bool trained) {
    // Nothing foretells the first token.
    const auto begin = static_cast<std::uint32_t>(std::max<std::size_t>(out.ids.size(), 1));
    out.ids.insert(out.ids.end(), ids.begin(), ids.end());
    const auto end = static_cast<std::uint32_t>(out.ids.size());
    if (!trained || begin >= end) return;
    if (!out.trained.empty() && out.trained.back().end == begin)
      out.trained.back().end = end;
    else
      out.trained.push_back({begin, end});
  };
  for (const Segment& each : segments) {
    const auto ids = encoder_.encode(each.text, {.add_special_tokens = false});
    if (!ids) return std::unexpected(ids.error().problem);
    add(*ids, each.trained);
  }
  if (framed && frame_.end) add({&*frame_.end, 1}, true);
  return out;
}

bool cut(Example& example, std::size_t most) {
  if (example.ids.size() <= most) return false;
  example.ids.resize(most);
  const auto end = static_cast<std::uint32_t>(most);
  std::erase_if(example.trained, [&](const TokenRange& each) { return each.begin >= end; });
  if (!example.trained.empty()) example.trained.back().end = std::min(example.trained.back().end, end);
  return true;
}

}  // namespace stackgate::trainer
