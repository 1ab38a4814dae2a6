#include "services/evaluator/suite/retrieval/rag_task.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "services/evaluator/suite/mean_scores.hpp"
#include "services/evaluator/suite/questions.hpp"
#include "services/evaluator/suite/retrieval/judge.hpp"
#include "services/evaluator/suite/retrieval/ranked.hpp"
#include "services/evaluator/suite/retrieval/retriever_task.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::size_t most_sentences = 100;        // of a reference
constexpr std::size_t shown_context_bytes = 1000;  // of each context in a record

/// Up to so many bytes, whole characters.
std::string_view beginning_of(std::string_view text) {
  if (text.size() <= shown_context_bytes) return text;
  std::size_t end = shown_context_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

Asked ask_embedder(std::string_view question, const std::vector<std::string>& others) {
  Asked out{.whom = Whom::embedder};
  out.question.messages.push_back({"user", std::string(question)});
  for (const std::string& each : others) out.question.messages.push_back({"user", each});
  return out;
}

}  // namespace

/// One sample as far as its replies go.
struct RagTask::Walk {
  const RetrievalQuery& query;
  std::span<const Reply> replies;
  std::size_t at = 0;
  std::vector<Asked> missing{};  // to be asked next

  Ranked ranked{};
  std::vector<std::string> contexts{};
  std::string response{}, fault{};
  std::vector<std::string> statements{};
  std::vector<bool> supported{}, useful{}, attributed{};
  GeneratedQuestions generated{};
  double faithfulness = no_value, relevancy = no_value, precision = no_value, recall = no_value;
  std::vector<std::string> reasons{};  // why a score is none

  /// The reply to the next question of the sample; nullptr: it is to be asked.
  const Reply* ask(Asked question) {
    if (at < replies.size()) return &replies[at++];
    missing.push_back(std::move(question));
    return nullptr;
  }
  /// What was judged; nothing without an answer or with one that is none, and why.
  template <class T>
  std::optional<T> read(std::string_view score, const Reply& reply, Judged<T> (*reader)(std::string_view)) {
    return take(score, reply, reply.answer ? reader(reply.answer->text) : Judged<T>());
  }
  template <class T>
  std::optional<T> take(std::string_view score, const Reply& reply, Judged<T> judged) {
    if (reply.answer && judged) return std::move(*judged);
    reasons.push_back(fmt::format("{}: {}", score, reply.answer ? judged.error() : reply.fault));
    return std::nullopt;
  }
};

RagTask::RagTask(std::string name, const EvaluationRequest& request, RagTemplates templates, RetrievalData data,
                 std::vector<Passage> passages)
    : name_(std::move(name)),
      request_(request),
      templates_(std::move(templates)),
      data_(std::move(data)),
      passages_(std::move(passages)),
      has_embedder_(request.embeddings.has_value()) {
  for (std::uint32_t i = 0; i < passages_.size(); ++i) passage_numbers_.emplace(passages_[i].id, i);
  for (Document& each : data_.documents) each.text.clear();  // the passages have it
  if (std::ranges::any_of(data_.queries, has_relevant)) cutoffs_ = request.retrieval.cutoffs;
  has_references_ = std::ranges::any_of(data_.queries, [](const auto& each) { return !each.reference.empty(); });
  if (!cutoffs_.empty()) names_ = ranking_names(cutoffs_);
  names_.emplace_back("faithfulness");
  if (has_embedder_) names_.emplace_back("answer_relevancy");
  names_.emplace_back("context_precision");
  if (has_references_) names_.emplace_back("context_recall");
}

bool RagTask::find_contexts(Walk& walk) const {
  if (walk.query.contexts) {
    walk.contexts = *walk.query.contexts;
    return true;
  }
  const Reply* reply = walk.ask(ask_retriever(walk.query));
  if (reply == nullptr) return false;
  if (!reply->answer) {
    walk.fault = reply->fault;
    return false;
  }
  auto ranked = read_ranked(reply->answer->text);
  if (!ranked) {
    walk.fault = std::move(ranked.error());
    return false;
  }
  walk.ranked = std::move(*ranked);
  for (const auto& [id, score] : walk.ranked) {
    const auto found = passage_numbers_.find(id);
    if (found == passage_numbers_.end()) {
      walk.fault = fmt::format("the retriever found \"{}\", which is none of the data set's passages", id);
      return false;
    }
    if (walk.contexts.size() < request_.retrieval.top_k) walk.contexts.push_back(passages_[found->second].text);
  }
  return true;
}

bool RagTask::find_response(Walk& walk) const {
  if (walk.query.response) {
    walk.response = *walk.query.response;
    return true;
  }
  if (templates_.response) {
    auto response = templates_.response->render(walk.query.row, walk.query.question, walk.contexts);
    if (response)
      walk.response = std::move(*response);
    else
      walk.fault = fmt::format("the template \"response\": {}", response.error());
    return response.has_value();
  }
  auto prompt = templates_.prompt.render(walk.query.row, walk.query.question, walk.contexts);
  if (!prompt) {
    walk.fault = fmt::format("the template \"prompt\": {}", prompt.error());
    return false;
  }
  const Reply* reply = walk.ask(ask_model(request_, std::move(*prompt)));
  if (reply == nullptr) return false;
  if (!reply->answer)
    walk.fault = reply->fault;
  else
    walk.response = reply->answer->text;
  return reply->answer.has_value();
}

void RagTask::judge(Walk& walk) const {
  const RetrievalQuery& query = walk.query;
  // All that does not depend on the judge is asked at once, in this order.
  const Reply* statements = walk.ask(ask_judge(request_, statements_prompt(query.question, walk.response)));
  const Reply* questions = has_embedder_ ? walk.ask(ask_judge(request_, questions_prompt(walk.response))) : nullptr;
  const std::string_view answer = query.reference.empty() ? walk.response : std::string_view(query.reference);
  std::vector<const Reply*> useful;
  useful.reserve(walk.contexts.size());
  for (const std::string& context : walk.contexts)
    useful.push_back(walk.ask(ask_judge(request_, usefulness_prompt(query.question, context, answer))));
  std::vector<std::string> sentences;
  for (const std::string_view each : sentences_of(query.reference, most_sentences)) sentences.emplace_back(each);
  const bool has_recall = !sentences.empty() && !walk.contexts.empty();
  const Reply* attributed =
      has_recall ? walk.ask(ask_judge(request_, support_prompt(walk.contexts, sentences))) : nullptr;
  if (!walk.missing.empty()) return;

  // Then what is asked about the judge's answers.
  if (auto read = walk.read("faithfulness", *statements, read_statements)) {
    walk.statements = std::move(*read);
    if (walk.statements.empty())
      walk.reasons.emplace_back("faithfulness: the response claims nothing");
    else if (const Reply* reply = walk.ask(ask_judge(request_, support_prompt(walk.contexts, walk.statements)))) {
      if (auto verdicts = walk.take(
              "faithfulness", *reply,
              reply->answer ? read_verdicts(reply->answer->text, walk.statements.size()) : Judged<std::vector<bool>>()))
        walk.faithfulness = share_of(walk.supported = std::move(*verdicts));
    }
  }
  if (questions != nullptr)
    if (auto read = walk.read("answer_relevancy", *questions, read_questions)) {
      walk.generated = std::move(*read);
      const std::size_t count = walk.generated.questions.size();
      if (walk.generated.is_noncommittal)
        walk.relevancy = 0;
      else if (const Reply* reply = walk.ask(ask_embedder(query.question, walk.generated.questions)))
        if (const auto cosines =
                walk.take("answer_relevancy", *reply,
                          reply->answer ? read_cosines(reply->answer->text, count) : Judged<std::vector<double>>()))
          walk.relevancy = std::accumulate(cosines->begin(), cosines->end(), 0.0) / static_cast<double>(count);
    }
  if (!walk.missing.empty()) return;

  for (const Reply* each : useful) {
    const auto verdict = walk.read("context_precision", *each, read_usefulness);
    if (!verdict) break;
    walk.useful.push_back(*verdict);
  }
  if (walk.contexts.empty())
    walk.reasons.emplace_back("context_precision: there are no contexts");
  else if (walk.useful.size() == walk.contexts.size())
    walk.precision = context_precision(walk.useful);
  if (attributed != nullptr) {
    if (auto verdicts = walk.take("context_recall", *attributed,
                                  attributed->answer ? read_verdicts(attributed->answer->text, sentences.size())
                                                     : Judged<std::vector<bool>>()))
      walk.recall = share_of(walk.attributed = std::move(*verdicts));
  } else if (has_references_) {
    if (sentences.empty())
      walk.reasons.emplace_back("context_recall: the row has no reference");
    else
      walk.recall = 0;  // nothing was retrieved
  }
}

void RagTask::walk(Walk& walk) const {
  if (find_contexts(walk) && find_response(walk)) judge(walk);
}

std::vector<Asked> RagTask::next(std::size_t sample, std::span<const Reply> replies) const {
  Walk one{.query = data_.queries.at(sample), .replies = replies};
  walk(one);
  return std::move(one.missing);
}

Scored RagTask::score(std::size_t sample, std::span<const Reply> replies) const {
  Walk one{.query = data_.queries.at(sample), .replies = replies};
  walk(one);
  Scored out{.fault = one.fault};
  if (!cutoffs_.empty()) {
    DocumentScores run;
    // A document is as near as the nearest of its passages.
    for (const auto& [id, score] : one.ranked)
      if (const auto found = passage_numbers_.find(id); found != passage_numbers_.end())
        run.try_emplace(data_.documents[passages_[found->second].document].id, score);
    out.values = one.query.contexts ? std::vector<double>(cutoffs_.size() * 3 + 2, no_value)
                                    : ranking_values(run, one.query.relevant, cutoffs_);
  }
  out.values.push_back(one.faithfulness);
  if (has_embedder_) out.values.push_back(one.relevancy);
  out.values.push_back(one.precision);
  if (has_references_) out.values.push_back(one.recall);
  out.record = record_of(one);
  return out;
}

std::string RagTask::record_of(const Walk& walk) const {
  const auto verdicts = [](json::Writer& w, std::string_view name, const std::vector<bool>& values) {
    if (values.empty()) return;
    w.array(name, [&] {
      for (const bool each : values) w.value(each);
    });
  };
  const auto texts = [](json::Writer& w, std::string_view name, const std::vector<std::string>& values) {
    if (values.empty()) return;
    w.array(name, [&] {
      for (const std::string& each : values) w.value(each);
    });
  };
  return json::object_text([&](json::Writer& w) {
    w.member("id", walk.query.id);
    w.member("question", walk.query.question);
    if (!walk.query.reference.empty()) w.member("reference", walk.query.reference);
    w.member("response", walk.response);
    w.array("contexts", [&] {
      for (std::size_t i = 0; i < walk.contexts.size(); ++i)
        w.object([&] {
          if (i < walk.ranked.size()) {
            w.member("passage", walk.ranked[i].first);
            w.member("score", walk.ranked[i].second);
          }
          w.member("text", beginning_of(walk.contexts[i]));
        });
    });
    texts(w, "statements", walk.statements);
    verdicts(w, "supported", walk.supported);
    texts(w, "generated_questions", walk.generated.questions);
    if (walk.generated.is_noncommittal) w.member("noncommittal", true);
    verdicts(w, "useful", walk.useful);
    verdicts(w, "attributed", walk.attributed);
    w.object("scores", [&] {
      const std::array<std::pair<std::string_view, double>, 4> scores = {{{"faithfulness", walk.faithfulness},
                                                                          {"answer_relevancy", walk.relevancy},
                                                                          {"context_precision", walk.precision},
                                                                          {"context_recall", walk.recall}}};
      for (const auto& [name, value] : scores)
        if (std::isfinite(value)) w.member(name, value);
    });
    texts(w, "reasons", walk.reasons);
  });
}

TaskResult RagTask::result(std::span<const std::vector<double>> values, std::uint64_t failed) const {
  TaskResult out{
      .name = name_, .version = std::string(retrieval_version), .samples = values.size() + failed, .failed = failed};
  for (std::size_t i = 0; i < names_.size(); ++i)
    out.scores.push_back(mean_score("evaluation", names_[i], column_of(values, i)));
  return out;
}

}  // namespace stackgate::evaluator
