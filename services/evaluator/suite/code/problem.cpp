#include "services/evaluator/suite/code/problem.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "services/kit/json/read.hpp"

namespace stackgate::evaluator {
namespace {

/// All that bigcode's harness stops at; the first four are sent.
constexpr std::array<std::string_view, 7> function_stops = {"\nclass ", "\ndef ", "\nif __name__", "\nprint(",
                                                            "\n#",      "\n@",    "\n```"};
constexpr std::array<std::string_view, 6> script_stops = {"\nclass ", "\nassert ", "\n\"\"\"",
                                                          "\nprint(", "\n<|/",     "\n```"};

std::span<const std::string_view> stops_of(const Problem& problem) {
  if (problem.continues) return function_stops;
  return script_stops;
}

/// What stands between the first line that begins with ``` and the next one; nothing: there is no such block.
std::string_view first_block(std::string_view text) {
  const std::size_t fence = text.starts_with("```") ? 0 : text.find("\n```");
  if (fence == std::string_view::npos) return {};
  const std::size_t line_end = text.find('\n', fence + 1);
  if (line_end == std::string_view::npos) return {};
  text.remove_prefix(line_end + 1);
  return text.substr(0, text.starts_with("```") ? 0 : std::min(text.find("\n```"), text.size()));
}

bool defines(std::string_view code, std::string_view function) {
  return code.starts_with(fmt::format("def {}(", function)) || code.contains(fmt::format("\ndef {}(", function));
}

/// The prompt up to its function: imports, and functions that it uses.
std::string_view beginning(const Problem& problem) {
  const std::string start = fmt::format("def {}(", problem.entry_point);
  const std::string_view prompt = problem.prompt;
  if (prompt.starts_with(start)) return {};
  const std::size_t at = prompt.find("\n" + start);
  return at == std::string_view::npos ? std::string_view() : prompt.substr(0, at + 1);
}

std::string joined(const json::Value& lines) {
  std::string out;
  for (const json::Value& each : lines.items()) out.append(each.string()).append("\n");
  return out;
}

std::expected<Problem, std::string> read_mbpp(const json::Value& row, Problem out) {
  std::string_view text = json::text(&row, {"text"});
  if (text.empty()) text = json::text(&row, {"prompt"});
  const std::string asserts = joined(json::value_at(&row, {"test_list"}));
  if (text.empty()) return std::unexpected(R"(has no "text" or "prompt")");
  if (asserts.empty()) return std::unexpected(R"(has an empty "test_list")");
  out.tests = joined(json::value_at(&row, {"test_imports"}));
  out.tests.append(json::text(&row, {"test_setup_code"})).append("\n").append(asserts);
  out.prompt = fmt::format("\"\"\"\n{}\n{}\"\"\"\n", text, asserts);
  return out;
}

}  // namespace

std::expected<Problem, std::string> read_problem(const json::Value& row) {
  Problem out{.id = json::scalar_text(json::value_at(&row, {"task_id"}))};
  if (row.find("test_list") != nullptr) return read_mbpp(row, std::move(out));
  out.prompt = json::text(&row, {"prompt"});
  out.entry_point = json::text(&row, {"entry_point"});
  out.continues = true;
  const std::string_view test = json::text(&row, {"test"});
  if (out.prompt.empty()) return std::unexpected(R"(has no "prompt")");
  if (test.empty() || out.entry_point.empty())
    return std::unexpected(R"(has neither "test" and "entry_point", as HumanEval, nor "test_list", as MBPP)");
  out.tests = fmt::format("{}\ncheck({})\n", test, out.entry_point);
  return out;
}

std::string chat_prompt(const Problem& problem) {
  return problem.continues
             ? fmt::format(
                   "Complete this Python function. Answer with the whole function, its imports included, in one "
                   "Markdown code block.\n\n```python\n{}\n```",
                   problem.prompt)
             : fmt::format("Solve this in Python. Answer with the code alone, in one Markdown code block.\n\n{}",
                           problem.prompt);
}

std::vector<std::string> stop_sequences(const Problem& problem) {
  const auto all = stops_of(problem).first(4);
  return {all.begin(), all.end()};
}

std::string program_of(const Problem& problem, std::string_view answer, bool is_chat) {
  if (is_chat) {
    const bool has_block = answer.starts_with("```") || answer.contains("\n```");
    const std::string_view code = has_block ? first_block(answer) : answer;
    if (!problem.continues) return std::string(code);
    // A body alone goes on with the prompt.
    if (!defines(code, problem.entry_point)) return fmt::format("{}{}", problem.prompt, code);
    return fmt::format("{}{}", beginning(problem), code);
  }
  std::size_t end = answer.size();
  for (const std::string_view stop : stops_of(problem)) end = std::min(end, answer.find(stop));
  return fmt::format("{}{}", problem.prompt, answer.substr(0, end));
}

std::string tested(const Problem& problem, std::string_view program) {
  return fmt::format("{}\n\n{}", program, problem.tests);
}

}  // namespace stackgate::evaluator
