// What comes from outside for retrieval: rows and judgements of data sets, answers of judges, of the endpoint of
// embeddings and of Milvus; texts that are cut. The first byte says which.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "services/evaluator/endpoint/protocol/embeddings.hpp"
#include "services/evaluator/suite/retrieval/corpus.hpp"
#include "services/evaluator/suite/retrieval/judge.hpp"
#include "services/evaluator/suite/retrieval/ranked.hpp"
#include "services/evaluator/vectors/protocol/milvus.hpp"

using namespace stackgate;
using namespace stackgate::evaluator;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void read_data(std::string_view text, bool is_beir) {
  const std::size_t cut = text.size() / 2;
  std::map<std::string, std::string, std::less<>> files = {{"rows.jsonl", std::string(text)}};
  if (is_beir)
    files = {{"corpus.jsonl", R"({"_id":"d","text":"t"})"},
             {"queries.jsonl", std::string(text.substr(0, cut))},
             {"qrels/test.tsv", std::string(text.substr(cut))}};
  DataSource source;
  for (const auto& [path, content] : files) source.paths.push_back(path);
  source.text = [&](std::string_view path) -> std::expected<std::string, std::string> {
    return files.find(path)->second;
  };
  validate::Findings findings;
  const RetrievalData data = read_retrieval_data("rag", true, source, 100, findings);
  require(data.queries.size() <= 100);
  for (const RetrievalQuery& query : data.queries) {
    require(!query.question.empty());
    for (const auto& [document, gain] : query.relevant) require(std::isfinite(gain));
  }
  for (const Passage& each : passages_of(data.documents, {.size = 7, .overlap = 3}))
    require(!each.text.empty() && each.document < data.documents.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      read_data(text, false);
      break;
    case 1:
      read_data(text, true);
      break;
    case 2:
      (void)read_statements(text);
      (void)read_verdicts(text, 2);
      (void)read_questions(text);
      (void)read_usefulness(text);
      (void)read_cosines(text, 2);
      (void)read_ranked(text);
      break;
    case 3:
      if (const auto vectors = read_embeddings(text, 2)) {
        require(vectors->values.size() == std::size_t{2} * vectors->dimension && vectors->dimension > 0);
        for (const float each : vectors->values) require(std::isfinite(each));
      }
      break;
    case 4:
      if (const auto found = milvus::read_found(text))
        for (const milvus::Found& each : *found) require(std::isfinite(each.distance));
      (void)milvus::read_count(text);
      (void)milvus::read_dimension(text);
      break;
    default: {
      const char* end = text.data();
      for (const std::string_view each : chunks_of(text, {.size = 5, .overlap = 2})) {
        require(!each.empty() && each.data() + each.size() > end);
        end = each.data() + each.size();
      }
      require(sentences_of(text, 10).size() <= 10);
    }
  }
  return 0;
}
