#include "services/guardrail/api/state.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/guardrail/api/limits.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/from_value.hpp"
#include "services/kit/jinja/to_json.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::int64_t version = 1;

std::unexpected<std::string> fault(std::string problem) { return std::unexpected(std::move(problem)); }

std::expected<std::vector<WaitingFlow>, std::string> read_waiting(const json::Value* found, std::string_view key,
                                                                  bool inner = false) {
  std::vector<WaitingFlow> out;
  if (found == nullptr || found->is_null()) return out;
  if (!found->is_array() || found->items().size() > most_waiting_flows)
    return fault(fmt::format("has no list of at most {} flows in \"{}\"", most_waiting_flows, key));
  for (const json::Value& each : found->items()) {
    const json::Value* at = each.find("at");
    const std::string_view flow = json::text_at(each, "flow");
    if (flow.empty() || at == nullptr || !at->is_integer() || at->integer() < 0 || at->integer() > UINT32_MAX)
      return fault(fmt::format("has something else than {{\"flow\", \"at\"}} in \"{}\"", key));
    out.push_back({.flow = std::string(flow), .at = static_cast<std::uint32_t>(at->integer())});
    if (!inner) out.back().callers = TRY(read_waiting(each.find("callers"), "callers", true));
  }
  return out;
}

std::expected<std::vector<std::string>, std::string> read_planned(const json::Value* found) {
  std::vector<std::string> out;
  if (found == nullptr || found->is_null()) return out;
  for (const json::Value& each : found->items()) out.emplace_back(each.string());
  if (!found->is_array() || out.size() > most_planned_steps || std::ranges::find(out, "") != out.end())
    return fault(fmt::format("has no list of at most {} steps in \"planned\"", most_planned_steps));
  return out;
}

void write_waiting(json::Writer& w, std::string_view key, const std::vector<WaitingFlow>& flows) {
  w.array(key, [&] {
    for (const WaitingFlow& each : flows)
      w.object([&] {
        w.member("flow", each.flow);
        w.member("at", each.at);
        if (!each.callers.empty()) write_waiting(w, "callers", each.callers);
      });
  });
}

}  // namespace

std::string to_json(const DialogState& state) {
  return json::object_text([&](json::Writer& w) {
    w.member("version", version);
    write_waiting(w, "waiting", state.waiting);
    if (!state.planned.empty())
      w.array("planned", [&] {
        for (const std::string& each : state.planned) w.value(each);
      });
    w.object("variables", [&] {
      for (const auto& [name, value] : state.variables) {
        w.key(name);
        jinja::write_json(w, value);
      }
    });
  });
}

std::expected<DialogState, std::string> read_state(const json::Value& state) {
  if (!state.is_object()) return fault("must be an object");
  if (state.members().empty()) return DialogState{};
  const json::Value* of = state.find("version");
  if (of == nullptr || !of->is_integer() || of->integer() != version)
    return fault(fmt::format("is none that this server gave: it has no \"version\" {}", version));
  DialogState out;
  out.waiting = TRY(read_waiting(state.find("waiting"), "waiting"));
  out.planned = TRY(read_planned(state.find("planned")));
  const json::Value* variables = state.find("variables");
  if (variables != nullptr && !variables->is_object()) return fault("has \"variables\" that are no object");
  if (variables != nullptr)
    for (const json::Member& each : variables->members()) {
      auto value = jinja::from_json(each.value, deepest_value);
      if (!value) return fault(fmt::format("is nested more than {} times", deepest_value));
      out.variables.insert_or_assign(std::string(each.key), std::move(*value));
    }
  if (to_json(out).size() > largest_state) return fault(fmt::format("is larger than {} bytes", largest_state));
  return out;
}

std::expected<DialogState, std::string> read_state(std::string_view text) {
  json::Document document;
  const auto root = json::parse(text, document, {.max_bytes = static_cast<std::uint32_t>(largest_state)});
  if (!root) return fault("is no JSON: " + root.error().message);
  return read_state(*root);
}

}  // namespace stackgate::guardrail
