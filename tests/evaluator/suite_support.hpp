// Tasks driven without an engine: scripted answers, data sets in memory, records as values.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "services/evaluator/suite/data_source.hpp"
#include "services/evaluator/suite/task.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator::test {

using Files = std::map<std::string, std::string>;

/// `files` must outlive it.
inline DataSource source_of(const Files& files) {
  DataSource out;
  for (const auto& [path, text] : files) out.paths.push_back(path);
  out.text = [&files](std::string_view path) -> std::expected<std::string, std::string> {
    const auto found = files.find(std::string(path));
    if (found == files.end()) return std::unexpected("is not there");
    return found->second;
  };
  return out;
}

inline Reply text_reply(std::string text) { return {.answer = Answer{.text = std::move(text)}}; }
inline Reply no_reply(std::string fault) { return {.fault = std::move(fault)}; }

using Answering = std::function<Reply(const Asked&)>;

/// All questions of a sample, asked round by round, and what came of them.
struct Driven {
  std::vector<Asked> asked{};
  std::vector<Reply> replies{};
  Scored scored{};
};
inline Driven drive(const Task& task, std::size_t sample, const Answering& answering) {
  Driven out;
  for (int round = 0; round < 50; ++round) {
    const auto questions = task.next(sample, out.replies);
    if (questions.empty()) {
      out.scored = task.score(sample, out.replies);
      json::Document document;
      EXPECT_TRUE(json::parse(out.scored.record, document)) << out.scored.record;
      return out;
    }
    for (const Asked& each : questions) {
      out.asked.push_back(each);
      out.replies.push_back(answering(each));
    }
  }
  ADD_FAILURE() << "the task never ends";
  return out;
}

/// All samples, and the task's result.
inline TaskResult run(const Task& task, const Answering& answering) {
  std::vector<std::vector<double>> values;
  std::uint64_t failed = 0;
  for (std::size_t i = 0; i < task.samples(); ++i) {
    Scored scored = drive(task, i, answering).scored;
    if (scored.fault.empty())
      values.push_back(std::move(scored.values));
    else
      ++failed;
  }
  return task.result(values, failed);
}

/// NaN-safe; fails the test where there is no such score.
inline const Score& score_named(const TaskResult& result, std::string_view name) {
  for (const Score& each : result.scores)
    if (each.name == name) return each;
  ADD_FAILURE() << "no score " << name;
  static const Score none{};
  return none;
}

inline std::vector<std::string> names_of(const TaskResult& result) {
  std::vector<std::string> out;
  for (const Score& each : result.scores) out.push_back(each.metric + "/" + each.name);
  return out;
}

/// What was asked, whichever way.
inline std::string words_of(const Asked& asked) {
  std::string out = asked.question.prompt;
  for (const ChatMessage& each : asked.question.messages) out += each.role + ": " + each.content + "\n";
  return out;
}

}  // namespace stackgate::evaluator::test
