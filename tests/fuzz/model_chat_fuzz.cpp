// The first line of the bytes is a request in JSON, the rest a chat template: a text, or a fault with its parameter.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/kit/json/parse.hpp"
#include "services/model/chat/chat_templates.hpp"

using namespace stackgate;
using namespace stackgate::model;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SpecialTokens tokens{.texts = {{"bos_token", "<s>"}}, .additional = {"<a>"}};
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = all.find('\n');
  if (end == std::string_view::npos) return 0;
  const NamedTemplate source{"default", std::string(all.substr(end + 1))};
  const auto [templates, findings] =
      ChatTemplates::compile(std::span(&source, 1), tokens,
                             {.clock = {}, .limits = {.steps = 20'000, .output = 1U << 16U, .allocation = 1U << 22U}});
  if (templates.empty() == findings.empty()) std::abort();
  json::Document document;
  const auto body = json::parse(all.substr(0, end), document, {.max_depth = 200});
  if (!body) return 0;
  const auto member = [&](std::string_view key) {
    const json::Value* found = body->find(key);
    return found == nullptr ? json::Value() : *found;
  };
  const auto out = templates.render({.messages = member("messages"),
                                     .tools = member("tools"),
                                     .documents = member("documents"),
                                     .kwargs = member("chat_template_kwargs")});
  if (!out && out.error().param.empty()) std::abort();  // the message is empty for raise_exception('')
  return 0;
}
