// A data set of texts.
#pragma once
#include <map>
#include <string>

#include "services/evaluator/suite/data_source.hpp"

namespace stackgate::evaluator::test {

inline DataSource files(std::map<std::string, std::string> texts) {
  DataSource out;
  for (const auto& [path, text] : texts) out.paths.push_back(path);
  out.text = [texts = std::move(texts)](std::string_view path) -> std::expected<std::string, std::string> {
    const auto found = texts.find(std::string(path));
    if (found == texts.end()) return std::unexpected("is not there");
    return found->second;
  };
  return out;
}

/// Three documents, three queries: the last one has nothing relevant.
inline std::map<std::string, std::string> beir() {
  return {
      {"data/corpus.jsonl", R"({"_id": "d1", "title": "Cats", "text": "Cats sleep. They purr."}
{"_id": "d2", "title": "", "text": "Dogs bark."}
{"_id": "d3", "title": "Fish", "text": ""}
)"},
      {"data/queries.jsonl", R"({"_id": "q3", "text": "who flies?"}
{"_id": "q1", "text": "who purrs?"}
{"_id": "q2", "text": "who barks?", "reference": "Dogs bark."}
)"},
      {"data/qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td3\t1\nq2\td2\t1\nq3\td1\t0\nq9\td1\t1\n"}};
}

}  // namespace stackgate::evaluator::test
