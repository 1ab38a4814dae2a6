#include "services/evaluator/suite/retrieval/retriever_task.hpp"

#include <algorithm>
#include <cmath>

#include "services/evaluator/suite/mean_scores.hpp"
#include "services/evaluator/suite/retrieval/ranked.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::size_t shown = 20;  // documents of a record

}  // namespace

RetrieverTask::RetrieverTask(std::string name, std::vector<RetrievalQuery> queries, std::vector<std::uint32_t> cutoffs)
    : name_(std::move(name)), queries_(std::move(queries)), cutoffs_(std::move(cutoffs)) {}

bool has_relevant(const RetrievalQuery& query) {
  return std::ranges::any_of(query.relevant, [](const auto& each) { return each.second > 0; });
}

Asked ask_retriever(const RetrievalQuery& query) {
  return {.whom = Whom::retriever, .question = {.prompt = query.question}};
}

std::vector<Asked> RetrieverTask::next(std::size_t sample, std::span<const Reply> replies) const {
  const RetrievalQuery& query = queries_.at(sample);
  if (!replies.empty() || !has_relevant(query)) return {};
  return {ask_retriever(query)};
}

Scored RetrieverTask::score(std::size_t sample, std::span<const Reply> replies) const {
  const RetrievalQuery& query = queries_.at(sample);
  Scored out{.values = std::vector<double>(cutoffs_.size() * 3 + 2, no_value)};
  Ranked ranked;
  if (!replies.empty()) {
    if (!replies[0].answer) {
      out.fault = replies[0].fault;
    } else if (auto read = read_ranked(replies[0].answer->text); !read) {
      out.fault = read.error();
    } else {
      ranked = std::move(*read);
      std::erase_if(ranked, [&](const auto& each) { return each.first == query.id; });
      out.values = ranking_values({ranked.begin(), ranked.end()}, query.relevant, cutoffs_);
    }
  }
  out.record = json::object_text([&](json::Writer& w) {
    w.member("id", query.id);
    w.member("question", query.question);
    if (!has_relevant(query)) w.member("skipped", "no document is relevant to it");
    w.array("retrieved", [&] {
      for (const auto& each : std::span(ranked).first(std::min(ranked.size(), shown)))
        w.object([&] {
          w.member("document", each.first);
          w.member("score", each.second);
          const auto gain = query.relevant.find(each.first);
          w.member("gain", gain == query.relevant.end() ? 0.0 : gain->second);
        });
    });
    w.member("relevant", static_cast<std::uint64_t>(
                             std::ranges::count_if(query.relevant, [](const auto& each) { return each.second > 0; })));
    w.object("scores", [&] {
      const auto names = ranking_names(cutoffs_);
      for (std::size_t i = 0; i < names.size(); ++i)
        if (std::isfinite(out.values[i])) w.member(names[i], out.values[i]);
    });
  });
  return out;
}

TaskResult RetrieverTask::result(std::span<const std::vector<double>> values, std::uint64_t failed) const {
  TaskResult out{
      .name = name_, .version = std::string(retrieval_version), .samples = values.size() + failed, .failed = failed};
  const auto names = ranking_names(cutoffs_);
  for (std::size_t i = 0; i < names.size(); ++i)
    out.scores.push_back(mean_score("evaluation", names[i], column_of(values, i)));
  return out;
}

}  // namespace stackgate::evaluator
