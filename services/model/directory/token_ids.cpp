#include "services/model/directory/token_ids.hpp"

#include <algorithm>

namespace stackgate::model {

std::vector<std::uint32_t> read_token_ids(validate::JsonReport& report, const validate::JsonPlace& of,
                                          std::string_view key) {
  const json::Value* found = validate::JsonReport::present(of, key);
  if (found == nullptr) return {};
  std::vector<std::uint32_t> out;
  const auto is_id = [](const json::Value& id) {
    return id.is_integer() && id.integer() >= 0 && id.integer() < most_token_ids;
  };
  const std::span<const json::Value> ids = found->is_array() ? found->items() : std::span(found, 1);
  for (const json::Value& id : ids)
    if (is_id(id)) out.push_back(static_cast<std::uint32_t>(id.integer()));
  if (!std::ranges::all_of(ids, is_id))
    report.wrong_type(of.member(key, *found), "the id of a token, or a list of ids");
  return out;
}

}  // namespace stackgate::model
