// Configurations as a stranger writes them: one is read or refused with reasons, its prompts are rendered or refused,
// and what a user says is text in them. Files are parted by lines "@@name".
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/configuration/configuration.hpp"
#include "services/guardrail/prompts/lines.hpp"

using namespace stackgate;
using namespace stackgate::guardrail;

namespace {

std::vector<File> parted(std::string_view text) {
  std::vector<File> files = {{"config.yml", {}, "config.yml"}};
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("@@"))
      files.push_back({std::string(line.substr(2)), {}, std::string(line.substr(2))});
    else
      files.back().text.append(line).append("\n");
  }
  return files;
}

/// The values that checks see; what the user says would be 1337 if it were read as a template.
jinja::Value said() {
  auto event = std::make_shared<jinja::Dict>();
  event->set(jinja::Value("type"), jinja::Value("UserMessage"));
  event->set(jinja::Value("text"), jinja::Value("{{ 7 * 191 }}"));
  auto out = std::make_shared<jinja::Dict>();
  out->set(jinja::Value("user_input"), jinja::Value("{{ 7 * 191 }}"));
  out->set(jinja::Value("bot_response"), jinja::Value("{% if 1 %}{{ 7 * 191 }}{% endif %}"));
  out->set(jinja::Value("history"), jinja::Value(jinja::ListPtr(std::make_shared<const jinja::List>(
                                        std::vector<jinja::Value>{jinja::Value(jinja::DictPtr(std::move(event)))}))));
  return {jinja::DictPtr(std::move(out))};
}

void check_prompt(const Prompt& prompt, bool may_say_it) {
  static const jinja::Value values = said();
  const auto rendered = render(prompt, values, [](CodeFunction, std::string_view, const jinja::Arguments& arguments) {
    return std::expected<jinja::Value, std::string>(arguments.positional.at(0));
  });
  if (!rendered) {
    if (rendered.error().message.empty()) std::abort();
    return;
  }
  for (const Message& each : rendered->messages) {
    if (each.role.empty() || each.content.empty()) std::abort();
    if (!may_say_it && each.content.contains("1337")) std::abort();
    (void)parse_output(prompt.output_parser, prompt.task, each.content);
    (void)read_intent_steps(each.content);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<File> files = parted(text);
  const ReadConfiguration read = read_configuration("id", files);
  if ((read.configuration == nullptr) != validate::has_errors(read.findings)) std::abort();
  if (read.draft == nullptr) std::abort();
  for (const validate::Finding& each : read.findings)
    if (each.rule.empty() || each.problem.empty() || (each.path.empty() && !each.problem.starts_with("there are ")))
      std::abort();
  (void)split_by_configuration(files, true);
  (void)split_by_configuration(files, false);
  if (read.configuration == nullptr) return 0;
  // A template of the stranger's own may compute anything out of numbers and operators of its own.
  for (const Prompt& each : read.configuration->prompts.prompts)
    check_prompt(each, text.find_first_of("123456789") != text.npos);
  // All is read again for it, which takes as long as everything above.
  const bool is_combined = text.size() % 4 == 0;
  if (is_combined && combine({read.configuration, read.configuration}).configuration == nullptr) std::abort();
  return 0;
}
