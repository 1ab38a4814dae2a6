// Renders what tests/e2e/model/chat.sh compares with Jinja2: a JSON line {"template", "request"} in, a JSON line
// {"text"} or
// {"param", "message"} out.
#include <iostream>
#include <string>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/model/chat/chat_templates.hpp"

namespace {

using namespace stackgate;

std::string answer(const json::Value& job) {
  static const model::SpecialTokens tokens{.texts = {{"bos_token", "<s>"}, {"eos_token", "</s>"}}, .additional = {}};
  const model::NamedTemplate source{"default", std::string(json::text_at(job, "template"))};
  const auto clock = [] { return std::chrono::local_seconds(std::chrono::seconds(1'706'692'087)); };
  const auto [templates, findings] =
      model::ChatTemplates::compile(std::span(&source, 1), tokens, {.clock = clock, .limits = {}});
  const json::Value request = job.find("request") == nullptr ? json::Value() : *job.find("request");
  const auto member = [&](std::string_view key) {
    const json::Value* found = request.find(key);
    return found == nullptr ? json::Value() : *found;
  };
  const auto out = templates.render({.messages = member("messages"),
                                     .tools = member("tools"),
                                     .documents = member("documents"),
                                     .kwargs = member("chat_template_kwargs"),
                                     .add_generation_prompt = json::flag_at(request, "add_generation_prompt", true)});
  return json::object_text([&](json::Writer& writer) {
    if (out) return writer.member("text", out->text);
    writer.member("param", out.error().param);
    writer.member("message", out.error().message);
  });
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    json::Document document;
    std::cout << answer(json::parse(line, document).value()) << '\n';
  }
}
