#include <algorithm>

#include "services/guardrail/configuration/parts.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {
namespace {

void check_version(const Tree& root, Report& report) {
  const Tree* version = root.find("colang_version");
  if (version == nullptr) return;
  const std::string text = version->scalar();
  if (text == "1.0" || text == "1") return;
  const bool second = text.starts_with('2');
  report.error(rule::unsupported, version->origin, "colang_version",
               second ? "Colang 2 is not served" : concat({"there is no Colang ", in_quotes(text)}),
               second ? "write the flows in Colang 1.0, and colang_version: \"1.0\"" : "write colang_version: \"1.0\"");
}

std::string general_instructions(const Tree& root, Report& report) {
  std::string out;
  const Tree* list = root.find("instructions");
  if (list == nullptr) return out;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const Tree& each = list->items[i];
    const std::string type = text_of(&each, "type");
    if (type == "general") {
      // The anchor takes the first; of several files each may have some.
      if (!out.empty()) out += "\n";
      out += text_of(&each, "content");
    } else if (!type.empty()) {
      report.warning(rule::value, each.find("type")->origin, concat({"instructions[", std::to_string(i), "].type"}),
                     concat({"there are no instructions of type ", in_quotes(type)}), "write general");
    }
  }
  return out;
}

void read_streaming(const Tree& root, StreamRules& out, Report& report) {
  const Tree* given = root.at("rails.output.streaming");
  if (given == nullptr) return;
  out.enabled = flag_of(given, "enabled");
  out.chunk_size = static_cast<std::uint32_t>(number_of(given, "chunk_size", out.chunk_size));
  out.context_size = static_cast<std::uint32_t>(number_of(given, "context_size", out.context_size));
  out.stream_first = flag_of(given, "stream_first");
  if (out.enabled && out.stream_first)
    report.warning(rule::streaming, given->find("stream_first")->origin, "rails.output.streaming.stream_first",
                   "lets text leave before output rails have looked at it", "write false, or leave it out");
  if (out.context_size > out.chunk_size && given->find("context_size") != nullptr)
    report.warning(rule::streaming, given->find("context_size")->origin, "rails.output.streaming.context_size",
                   "is larger than chunk_size: most of the text is judged several times", "write a smaller one");
}

void read_dialog(const Tree& root, DialogRules& out) {
  const Tree* single = root.at("rails.dialog.single_call");
  out.single_call = flag_of(single, "enabled");
  out.fallback_to_multiple_calls = flag_of(single, "fallback_to_multiple_calls", true);
  const Tree* user = root.at("rails.dialog.user_messages");
  out.embeddings_only = flag_of(user, "embeddings_only");
  out.embeddings_only_fallback_intent = text_of(user, "embeddings_only_fallback_intent");
  if (user != nullptr && user->find("embeddings_only_similarity_threshold") != nullptr)
    out.embeddings_only_threshold = number_of(user, "embeddings_only_similarity_threshold", 0);
}

}  // namespace

void read_settings(const Tree& root, Configuration& out, Report& report) {
  check_version(root, report);
  out.description = text_of(&root, "description");
  out.instructions = general_instructions(root, report);
  out.sample_conversation = text_of(&root, "sample_conversation");
  read_streaming(root, out.streaming, report);
  read_dialog(root, out.dialog);
  out.passthrough = flag_of(&root, "passthrough");
  out.exceptions = flag_of(&root, "enable_rails_exceptions");
  out.multi_step_generation = flag_of(&root, "enable_multi_step_generation");
  out.lowest_temperature = number_of(&root, "lowest_temperature", out.lowest_temperature);
  out.actions_server_url = text_of(&root, "actions_server_url");
  if (!out.actions_server_url.empty() && !out.actions_server_url.starts_with("http://") &&
      !out.actions_server_url.starts_with("https://"))
    report.error(rule::value, root.find("actions_server_url")->origin, "actions_server_url", "is no http address",
                 "write one such as http://actions:8001");
  if (const Tree* data = root.find("custom_data")) out.custom_data = value_of(*data);
}

}  // namespace stackgate::guardrail
