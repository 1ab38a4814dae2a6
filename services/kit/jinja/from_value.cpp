#include "services/kit/jinja/from_value.hpp"

#include "services/kit/base/try.hpp"

namespace stackgate::jinja {

std::expected<Value, Fault> from_json(const json::Value& json, std::uint32_t depth) {
  switch (json.type()) {
    case json::Type::null:
      return Value(None{});
    case json::Type::boolean:
      return Value(json.boolean());
    case json::Type::integer:
      return Value(json.integer());
    case json::Type::number:
      return Value(json.number());
    case json::Type::string:
      return Value(json.string());
    default:
      break;
  }
  if (depth == 0) return std::unexpected(Fault{FaultKind::limit, "the context is nested too deeply"});
  if (json.is_array()) {
    std::vector<Value> items;
    items.reserve(json.items().size());
    for (const json::Value& item : json.items()) items.push_back(TRY(from_json(item, depth - 1)));
    return Value(ListPtr(std::make_shared<const List>(std::move(items))));
  }
  auto out = std::make_shared<Dict>();
  for (const json::Member& member : json.members()) {
    Value value = TRY(from_json(member.value, depth - 1));
    out->set(Value(member.key), std::move(value));
  }
  return Value(DictPtr(std::move(out)));
}

}  // namespace stackgate::jinja
