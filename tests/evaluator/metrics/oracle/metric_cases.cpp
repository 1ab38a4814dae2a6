// What tests/evaluator/metrics/oracle.sh compares: a line {"text","references"} or {"run","qrels","k"} in, counts and
// scores out.
#include <iostream>
#include <span>

#include "services/evaluator/metrics/bleu.hpp"
#include "services/evaluator/metrics/matching.hpp"
#include "services/evaluator/metrics/ranking.hpp"
#include "services/evaluator/metrics/rouge.hpp"
#include "services/evaluator/metrics/words.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

DocumentScores documents(const json::Value& object) {
  DocumentScores out;
  for (const json::Member& each : object.members()) out.emplace(each.key, each.value.number());
  return out;
}

template <class Values>
void list(json::Writer& w, std::string_view name, const Values& values) {
  w.array(name, [&] {
    for (const auto& each : values) w.value(each);
  });
}

void write_texts(json::Writer& w, const json::Value& line) {
  const std::string_view text = json::text(&line, {"text"});
  std::vector<std::string> references;
  for (const json::Value& each : json::items(&line, {"references"})) references.emplace_back(each.string());
  const BleuCounts counts = count_bleu(text, references);
  list(w, "words", bleu_words(text));
  list(w, "matches", counts.matches);
  list(w, "totals", counts.totals);
  w.member("reference_length", counts.reference_length);
  w.member("bleu", bleu_of(counts, false).score);
  for (const std::size_t word_order : {std::size_t{0}, std::size_t{2}})
    w.member(word_order == 0 ? "chrf" : "chrf++", chrf_of(count_chrf(text, references, word_order)));
  const ChrfCounts first = count_chrf(text, std::span(references).first(1));
  list(w, "chrf_text", first.text);
  list(w, "chrf_reference", first.reference);
  list(w, "chrf_matches", first.matches);
  w.member("f1", token_f1(text, references));
  w.array("rouge", [&] {
    for (const RougeScore& each : rouge_of(text, references).value()) w.value(each.fmeasure);
  });
}

void write_ranking(json::Writer& w, const json::Value& line) {
  const auto k = static_cast<std::uint32_t>(json::integer(&line, {"k"}));
  const auto found =
      rank_scores(documents(json::value_at(&line, {"run"})), documents(json::value_at(&line, {"qrels"})), {&k, 1});
  if (!found) return;
  w.member("ndcg", found->at.at(0).ndcg);
  w.member("map", found->map);
}

}  // namespace
}  // namespace stackgate::evaluator

int main() {
  using namespace stackgate;
  for (std::string line; std::getline(std::cin, line);) {
    json::Document document;
    const auto value = json::parse(line, document);
    if (!value) return 2;
    std::cout << json::object_text([&](json::Writer& w) {
      if (value->find("run") != nullptr)
        evaluator::write_ranking(w, *value);
      else
        evaluator::write_texts(w, *value);
    }) << '\n';
  }
  return 0;
}
