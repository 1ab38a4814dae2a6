#include "services/guardrail/python/protocol.hpp"

#include "services/kit/jinja/from_value.hpp"
#include "services/kit/jinja/to_json.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t most_prompt_messages = 100, most_events = 100;

void write_variable(json::Writer& w, const std::string& name, const jinja::Value& value) {
  w.key(name);
  jinja::write_json(w, value);
}

/// Without `config`, which is a member of its own.
void write_variables(json::Writer& w, std::string_view key, const SharedVariables& values) {
  w.object(key, [&] {
    values.each([&](const std::string& name, const jinja::Value& value) {
      if (name != "config") write_variable(w, name, value);
    });
  });
}

template <class Write>
std::string line_of(const Write& write) {
  std::string out;
  json::Writer w(out);
  w.object([&] { write(w); });
  return out += '\n';
}

jinja::Value value_of(const json::Value* value) {
  if (value == nullptr) return jinja::None{};
  return jinja::from_json(*value).value_or(jinja::Value(jinja::None{}));
}

/// A text, or the contents of messages.
std::string prompt_of(const json::Value& asked) {
  const json::Value* prompt = asked.find("prompt");
  if (prompt == nullptr) return {};
  if (prompt->is_string()) return std::string(prompt->string());
  std::string out;
  std::size_t count = 0;
  for (const json::Value& each : prompt->items())
    if (count++ < most_prompt_messages) {
      const std::string_view text = each.is_string() ? each.string() : json::text(&each, {"content"});
      out += (out.empty() ? "" : "\n") + std::string(text);
    }
  return out;
}

WorkerAsks asks_of(const json::Value& asked) {
  WorkerAsks out{.prompt = prompt_of(asked)};
  if (const json::Value* stop = asked.find("stop")) {
    if (stop->is_string()) out.stop.emplace_back(stop->string());
    for (const json::Value& each : stop->items()) out.stop.emplace_back(each.string());
  }
  if (const json::Value* number = asked.find("temperature"); number != nullptr && number->is_number())
    out.temperature = number->number();
  if (const json::Value* number = asked.find("max_tokens"); number != nullptr) out.max_tokens = number->integer();
  return out;
}

std::vector<std::string> names_of(const json::Value& root, std::string_view key) {
  std::vector<std::string> out;
  for (const json::Value& each : json::items(&root, {key})) out.emplace_back(each.string());
  return out;
}

}  // namespace

std::string to_line(const WorkerStart& start) {
  return line_of([&](json::Writer& w) {
    w.array("files", [&] {
      for (const PythonFile& each : start.files)
        w.object([&] {
          w.member("name", each.name);
          w.member("text", each.text);
        });
    });
    w.member("network", start.network);
    w.member("seconds", std::uint64_t{start.seconds});
  });
}

std::string to_line(const ActionRequest& request) {
  return line_of([&](json::Writer& w) {
    w.member("action", request.action);
    w.object("parameters", [&] {
      for (const auto& [name, value] : request.parameters) write_variable(w, name, value);
    });
    write_variables(w, "context", request.context);
    w.key("config");
    const jinja::Value* const config = request.context.find("config");
    jinja::write_json(w, config == nullptr ? jinja::Value(jinja::None{}) : *config);
    if (request.events.list() == nullptr) return;
    w.key("events");
    jinja::write_json(w, request.events);
  });
}

std::string to_line(const FunctionRequest& request) {
  return line_of([&](json::Writer& w) {
    w.member(request.kind == CodeFunction::filter ? "filter" : "parser", request.name);
    w.array("arguments", [&] {
      for (const jinja::Value& each : request.arguments.positional) jinja::write_json(w, each);
    });
    w.object("named", [&] {
      for (const auto& [name, value] : request.arguments.named) write_variable(w, name, value);
    });
  });
}

std::string to_line(const std::expected<std::string, std::string>& answer) {
  return line_of([&](json::Writer& w) { w.member(answer ? "text" : "error", answer ? *answer : answer.error()); });
}

WorkerLine read_worker_line(std::string_view line) {
  json::Document document;
  const auto root = json::parse(line, document, {.max_depth = 100});
  if (!root || !root->is_object()) return WorkerFault{"the worker wrote no JSON"};
  if (const json::Value* error = root->find("error")) {
    const json::Value* number = root->find("line");
    return WorkerFault{.error = std::string(error->string()),
                       .file = std::string(json::text(&*root, {"file"})),
                       .line = number == nullptr ? 0 : static_cast<std::uint32_t>(number->integer())};
  }
  if (const json::Value* asked = root->find("llm")) return asks_of(*asked);
  if (root->find("actions") != nullptr)
    return WorkerReady{names_of(*root, "actions"), names_of(*root, "filters"), names_of(*root, "parsers")};
  if (root->find("value") == nullptr) return WorkerFault{"the worker gave no value"};
  WorkerDone out;
  out.result.value = value_of(root->find("value"));
  if (const json::Value* updates = root->find("context_updates"))
    for (const json::Member& each : updates->members())
      out.result.context_updates.insert_or_assign(std::string(each.key), value_of(&each.value));
  for (const json::Value& each : json::items(&*root, {"events"})) {
    Event event{.type = std::string(json::text_at(each, "type"))};
    if (event.type.empty() || out.result.events.size() == most_events)
      return WorkerFault{"its events are none, or too many"};
    for (const json::Member& member : each.members())
      if (member.key != "type") event.values.insert_or_assign(std::string(member.key), value_of(&member.value));
    out.result.events.push_back(std::move(event));
  }
  return out;
}

}  // namespace stackgate::guardrail
