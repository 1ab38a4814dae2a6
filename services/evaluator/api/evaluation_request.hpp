// POST /v1/evaluations: the body as values. Pure.
// Source: the specification's body; the members beside it are those of NeMo's evaluator (parallelism, judge, …).
#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/api/framework.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

/// A model behind an OpenAI endpoint.
struct ModelEndpoint {
  std::string url{};      // "http://inference:8000/v1", without a slash at the end
  std::string model{};    // empty: the endpoint's first
  std::string api_key{};  // never shown, never stored with the rest
};

struct DatasetSource {
  std::string repository{};  // "<namespace>/<name>"; empty: none
  std::string path{};        // of it; empty: all of it
  std::string revision{};    // empty: main; pinned to a commit before the evaluation is stored
};

inline constexpr std::size_t most_inline_rows = 1'000, largest_inline_rows = 256U << 10U;  // bytes, all of them

/// How requests are sent and what is asked for; `params` of the body.
struct RequestSettings {
  std::uint32_t parallelism = 8;
  std::uint32_t timeout_seconds = 120;  // for one answer
  std::uint32_t max_retries = 5;
  std::uint32_t max_tokens = 256;  // where the task does not say
  std::optional<double> temperature{}, top_p{};
  bool chat = false;  // messages to /chat/completions instead of a prompt to /completions
};

/// A score that is read from the judge's answer.
struct JudgeScore {
  std::string name{};
  std::string pattern{};  // RE2 with one group: the number
  double least = 0, most = 10;
};

/// What a row is held against besides its reference, or instead. Template over `item` and `sample`.
struct RowCheck {
  std::string name{};       // of the score
  std::string operation{};  // metrics/matching's string_check_named
  std::string reference{};
};

/// similarity-metrics, llm-as-judge, bfcl: what of a row is asked, answered and expected. Jinja templates over `item`
/// and, for the judge, `sample.output_text`.
struct RowTemplates {
  std::string prompt{};     // empty: `response` is there, and no model is asked
  std::string response{};   // of answers that are in the data set already
  std::string reference{};  // similarity-metrics
  std::string judge_prompt{};
  std::vector<JudgeScore> scores{};
  std::vector<std::string> metrics{};  // of similarity-metrics: accuracy, bleu, rouge, em, f1, chrf; empty: all
  std::vector<RowCheck> checks{};
};

/// retriever, rag: what is searched, and how.
inline constexpr std::array<std::string_view, 3> index_names = {"exact", "hnsw", "vector-db"};
struct RetrievalSettings {
  enum class Index : std::uint8_t { exact, hnsw, vector_db };
  Index index = Index::exact;
  std::uint32_t top_k = 10;
  std::uint32_t chunk_size = 0, chunk_overlap = 0;  // characters; 0: documents are searched whole
  std::vector<std::uint32_t> cutoffs = {5, 10};     // of ndcg_cut_5, …
};

/// mt-bench. `baseline`: a file of the data set with the answers that pairs are made with; empty: single answers are
/// rated.
struct MtBenchSettings {
  std::string baseline{};
};

/// bigcode-eval-harness, run here: how many programs are asked for, and the k of pass@k.
struct CodeSettings {
  std::uint32_t programs = 1;
  std::vector<std::uint32_t> ks = {1};
  std::uint32_t run_seconds = 10;  // for one program
};

/// Who computes it: this service, or an image on the workflow server. Where neither is asked for: here if its data set
/// is named, or must be.
enum class Engine : std::uint8_t { native, workflow };

struct EvaluationRequest {
  std::string name{};
  Framework framework{};
  ModelEndpoint target{};  // without a URL where its model is not asked
  std::vector<std::string> tasks{};
  std::optional<std::uint32_t> num_fewshot{}, limit{};
  std::uint64_t seed = 1234;
  std::optional<std::uint32_t> bootstrap_rounds{};  // custom, lm-eval-harness; 0: no error where one must be drawn
  DatasetSource dataset{};
  std::string inline_rows{};  // of the request itself, instead of a data set: a JSON object in each line
  RequestSettings requests{};
  RowTemplates rows{};
  std::optional<ModelEndpoint> judge{}, embeddings{};
  Engine engine = Engine::native;
  RetrievalSettings retrieval{};
  MtBenchSettings mt_bench{};
  CodeSettings code{};
  std::string description{};
};

/// Whether its model is asked at all: not where answers or trajectories are in the data set, or documents alone are
/// searched.
bool asks_model(const EvaluationRequest& request);

/// Every fault at once. Warnings are left in `warnings`.
std::expected<EvaluationRequest, validate::Findings> read_evaluation(const json::Value& body,
                                                                     validate::Findings& warnings);

/// What stands where a key was given.
inline constexpr std::string_view masked_key = "******";

/// The body again, complete with defaults and with masked keys: what is stored, and what GET shows. Reading it gives
/// the same request but for the keys.
std::string to_json(const EvaluationRequest& request);

}  // namespace stackgate::evaluator
