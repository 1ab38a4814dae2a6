// The one file here that sees nlohmann's JSON.
#include <limits>

#include <nlohmann/json.hpp>

#include "services/kit/base/try.hpp"
#include "services/kit/jinja/template.hpp"

namespace stackgate::jinja {

using Json = nlohmann::ordered_json;

std::expected<Value, Fault> from_json(const Json& json, std::uint32_t depth) {
  const auto fault = [](const char* message) { return std::unexpected(Fault{FaultKind::limit, message}); };
  switch (json.type()) {
    case Json::value_t::null:
      return Value(None{});
    case Json::value_t::boolean:
      return Value(json.get<bool>());
    case Json::value_t::number_integer:
      return Value(json.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      if (json.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return fault("the context has an integer of more than 64 bits");
      return Value(json.get<std::int64_t>());
    case Json::value_t::number_float:
      return Value(json.get<double>());
    case Json::value_t::string:
      return Value(json.get_ref<const std::string&>());
    case Json::value_t::array: {
      if (depth == 0) return fault("the context is nested too deeply");
      std::vector<Value> items;
      items.reserve(json.size());
      for (const Json& item : json) items.push_back(TRY(from_json(item, depth - 1)));
      return Value(ListPtr(std::make_shared<const List>(std::move(items))));
    }
    case Json::value_t::object: {
      if (depth == 0) return fault("the context is nested too deeply");
      auto out = std::make_shared<Dict>();
      for (const auto& [key, member] : json.items()) {
        Value value = TRY(from_json(member, depth - 1));
        out->set(Value(key), std::move(value));
      }
      return Value(DictPtr(std::move(out)));
    }
    default:
      return Value();  // binary and discarded values are not in JSON
  }
}

std::expected<Rendering, Fault> Template::render_marked(const Json& context, const Limits& limits) const {
  const Value values = TRY(from_json(context, limits.value_depth));
  return render_marked(values, limits);
}

std::expected<std::string, Fault> Template::render(const Json& context, const Limits& limits) const {
  auto out = TRY(render_marked(context, limits));
  return std::move(out.text);
}

std::expected<Value, Fault> Expression::evaluate(const Json& context, const Limits& limits) const {
  const Value values = TRY(from_json(context, limits.value_depth));
  return evaluate(values, limits);
}

}  // namespace stackgate::jinja
