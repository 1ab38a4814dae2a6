// Scores of likelihoods, programs, rankings and calls.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "services/evaluator/metrics/likelihoods.hpp"
#include "services/evaluator/metrics/ranking.hpp"
#include "services/evaluator/metrics/tool_calls.hpp"
#include "services/evaluator/score/scores.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::evaluator::scoring {
namespace number_scores_detail {

/// "gold": the index of the right choice, or a list of those of all right ones.
Read<std::vector<std::size_t>> read_gold(const Item& item, std::size_t choices) {
  const json::Value* found = item.find("gold");
  if (found == nullptr) return wrong_type(found, item.path("gold"), "the index of the right choice, or a list of them");
  const std::span<const json::Value> all = found->is_array() ? found->items() : std::span(found, 1);
  if (all.empty()) return fault(item.path("gold"), "is empty; write the index of the right choice");
  std::vector<std::size_t> out;
  for (const json::Value& each : all) {
    if (!each.is_integer() || each.integer() < 0 || static_cast<std::uint64_t>(each.integer()) >= choices)
      return fault(item.path("gold"), fmt::format("is no index of a choice; write a whole number from 0 to {}",
                                                  choices == 0 ? 0 : choices - 1));
    out.push_back(static_cast<std::size_t>(each.integer()));
  }
  return out;
}

Read<DocumentScores> read_documents(const Item& item, std::string_view member) {
  const json::Value* found = item.find(member);
  if (found == nullptr || !found->is_object())
    return wrong_type(found, item.path(member), "an object of numbers by document");
  DocumentScores out;
  for (const json::Member& each : found->members()) {
    if (!each.value.is_number())
      return wrong_type(&each.value, fmt::format("{}.{}", item.path(member), each.key), "a number");
    out.emplace(each.key, each.value.number());
  }
  return out;
}

}  // namespace number_scores_detail
using namespace number_scores_detail;

Read<void> score_perplexity(const json::Value& /*params*/, std::span<const Item> items, Scores& out) {
  LikelihoodSums corpus, by_token;
  for (const Item& item : items) {
    const std::string_view text = TRY(item.text("text"));
    const bool has_tokens = item.find("token_logprobs") != nullptr;
    std::vector<double> tokens;
    if (has_tokens) tokens = TRY(item.numbers("token_logprobs"));
    const double sum = std::accumulate(tokens.begin(), tokens.end(), 0.0);
    if (!has_tokens && item.find("loglikelihood") == nullptr)
      return wrong_type(nullptr, item.path("loglikelihood"), "the text's log-probability, or its token_logprobs");
    corpus += likelihood_sums(text, item.find("loglikelihood") != nullptr ? TRY(item.number("loglikelihood")) : sum, 0);
    by_token += {.loglikelihood = sum, .tokens = tokens.size()};
  }
  const Perplexities scores = perplexities(corpus);
  out.number("word_perplexity", scores.word_perplexity);
  out.number("byte_perplexity", scores.byte_perplexity);
  out.number("bits_per_byte", scores.bits_per_byte);
  if (by_token.tokens > 0) out.number("perplexity", *perplexities(by_token).perplexity);
  return {};
}

Read<void> score_multiple_choice(const json::Value& /*params*/, std::span<const Item> items, Scores& out) {
  std::vector<double> acc, norm, bytes;
  for (const Item& item : items) {
    const std::vector<std::string> choices = TRY(item.texts("choices"));
    const std::vector<double> values = TRY(item.numbers("loglikelihoods"));
    if (values.size() != choices.size())
      return fault(item.path("loglikelihoods"),
                   fmt::format("has {} numbers; write one for each of the {} choices", values.size(), choices.size()));
    const ChoiceScores scores = choice_scores(choices, values, TRY(read_gold(item, choices.size())));
    acc.push_back(scores.acc);
    norm.push_back(scores.acc_norm);
    bytes.push_back(scores.acc_bytes);
  }
  out.mean("acc", acc);
  out.mean("acc_norm", norm);
  out.mean("acc_bytes", bytes);
  return {};
}

Read<void> score_pass_at_k(const json::Value& params, std::span<const Item> items, Scores& out) {
  const std::vector<std::uint32_t> ks = TRY(numbers_param(params, "k", {1, 10, 100}));
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (const Item& item : items) {
    const std::uint64_t n = TRY(item.count("n")), c = TRY(item.count("c"));
    if (c > n) return fault(item.path("c"), "is greater than n; write how many of the n programs are right");
    all.emplace_back(n, c);
  }
  for (const std::uint32_t k : ks) {
    std::vector<double> values;
    for (const auto& [n, c] : all)
      if (const auto value = pass_at_k(n, c, k)) values.push_back(*value);
    // Means over other problems would not be comparable.
    if (values.size() == all.size()) out.mean(fmt::format("pass@{}", k), values);
  }
  return {};
}

Read<void> score_ranking(const json::Value& params, std::span<const Item> items, Scores& out) {
  const std::vector<std::uint32_t> ks = TRY(numbers_param(params, "k", {1, 3, 5, 10, 100}));
  struct At {
    std::vector<double> ndcg, recall, precision;
  };
  std::vector<At> at(ks.size());
  std::vector<double> mrr, map;
  std::uint64_t skipped = 0;
  for (const Item& item : items) {
    const DocumentScores run = TRY(read_documents(item, "run")), judged = TRY(read_documents(item, "qrels"));
    const auto ranking = rank_scores(run, judged, ks);
    if (!ranking) {
      ++skipped;
      continue;
    }
    for (std::size_t i = 0; i < ks.size(); ++i) {
      at[i].ndcg.push_back(ranking->at[i].ndcg);
      at[i].recall.push_back(ranking->at[i].recall);
      at[i].precision.push_back(ranking->at[i].precision);
    }
    mrr.push_back(ranking->mrr);
    map.push_back(ranking->map);
  }
  for (std::size_t i = 0; i < ks.size(); ++i) {
    out.mean(fmt::format("ndcg@{}", ks[i]), at[i].ndcg);
    out.mean(fmt::format("recall@{}", ks[i]), at[i].recall);
    out.mean(fmt::format("precision@{}", ks[i]), at[i].precision);
  }
  out.mean("mrr", mrr);
  out.mean("map", map);
  out.count("queries", mrr.size());
  out.count("skipped", skipped);
  return {};
}

Read<void> score_tool_calls(const json::Value& /*params*/, std::span<const Item> items, Scores& out) {
  std::vector<double> names, arguments, matches;
  for (const Item& item : items) {
    const json::Value* calls = item.find("calls");
    const json::Value* expected = item.find("expected");
    for (const auto& [value, name] : {std::pair{calls, "calls"}, std::pair{expected, "expected"}})
      if (value == nullptr || !value->is_array()) return wrong_type(value, item.path(name), "a list of calls");
    const json::Value* functions = item.find("functions");
    if (functions == nullptr) {
      const CallAccuracy scores = call_accuracy(*calls, *expected);
      names.push_back(scores.names ? 1 : 0);
      arguments.push_back(scores.names_and_arguments ? 1 : 0);
    } else {
      if (!functions->is_array()) return wrong_type(functions, item.path("functions"), "a list of functions");
      matches.push_back(match_calls(*calls, *expected, *functions).empty() ? 1 : 0);
    }
  }
  // Items with descriptions of functions are BFCL's: what is expected has lists of right values there.
  if (!names.empty() || matches.empty()) {
    out.mean("function_name_accuracy", names);
    out.mean("function_name_and_args_accuracy", arguments);
  }
  if (!matches.empty()) out.mean("ast_match", matches);
  return {};
}

}  // namespace stackgate::evaluator::scoring
