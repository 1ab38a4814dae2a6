#include "services/evaluator/workflow/protocol/program.hpp"

#include <array>

#include <fmt/format.h>

#include "services/kit/base/base64.hpp"

namespace stackgate::evaluator {
namespace program_detail {

constexpr std::array<FrameworkProgram, 9> programs{
    {{Framework::lm_eval_harness, "lmEvalHarness", "STACKGATE_EVALUATION_IMAGE_LM_EVAL_HARNESS", "lm_eval"},
     {Framework::bigcode_eval_harness, "bigcodeEvalHarness", "STACKGATE_EVALUATION_IMAGE_BIGCODE_EVAL_HARNESS",
      "evaluate-bigcode-eval-harness"},
     {Framework::similarity_metrics, "similarityMetrics", "STACKGATE_EVALUATION_IMAGE_SIMILARITY_METRICS",
      "evaluate-similarity-metrics"},
     {Framework::llm_as_judge, "llmAsJudge", "STACKGATE_EVALUATION_IMAGE_LLM_AS_JUDGE", "evaluate-llm-as-judge"},
     {Framework::mt_bench, "mtBench", "STACKGATE_EVALUATION_IMAGE_MT_BENCH", "evaluate-mt-bench"},
     {Framework::retriever, "retriever", "STACKGATE_EVALUATION_IMAGE_RETRIEVER", "evaluate-retriever"},
     {Framework::rag, "rag", "STACKGATE_EVALUATION_IMAGE_RAG", "evaluate-rag"},
     {Framework::bfcl, "bfcl", "STACKGATE_EVALUATION_IMAGE_BFCL", "evaluate-bfcl"},
     {Framework::agentic_eval, "agenticEval", "STACKGATE_EVALUATION_IMAGE_AGENTIC_EVAL", "evaluate-agentic-eval"}}};

constexpr std::array<KeyVariable, 4> keys{{{"OPENAI_API_KEY", "model"},
                                           {"STACKGATE_JUDGE_API_KEY", "judge"},
                                           {"STACKGATE_EMBEDDINGS_API_KEY", "embeddings"},
                                           {"STACKGATE_DATASTORE_TOKEN", "datastore"}}};

std::string joined(std::span<const std::string> texts) {
  std::string out;
  for (const std::string& each : texts) out += (out.empty() ? "" : ",") + each;
  return out;
}

template <class Number>
std::string text_of(const std::optional<Number>& number) {
  return number ? fmt::format("{}", *number) : std::string();
}

/// lm-evaluation-harness's --model_args.
std::string model_args(const EvaluationRequest& request) {
  return fmt::format("model={},base_url={}/{},num_concurrent={},max_retries={},timeout={}", request.target.model,
                     request.target.url, request.requests.chat ? "chat/completions" : "completions",
                     request.requests.parallelism, request.requests.max_retries, request.requests.timeout_seconds);
}

std::string gen_kwargs(const EvaluationRequest& request) {
  std::string out;
  if (request.requests.temperature) out += fmt::format("temperature={}", *request.requests.temperature);
  if (request.requests.top_p) out += fmt::format("{}top_p={}", out.empty() ? "" : ",", *request.requests.top_p);
  return out;
}

std::string dataset_text(const DatasetSource& source) {
  if (source.repository.empty()) return {};
  return fmt::format("hf://datasets/{}{}{}{}{}", source.repository, source.path.empty() ? "" : "/", source.path,
                     source.revision.empty() ? "" : "@", source.revision);
}

constexpr std::string_view lm_eval_command =
    R"(lm_eval --model "$STACKGATE_MODEL_TYPE" --model_args "$STACKGATE_MODEL_ARGS" --tasks "$STACKGATE_TASKS" \
  --output_path "$STACKGATE_OUTPUT" --log_samples --seed "$STACKGATE_SEED" \
  ${STACKGATE_NUM_FEWSHOT:+--num_fewshot "$STACKGATE_NUM_FEWSHOT"} ${STACKGATE_LIMIT:+--limit "$STACKGATE_LIMIT"} \
  ${STACKGATE_GEN_KWARGS:+--gen_kwargs "$STACKGATE_GEN_KWARGS"} ${STACKGATE_CHAT:+--apply_chat_template})";

// Before the results: kubelets keep the last 10 MiB of a log.
constexpr std::string_view print_samples = R"(
kept=4000000
find "$STACKGATE_OUTPUT" -type f -name 'samples_*.jsonl' | sort | while IFS= read -r samples; do
  size=$(head -n 1000 "$samples" | head -c "$kept" | wc -c | tr -d ' ')
  if [ "$size" -eq 0 ]; then continue; fi
  echo "stackgate-samples-begin: ${samples##*/}"
  head -n 1000 "$samples" | head -c "$kept" | base64 | tr -d '\n' | fold -w 8000 | sed 's/^/stackgate-samples: /'
  echo
  echo "stackgate-samples-end: $size"
  kept=$((kept - size))
done
)";

// The names of lm_eval's results have their time in them: the last one is this run's.
constexpr std::string_view print_results =
    R"(results=$(find "$STACKGATE_OUTPUT" -type f -name 'results*.json' | sort | tail -n 1)
if [ -z "$results" ]; then
  if [ -n "${STACKGATE_RESULTS:-}" ]; then exit 0; fi
  echo "the framework left no results.json below $STACKGATE_OUTPUT" >&2
  exit 70
fi
size=$(wc -c < "$results" | tr -d ' ')
if [ "$size" -le 200000 ]; then cp "$results" "$STACKGATE_OUTPUT/parameter"; fi
echo "stackgate-results-begin"
base64 < "$results" | tr -d '\n' | fold -w 8000 | sed 's/^/stackgate-results: /'
echo
echo "stackgate-results-end: $size"
)";

}  // namespace program_detail

std::span<const FrameworkProgram> framework_programs() { return program_detail::programs; }

const FrameworkProgram* program_of(Framework framework) {
  for (const FrameworkProgram& each : program_detail::programs)
    if (each.framework == framework) return &each;
  return nullptr;
}

std::vector<Variable> variables_of(const EvaluationRequest& request, std::string_view id) {
  using namespace program_detail;
  const ModelEndpoint none;
  const ModelEndpoint& judge = request.judge ? *request.judge : none;
  const ModelEndpoint& embeddings = request.embeddings ? *request.embeddings : none;
  return {
      {"STACKGATE_EVALUATION", "evaluation", std::string(id)},
      {"STACKGATE_FRAMEWORK", "framework", std::string(to_string(request.framework))},
      {"STACKGATE_MODEL_ENDPOINT", "model-endpoint", request.target.url},
      {"STACKGATE_MODEL", "model", request.target.model},
      {"STACKGATE_MODEL_TYPE", "model-type", request.requests.chat ? "local-chat-completions" : "local-completions"},
      {"STACKGATE_MODEL_ARGS", "model-args", model_args(request)},
      {"STACKGATE_GEN_KWARGS", "gen-kwargs", gen_kwargs(request)},
      {"STACKGATE_CHAT", "chat", request.requests.chat ? "1" : ""},
      {"STACKGATE_TASKS", "tasks", joined(request.tasks)},
      {"STACKGATE_NUM_FEWSHOT", "num-fewshot", text_of(request.num_fewshot)},
      {"STACKGATE_LIMIT", "limit", text_of(request.limit)},
      {"STACKGATE_SEED", "seed", std::to_string(request.seed)},
      {"STACKGATE_PARALLELISM", "parallelism", std::to_string(request.requests.parallelism)},
      {"STACKGATE_DATASET", "dataset", dataset_text(request.dataset)},
      {"STACKGATE_JUDGE_ENDPOINT", "judge-endpoint", judge.url},
      {"STACKGATE_JUDGE_MODEL", "judge-model", judge.model},
      {"STACKGATE_EMBEDDINGS_ENDPOINT", "embeddings-endpoint", embeddings.url},
      {"STACKGATE_EMBEDDINGS_MODEL", "embeddings-model", embeddings.model},
      // Its templates have "{{", which a workflow would read as its own.
      {"STACKGATE_REQUEST_BASE64", "request", base64::encode(to_json(request))}};
}

std::span<const KeyVariable> key_variables() { return program_detail::keys; }

std::string results_place(const WorkflowOptions& options, std::string_view evaluation) {
  if (options.results_repository.empty()) return {};
  return fmt::format("hf://datasets/{}/{}", options.results_repository, evaluation);
}

std::string script_of(const FrameworkProgram& program) {
  using namespace program_detail;
  return fmt::format("set -eu\nmkdir -p \"$STACKGATE_OUTPUT\"\n{}{}{}",
                     program.framework == Framework::lm_eval_harness ? lm_eval_command : program.program, print_samples,
                     print_results);
}

validate::Findings check_variables(const EvaluationRequest& request, bool as_workflow) {
  validate::Findings out;
  const auto wrong = [&out](std::string path, std::string problem, std::string fix) {
    out.push_back(
        {.rule = "evaluation-workflow", .path = std::move(path), .problem = std::move(problem), .fix = std::move(fix)});
  };
  if (request.framework == Framework::lm_eval_harness) {
    if (request.target.model.empty())
      wrong("model", "is missing: lm-eval-harness has to name it", "write the name that the endpoint serves");
    if (request.target.model.find_first_of(",=") != std::string::npos)
      wrong("model", "has a \",\" or a \"=\", which lm-eval-harness takes for another argument",
            "serve the model under another name");
  }
  if (as_workflow)
    for (const Variable& each : variables_of(request, ""))
      if (each.parameter != "model-args" && each.value.find("{{") != std::string::npos)
        wrong(std::string(each.parameter), "has \"{{\", which a workflow takes for one of its own expressions",
              "write it without");
  return out;
}

}  // namespace stackgate::evaluator
