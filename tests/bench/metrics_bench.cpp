// BLEU, ROUGE and F1 over 10,000 pairs of 60 words; beside them, the time of python3-nltk's BLEU alone over the same.
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <stdio.h>

#include "services/evaluator/metrics/bleu.hpp"
#include "services/evaluator/metrics/matching.hpp"
#include "services/evaluator/metrics/rouge.hpp"
#include "tests/bench/figure.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::evaluator {
namespace {

struct Pair {
  std::string text;
  std::vector<std::string> references;
};

/// Two of three words of a text are its reference's; words of a vocabulary of 5,000, rare ones rarer.
std::vector<Pair> pairs(std::size_t count, std::size_t words) {
  std::mt19937_64 random(60);
  const auto word = [&] { return fmt::format("w{}", (random() % 5000) * (random() % 5000) / 5000); };
  std::vector<Pair> out(count);
  for (Pair& each : out) {
    std::string reference;
    for (std::size_t i = 0; i < words; ++i) {
      const std::string its = word();
      reference += its + (i % 12 == 11 ? ". " : " ");
      each.text += (random() % 3 == 0 ? word() : its) + (i % 12 == 11 ? ". " : " ");
    }
    each.references.push_back(std::move(reference));
  }
  return out;
}

double all_scores(const std::vector<Pair>& pairs) {
  BleuCounts corpus;
  double sum = 0;
  for (const Pair& each : pairs) {
    const BleuCounts counts = count_bleu(each.text, each.references);
    corpus += counts;
    sum += bleu_of(counts, true).score + token_f1(each.text, each.references);
    sum += rouge_of(each.text, each.references).value().at(3).fmeasure;
  }
  return sum + bleu_of(corpus, false).score;
}

/// Seconds of CPU that NLTK's corpus_bleu takes for the same pairs cut at white space; 0 where it is not installed.
double nltk_seconds(const std::vector<Pair>& pairs) {
  const test::TempDir dir;
  const std::string file = dir / "pairs";
  std::ofstream out(file);
  for (const Pair& each : pairs) out << each.text << '\t' << each.references.front() << '\n';
  out.close();
  const std::string command = fmt::format(
      "/usr/bin/python3 -c 'import time\n"
      "from nltk.translate.bleu_score import corpus_bleu\n"
      "rows = [line.split(\"\\t\") for line in open(\"{}\")]\n"
      "texts, references = [r[0].split() for r in rows], [[r[1].split()] for r in rows]\n"
      "start = time.process_time()\n"
      "corpus_bleu(references, texts)\n"
      "print(time.process_time() - start)' 2>/dev/null",
      file);
  FILE* pipe = popen(command.c_str(), "r");
  double seconds = 0;
  if (pipe == nullptr || std::fscanf(pipe, "%lf", &seconds) != 1) seconds = 0;
  if (pipe != nullptr) pclose(pipe);
  return seconds;
}

}  // namespace
}  // namespace stackgate::evaluator

int main() {
  using namespace stackgate;
  using namespace stackgate::evaluator;
  const auto all = pairs(10'000, 60);
  double sum = 0;
  const double took = bench::microseconds([&] { sum += all_scores(all); }, 0, 3) / 1e6;
  if (!(sum > 0)) std::abort();
  const double nltk = nltk_seconds(all);
  bench::print(
      {.name = "metrics_bleu_rouge_f1_10000_pairs",
       .value = took,
       .unit = "s",
       .limit = 1,
       .beside = nltk,
       .text = nltk > 0 ? fmt::format("python3-nltk's BLEU alone: {:.2f} s", nltk) : "python3-nltk is not installed"});
  return bench::exit_status;
}
