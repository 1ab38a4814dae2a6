#include "services/evaluator/suite/code/code_task.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/evaluator/metrics/likelihoods.hpp"
#include "services/evaluator/suite/code/problem.hpp"
#include "services/evaluator/suite/mean_scores.hpp"
#include "services/evaluator/suite/questions.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::uint32_t program_tokens = 512;
// bigcode's own, where several programs are asked for: the same ones over again would say nothing.
constexpr double several_temperature = 0.2, several_top_p = 0.95;

Problem open(const TaskRow& row) {
  json::Document document;
  const auto root = json::parse(row.text, document, {.max_depth = 64, .max_bytes = largest_row});
  return root ? read_problem(*root).value_or(Problem{}) : Problem{};
}

struct Ran {
  bool ran = false, passed = false;
  std::string program{}, reason{};
};

Ran read_run(const Reply& reply) {
  if (!reply.answer) return {.reason = reply.fault};
  json::Document document;
  const auto root = json::parse(reply.answer->text, document);
  if (!root || !root->is_object()) return {.reason = "the runner's answer is none"};
  return {.ran = true, .passed = json::flag(&*root, {"passed"}), .reason = std::string(json::text(&*root, {"reason"}))};
}

}  // namespace

std::vector<Asked> CodeTask::next(std::size_t sample, std::span<const Reply> replies) const {
  const Problem problem = open(rows_.rows.at(sample));
  const std::size_t programs = request_.code.programs;
  const bool is_chat = request_.requests.chat;
  std::vector<Asked> out;
  if (replies.empty()) {
    for (std::size_t i = 0; i < programs; ++i) {
      Asked each = ask_model(request_, is_chat ? chat_prompt(problem) : problem.prompt);
      each.question.max_tokens = std::max(program_tokens, request_.requests.max_tokens);
      each.question.seed = request_.seed + i;
      if (programs > 1) {
        each.question.temperature = request_.requests.temperature.value_or(several_temperature);
        if (!each.question.top_p) each.question.top_p = several_top_p;
      }
      if (!is_chat) each.question.stop = stop_sequences(problem);
      out.push_back(std::move(each));
    }
    return out;
  }
  if (replies.size() > programs) return {};
  for (const Reply& reply : replies) {
    if (!reply.answer) continue;
    Asked each{.whom = Whom::runner};
    each.question.prompt = tested(problem, program_of(problem, reply.answer->text, is_chat));
    out.push_back(std::move(each));
  }
  return out;
}

Scored CodeTask::score(std::size_t sample, std::span<const Reply> replies) const {
  const TaskRow& text = rows_.rows.at(sample);
  const Problem problem = open(text);
  const std::size_t programs = std::min<std::size_t>(request_.code.programs, replies.size());
  std::vector<Ran> runs;
  std::string fault = "was not asked";
  std::size_t next_run = programs;
  for (const Reply& reply : replies.first(programs)) {
    if (!reply.answer) {
      fault = reply.fault;
      continue;
    }
    Ran ran = next_run < replies.size() ? read_run(replies[next_run++]) : Ran{.reason = "was not run"};
    ran.program = program_of(problem, reply.answer->text, request_.requests.chat);
    if (!ran.ran) fault = ran.reason;
    runs.push_back(std::move(ran));
  }
  const auto ran = static_cast<std::size_t>(std::ranges::count(runs, true, &Ran::ran));
  const auto passed = static_cast<std::size_t>(std::ranges::count(runs, true, &Ran::passed));
  Scored out;
  if (ran == 0)
    out.fault = fault;
  else
    out.values = {static_cast<double>(ran), static_cast<double>(passed)};
  out.record = json::object_text([&](json::Writer& w) {
    w.key("item");
    w.raw(text.text);
    w.array("programs", [&] {
      for (const Ran& each : runs)
        w.object([&] {
          w.member("output_text", each.program);
          w.member("passed", each.passed);
          if (!each.reason.empty()) w.member("reason", each.reason);
        });
    });
    if (!out.fault.empty()) return w.member("fault", out.fault);
    w.object("scores", [&] {
      for (const std::uint32_t k : request_.code.ks)
        if (const auto value = pass_at_k(ran, passed, k)) w.member(fmt::format("pass@{}", k), *value);
    });
  });
  return out;
}

TaskResult CodeTask::result(std::span<const std::vector<double>> values, std::uint64_t failed) const {
  TaskResult out{.name = name_, .version = "1", .samples = values.size() + failed, .failed = failed};
  for (const std::uint32_t k : request_.code.ks) {
    std::vector<double> each;
    for (const std::vector<double>& row : values)
      each.push_back(pass_at_k(static_cast<std::uint64_t>(row.at(0)), static_cast<std::uint64_t>(row.at(1)), k)
                         .value_or(no_value));
    out.scores.push_back(mean_score("pass_at_k", fmt::format("pass@{}", k), each));
  }
  return out;
}

}  // namespace stackgate::evaluator
