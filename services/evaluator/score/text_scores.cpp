// Scores of texts against references.
#include <array>
#include <vector>

#include <fmt/format.h>

#include "services/evaluator/metrics/bleu.hpp"
#include "services/evaluator/metrics/matching.hpp"
#include "services/evaluator/metrics/rouge.hpp"
#include "services/evaluator/score/scores.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::evaluator::scoring {

Read<void> score_exact_match(const json::Value& params, std::span<const Item> items, Scores& out) {
  MatchOptions options;
  options.regexes_to_ignore = TRY(texts_param(params, "regexes_to_ignore"));
  options.ignore_case = TRY(flag_param(params, "ignore_case"));
  options.ignore_punctuation = TRY(flag_param(params, "ignore_punctuation"));
  options.ignore_numbers = TRY(flag_param(params, "ignore_numbers"));
  options.strip = TRY(flag_param(params, "strip"));
  const auto match = ExactMatch::compile(options);
  if (!match) return fault("params.regexes_to_ignore", match.error());
  std::vector<double> values;
  for (const Item& item : items) {
    const Pair pair = TRY(read_pair(item));
    values.push_back(match->matches(pair.prediction, pair.references) ? 1 : 0);
  }
  out.mean("exact_match", values);
  return {};
}

Read<void> score_f1(const json::Value& /*params*/, std::span<const Item> items, Scores& out) {
  std::vector<double> values;
  for (const Item& item : items) {
    const Pair pair = TRY(read_pair(item));
    values.push_back(token_f1(pair.prediction, pair.references));
  }
  out.mean("f1", values);
  return {};
}

Read<void> score_bleu(const json::Value& params, std::span<const Item> items, Scores& out) {
  static constexpr std::array<std::string_view, 2> words = {"13a", "none"};
  const BleuTokens tokens = TRY(word_param(params, "tokenize", words)) == "13a" ? BleuTokens::v13a : BleuTokens::none;
  const bool effective = TRY(flag_param(params, "effective_order"));
  BleuCounts corpus;
  std::vector<double> sentences;
  for (const Item& item : items) {
    const Pair pair = TRY(read_pair(item));
    const BleuCounts counts = count_bleu(pair.prediction, pair.references, tokens);
    sentences.push_back(bleu_of(counts, true).score);
    corpus += counts;
  }
  const Bleu bleu = bleu_of(corpus, effective);
  out.number("bleu", bleu.score);
  out.number("bp", bleu.brevity_penalty);
  out.count("sys_len", corpus.length);
  out.count("ref_len", corpus.reference_length);
  out.numbers("precisions", bleu.precisions);
  out.mean("sentence_bleu", sentences);
  return {};
}

Read<void> score_chrf(const json::Value& params, std::span<const Item> items, Scores& out) {
  const json::Value* order = params.find("word_order");
  const bool given = order != nullptr && !order->is_null();
  if (given && (!order->is_integer() || order->integer() < 0 || order->integer() > 2))
    return fault("params.word_order", "is out of range; write 0, or 2 for chrF++");
  const std::size_t words = given ? static_cast<std::size_t>(order->integer()) : 0;
  ChrfCounts corpus;
  std::vector<double> sentences;
  for (const Item& item : items) {
    const Pair pair = TRY(read_pair(item));
    const ChrfCounts counts = count_chrf(pair.prediction, pair.references, words);
    sentences.push_back(chrf_of(counts));
    corpus += counts;
  }
  out.number("chrf", chrf_of(corpus));
  out.mean("sentence_chrf", sentences);
  return {};
}

Read<void> score_rouge(const json::Value& /*params*/, std::span<const Item> items, Scores& out) {
  std::array<std::array<std::vector<double>, 3>, rouge_names.size()> values;
  for (const Item& item : items) {
    const Pair pair = TRY(read_pair(item));
    const auto scores = rouge_of(pair.prediction, pair.references);
    if (!scores) return fault(item.path("prediction"), scores.error());
    for (std::size_t kind = 0; kind < rouge_names.size(); ++kind) {
      const RougeScore& score = scores->at(kind);
      values.at(kind)[0].push_back(score.precision);
      values.at(kind)[1].push_back(score.recall);
      values.at(kind)[2].push_back(score.fmeasure);
    }
  }
  for (std::size_t kind = 0; kind < rouge_names.size(); ++kind) {
    out.mean(fmt::format("{}_precision", rouge_names.at(kind)), values.at(kind)[0]);
    out.mean(fmt::format("{}_recall", rouge_names.at(kind)), values.at(kind)[1]);
    out.mean(fmt::format("{}_fmeasure", rouge_names.at(kind)), values.at(kind)[2]);
  }
  return {};
}

Read<void> score_string_check(const json::Value& params, std::span<const Item> items, Scores& out) {
  static constexpr std::array<std::string_view, 6> words = {"equals",       "not equals",  "contains",
                                                            "not contains", "starts with", "ends with"};
  const StringCheck check =
      string_check_named(TRY(word_param(params, "operation", words))).value_or(StringCheck::equals);
  std::vector<double> values;
  for (const Item& item : items) {
    const Pair pair = TRY(read_pair(item));
    bool good = false;
    for (const std::string& each : pair.references) good = good || check_string(check, pair.prediction, each);
    values.push_back(good ? 1 : 0);
  }
  out.mean("string_check", values);
  return {};
}

}  // namespace stackgate::evaluator::scoring
