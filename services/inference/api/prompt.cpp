#include "services/inference/api/prompt.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stackgate::inference {
namespace {

constexpr std::string_view forms = "a text, a list of texts, a list of token ids, or a list of such lists";

}  // namespace

std::vector<Prompt> read_prompts(Fields& fields, std::string_view key, const ApiLimits& limits) {
  const json::Value* found = fields.find(key);
  if (found == nullptr) return fields.missing(key, fmt::format("write {}", forms)), std::vector<Prompt>{};
  const validate::JsonPlace at = fields.place(key);
  if (found->is_string()) return {std::string(found->string())};
  if (!found->is_array() || found->items().empty()) return fields.wrong_type(at, forms), std::vector<Prompt>{};
  const auto items = found->items();
  if (items.front().is_number()) {
    std::vector<TokenId> ids = fields.ids(at, limits.vocabulary, limits.context);
    if (ids.empty()) return {};
    return {std::move(ids)};
  }
  std::vector<Prompt> out;
  if (items.size() > most_prompts) {
    fields.wrong(at, fmt::format("has {} prompts", items.size()), fmt::format("send at most {}", most_prompts));
    return out;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const validate::JsonPlace place{fmt::format("{}[{}]", key, i), items[i]};
    if (items[i].type() != items.front().type() || (!items[i].is_string() && !items[i].is_array()))
      return fields.wrong_type(place, items.front().is_array() ? "a list of token ids, as the first one" : "a text"),
             out;
    if (items[i].is_string()) {
      out.emplace_back(std::string(items[i].string()));
      continue;
    }
    std::vector<TokenId> ids = fields.ids(place, limits.vocabulary, limits.context);
    if (items[i].items().empty()) fields.wrong_type(place, "a list of at least one token id");
    out.emplace_back(std::move(ids));
  }
  return out;
}

}  // namespace stackgate::inference
