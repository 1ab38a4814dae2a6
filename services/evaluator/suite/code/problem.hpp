// A problem whose answer is a program, read: HumanEval's or MBPP's. Pure.
//
//   {"task_id", "prompt": "def f(x):\n    \"\"\"…", "test": "def check(candidate): …", "entry_point": "f"}
//   {"task_id", "text" or "prompt": "Write a function …", "test_list": ["assert f(1) == 2"], "test_imports" or
//    "test_setup_code"}
// Source: https://github.com/openai/human-eval, https://github.com/google-research/google-research/tree/master/mbpp
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

struct Problem {
  std::string id{};
  std::string prompt{};       // what a model that completes gets
  std::string tests{};        // Python that raises where the program is wrong
  std::string entry_point{};  // the function that is called, or ""
  bool continues = false;     // the answer goes on with the prompt, which is part of the program (HumanEval)
};
std::expected<Problem, std::string> read_problem(const json::Value& row);

/// The same for a chat.
std::string chat_prompt(const Problem& problem);

/// Where generated text ends: what is no longer the asked-for function. OpenAI's API takes four of them.
std::vector<std::string> stop_sequences(const Problem& problem);

/// The program of an answer: code out of a Markdown block (the first, or all text where there is none) in a chat; else
/// the text up to the first stop sequence. Behind the prompt, or its beginning, where the answer needs it.
std::string program_of(const Problem& problem, std::string_view answer, bool is_chat);

/// With the tests behind it: what is run.
std::string tested(const Problem& problem, std::string_view program);

}  // namespace stackgate::evaluator
