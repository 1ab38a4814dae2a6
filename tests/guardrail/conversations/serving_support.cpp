#include <gtest/gtest.h>

#include "services/guardrail/configuration/configuration.hpp"
#include "services/guardrail/front/custom_actions.hpp"
#include "services/kit/json/write.hpp"
#include "tests/guardrail/conversations/serving.hpp"

namespace stackgate::guardrail::test {

Streamed read_stream(const std::string& body) {
  Streamed out;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    const std::string line = body.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("data: ")) continue;
    out.done = line == "data: [DONE]";
    if (out.done) continue;
    const Read event(line.substr(6));
    if (const json::Value* error = json::at(*event, {"error"})) out.error = json::to_json(*error);
    if (const json::Value* data = json::at(*event, {"guardrails"})) out.guardrails = json::to_json(*data);
    for (const json::Value& choice : json::items(*event, {"choices"})) {
      out.text += json::text(&choice, {"delta", "content"});
      out.finish_reason += json::text(&choice, {"finish_reason"});
      for (const json::Value& call : json::items(&choice, {"delta", "tool_calls"}))
        out.calls.emplace_back(json::text(&call, {"function", "name"}));
    }
  }
  return out;
}

Serving::Serving() {
  upstream_ = std::make_unique<UpstreamDouble>([this](web::Call& call, const Asked& asked, int number) {
    Script script;
    {
      const std::scoped_lock lock(mutex_);
      script = script_;
    }
    return script(call, asked, number);
  });
  auto front = std::make_shared<Front>();
  front->configurations = {.choose = [this](const auto&) -> std::expected<ConfigurationPtr, web::Failure> {
                             const std::scoped_lock lock(mutex_);
                             return configuration_;
                           },
                           .compile = {},
                           .list = [] { return std::string("[]"); },
                           .are_quick = [this] { return ++requests_ % 2 == 0; }};  // on both kinds of threads
  front->models = std::make_shared<const ModelClient>(
      ModelClientOptions{.retries = 0,
                         .breaker = {.failures = 1'000'000},
                         .variable = [](const std::string&) { return std::optional<std::string>(); },
                         .file = [](const std::string&) { return std::optional<std::string>(); }},
      registry_);
  front->actions =
      std::make_shared<const Actions>(*front->models, ActionOptions{.inference_url = upstream_->base_url()});
  front->custom = [custom = std::make_shared<CustomActionsOf>(
                       front->models, front->actions,
                       PythonOptions{.python = "/usr/bin/python3", .timeout = std::chrono::seconds(5)})](
                      const ConfigurationPtr& each) { return (*custom)(each); };
  const std::shared_ptr<sql::Database> database = sql::Database::open("sqlite:" + (folder_ / "db"), "").value();
  EXPECT_TRUE(sql::migrate(*database, conversation_migrations()).has_value());
  front->threads = threads_ = std::make_shared<Threads>(database, "owner", ConversationOptions{});
  front->metrics = std::make_shared<GuardrailMetrics>(registry_);
  app_ = web::test::start(routes(front));
}

Serving::~Serving() {
  app_.reset();
  threads_->settle();
}

void Serving::serve(ConfigurationPtr configuration, Script script) {
  const std::scoped_lock lock(mutex_);
  configuration_ = std::move(configuration);
  script_ = std::move(script);
  before_ = upstream_->count();
}

std::vector<Asked> Serving::asked() const {
  auto out = upstream_->asked();
  const std::scoped_lock lock(mutex_);
  out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(before_));
  return out;
}

web::test::Reply Serving::post(const std::string& path, const std::string& body) const {
  return web::test::ask(*app_, "POST " + path, body, "Content-Type: application/json\r\n");
}

web::Answer main_answer(const Asked& asked, const std::vector<std::string>& pieces, const std::string& calls) {
  const std::string called = calls.empty() ? ""
                                           : R"([{"index":0,"id":"1","type":"function","function":{"name":")" + calls +
                                                 R"(","arguments":"{\"q\":\"x\"}"}}])";
  const std::string reason = calls.empty() ? "stop" : "tool_calls";
  const auto choice = [&](std::string_view key, std::string_view text, bool last) {
    return json::object_text([&](json::Writer& w) {
      w.member("model", "main");
      w.array("choices", [&] {
        w.object([&] {
          w.member("index", 0);
          w.object(key, [&] {
            if (!last || key == "message") w.member("content", text);
            if (last && !called.empty()) {
              w.key("tool_calls");
              w.raw(called);
            }
          });
          if (last) w.member("finish_reason", reason);
        });
      });
    });
  };
  if (!json::flag(*Read(asked.body), {"stream"})) {
    std::string text;
    for (const std::string& each : pieces) text += each;
    return json_reply(200, choice("message", text, true));
  }
  std::string events;
  for (const std::string& each : pieces) events += "data: " + choice("delta", each, false) + "\n\n";
  events += "data: " + choice("delta", "", true) + "\n\ndata: [DONE]\n\n";
  return event_stream(std::move(events));
}

ConfigurationPtr configuration_of(const std::vector<std::pair<std::string, std::string>>& files) {
  std::vector<File> all = {{"a.yml", "models:\n  - {type: main, engine: openai, model: main}\n", "row/a.yml"}};
  for (const auto& [name, text] : files)
    if (!text.empty()) all.push_back({name, text, "row/" + name});
  const ReadConfiguration read = read_configuration("row", all);
  for (const validate::Finding& each : read.findings)
    EXPECT_NE(each.severity, validate::Severity::error) << each.path << ": " << validate::to_line(each);
  return read.configuration;
}

}  // namespace stackgate::guardrail::test
