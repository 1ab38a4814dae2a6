#include <algorithm>

#include <fmt/format.h>

#include "services/guardrail/configuration/parts.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {
namespace {

class PromptReader {
 public:
  PromptReader(const Tree& tree, std::string path, const PromptCode& code, Report& report)
      : tree_(tree), path_(std::move(path)), code_(code), report_(report) {}

  Prompt read() {
    Prompt out{.task = text_of(&tree_, "task"), .models = texts_of(&tree_, "models"), .parts = {}};
    out.output_parser = text_of(&tree_, "output_parser");
    out.max_length = static_cast<std::size_t>(number_of(&tree_, "max_length", 16'000));
    out.stop = texts_of(&tree_, "stop");
    out.mode = text_of(&tree_, "mode", "standard");
    if (const double tokens = number_of(&tree_, "max_tokens", 0); tokens >= 1)
      out.max_tokens = static_cast<std::uint32_t>(tokens);
    // Of a parser that is named here nobody knows how much it reads.
    else if (out.output_parser.empty())
      out.max_tokens = usual_max_tokens(out.task);
    if (!out.output_parser.empty()) find_parser(out);
    parts(out);
    return out;
  }

 private:
  void find_parser(Prompt& out) {
    out.parsed_by_code = std::ranges::find(code_.parsers, out.output_parser) != code_.parsers.end();
    if (out.parsed_by_code) return;
    std::vector<std::string_view> known = known_parsers();
    if (std::ranges::find(known, out.output_parser) != known.end()) return;
    out.parsed_by_code = code_.any_parser;
    if (out.parsed_by_code) return;
    known.insert(known.end(), code_.parsers.begin(), code_.parsers.end());
    error(*tree_.find("output_parser"), "output_parser",
          concat({"there is no parser ", in_quotes(out.output_parser), did_you_mean(out.output_parser, known)}),
          "write one of the README's, register it in config.py, or leave it out: each task has its own");
  }

  void error(const Tree& at, std::string_view key, std::string problem, std::string fix) {
    report_.error(rule::prompt, at.origin, concat({path_, ".", key}), std::move(problem), std::move(fix));
  }

  void parts(Prompt& out) {
    const Tree* content = tree_.find("content");
    const Tree* messages = tree_.find("messages");
    if ((content == nullptr) == (messages == nullptr))
      return error(tree_, "content", content == nullptr ? "is missing" : "stands beside messages",
                   "write either content or messages");
    if (content != nullptr) {
      if (content->is(json::Type::string)) add(out, *content, "content", content_part(content->text, code_));
      return;
    }
    if (!messages->is(json::Type::array) || messages->items.empty())
      return error(*messages, "messages", "must be a list of messages", "write a list of `type` and `content`");
    for (std::size_t i = 0; i < messages->items.size(); ++i)
      message(out, messages->items[i], fmt::format("messages[{}]", i));
  }

  void message(Prompt& out, const Tree& item, const std::string& key) {
    if (item.is(json::Type::string)) return add(out, item, key, messages_part(item.text, code_));
    const Tree* type = item.find("type");
    const Tree* content = item.find("content");
    if (type == nullptr || content == nullptr || !type->is(json::Type::string) || !content->is(json::Type::string))
      return error(item, key, "must have a type and a content, or be a template for messages",
                   "write `- type: system` and `content: …`");
    for (const Tree& each : item.members)
      if (each.key != "type" && each.key != "content")
        report_.warning(rule::unknown_key, each.key_origin, concat({path_, ".", key, ".", each.key}),
                        concat({"there is no key ", in_quotes(each.key)}), "remove it");
    add(out, *content, key + ".content", message_part(type->text, content->text, code_));
  }

  void add(Prompt& out, const Tree& at, std::string_view key, std::expected<PromptPart, jinja::Fault> part) {
    if (part) return out.parts.push_back(std::move(*part));
    const jinja::Fault& fault = part.error();
    error(at, key, concat({"is no template: ", jinja::describe(fault), line_of(at.text, fault.line)}),
          "correct the template; its lines count from the beginning of this text");
  }

  /// " (`{% if %}`)": the line that a fault is in.
  static std::string line_of(std::string_view text, std::size_t line) {
    if (line == 0) return {};
    for (; line > 1; --line) {
      const std::size_t end = text.find('\n');
      if (end == std::string_view::npos) return {};
      text.remove_prefix(end + 1);
    }
    return concat({" in ", in_quotes(text.substr(0, text.find('\n')))});
  }

  const Tree& tree_;
  std::string path_;
  const PromptCode& code_;
  Report& report_;
};

std::string_view bare(std::string_view task) { return task.substr(0, task.find(" $")); }

/// A task that nobody asks for: misspelt when it is near one, else of the user's own code.
void check_task(const Prompt& prompt, const Tree& at, const std::string& path, Report& report) {
  const std::string_view task = bare(prompt.task);
  if (std::ranges::find(known_tasks(), task) != known_tasks().end()) return;
  const std::string near = did_you_mean(task, known_tasks());
  if (near.empty()) return;
  report.warning(rule::prompt, at.origin, path + ".task", concat({"there is no task ", in_quotes(task), near}),
                 "its prompt is used only by code of your own");
}

/// "… $model=x": x must be a model.
void check_model(const Prompt& prompt, const std::vector<Model>& models, const Tree& at, const std::string& path,
                 Report& report) {
  constexpr std::string_view mark = " $model=";
  const std::size_t found = prompt.task.find(mark);
  if (found == std::string::npos) return;
  const std::string_view name = std::string_view(prompt.task).substr(found + mark.size());
  if (std::ranges::find(models, name, &Model::type) != models.end()) return;
  std::vector<std::string_view> types;
  types.reserve(models.size());
  for (const Model& each : models) types.push_back(each.type);
  report.error(rule::model, at.origin, path + ".task",
               concat({"there is no model of type ", in_quotes(name), did_you_mean(name, types)}),
               concat({"add it to models, with `type: ", name, "`"}));
}

}  // namespace

Prompts read_prompts(const Tree& root, const std::vector<Model>& models, const PromptCode& code, Report& report) {
  Prompts out;
  out.mode = text_of(&root, "prompting_mode", "standard");
  const Tree* prompts = root.find("prompts");
  if (prompts == nullptr) return out;
  for (std::size_t i = 0; i < prompts->items.size(); ++i) {
    const Tree& tree = prompts->items[i];
    if (!tree.is(json::Type::object)) continue;
    const std::string path = fmt::format("prompts[{}]", i);
    Prompt prompt = PromptReader(tree, path, code, report).read();
    if (prompt.task.empty()) continue;
    const Tree& at = *tree.find("task");
    check_task(prompt, at, path, report);
    check_model(prompt, models, at, path, report);
    out.prompts.push_back(std::move(prompt));
  }
  return out;
}

}  // namespace stackgate::guardrail
