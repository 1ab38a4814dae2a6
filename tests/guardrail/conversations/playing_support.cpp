#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "services/kit/json/write.hpp"
#include "tests/guardrail/conversations/playing.hpp"

namespace stackgate::guardrail::test {
namespace {

/// Rails that ask a model want a prompt of the configuration's.
std::string prompts_for(const Row& row, const BuiltInRail& rail) {
  if (!row.prompt.empty()) return fmt::format("prompts:\n  - {{task: \"{}\", {}}}\n", rail.task, row.prompt);
  if (!rail.own_prompt) return {};
  const std::string_view shown = rail.place == RailPlace::input      ? "{{ user_input }}"
                                 : rail.action == "self_check_facts" ? "{{ evidence }} {{ response }}"
                                                                     : "{{ bot_response }}";
  return fmt::format("prompts:\n  - {{task: \"{}\", content: \"Judge: {}\"}}\n", rail.task, shown);
}

web::Answer answer(const Row& row, const Asked& asked) {
  const bool chat = asked.path == "/v1/chat/completions";
  if (chat && json::text(*Read(asked.body), {"model"}) == "main")
    return main_answer(asked, {row.main.substr(0, row.main.size() / 2), row.main.substr(row.main.size() / 2)},
                       row.calls);
  for (const Rule& each : row.rules) {
    if (!asked.body.contains(each.holds)) continue;
    if (each.status != 200) return json_reply(each.status, "{}");
    return chat ? main_answer(asked, {each.says}) : json_reply(200, each.says);
  }
  return json_reply(404, "{}");
}

void write_messages(json::Writer& w, const Row& row, bool given) {
  w.array("messages", [&] {
    w.object([&] {
      w.member("role", "user");
      w.member("content", row.user);
    });
    if (!given) return;
    w.object([&] {
      w.member("role", "assistant");
      w.member("content", row.main);
      if (row.calls.empty()) return;
      w.key("tool_calls");
      w.raw(R"([{"id":"1","type":"function","function":{"name":")" + row.calls + R"(","arguments":"{}"}}])");
    });
  });
}

}  // namespace

const BuiltInRail& rail_of(const Row& row) {
  const BuiltInRail* found = find_built_in_rail(row.rail.substr(0, row.rail.find(" $")));
  if (found == nullptr) throw std::runtime_error("there is no rail " + row.rail);
  return *found;
}

void serve(Serving& serving, const Row& row, bool with_rail, const std::string& more) {
  std::string config = row.config;
  const std::string address = serving.upstream_url();
  for (std::size_t at = 0; (at = config.find("UPSTREAM", at)) != std::string::npos;)
    config.replace(at, 8, address.substr(0, address.rfind('/')));
  const BuiltInRail& rail = rail_of(row);
  const std::string rails = fmt::format("rails:\n  {}:\n    flows: [\"{}\"]\n", list_of(rail.place), row.rail);
  const auto configuration = configuration_of({{"b.yml", config},
                                               {"c.yml", with_rail ? rails : ""},
                                               {"d.yml", more},
                                               {"e.yml", prompts_for(row, rail)},
                                               {"config.py", row.code},
                                               {"kb/page.md", row.knowledge}});
  ASSERT_NE(configuration, nullptr);
  serving.serve(configuration, [row](web::Call&, const Asked& asked, int) { return answer(row, asked); });
}

std::string body_of(const Row& row, const Asking& asking) {
  return json::object_text([&](json::Writer& w) {
    w.member("config_id", "row");
    w.member("stream", asking.stream);
    write_messages(w, row, asking.given);
    if (!row.context.empty()) {
      w.key("context");
      w.raw(row.context);
    }
    w.object("options", [&] {
      if (asking.log) {
        w.key("log");
        w.raw(R"({"activated_rails":true,"internal_events":true,"llm_calls":true,"colang_history":true})");
        w.member("llm_output", true);
        w.member("output_vars", true);
      }
      if (asking.rails.empty()) return;
      w.key("rails");
      w.raw(asking.rails);
    });
  });
}

std::vector<std::string> models_asked(const Serving& serving) {
  std::vector<std::string> out;
  for (const Asked& each : serving.asked()) {
    const Read body(each.body);
    out.emplace_back(each.path == "/v1/chat/completions" ? json::text(*body, {"model"}) : each.path);
  }
  return out;
}

std::string asked_of_main(const Serving& serving) {
  std::string out;
  for (const Asked& each : serving.asked())
    if (json::text(*Read(each.body), {"model"}) == "main") out += each.body;
  return out;
}

}  // namespace stackgate::guardrail::test
