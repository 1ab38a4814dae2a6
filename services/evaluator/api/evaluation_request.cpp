#include "services/evaluator/api/evaluation_request.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include <fmt/format.h>

#include "services/evaluator/api/evaluation_schema.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/grammar/dataset_reference.hpp"
#include "services/kit/grammar/names.hpp"
#include "services/kit/grammar/url.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/web/body_schema.hpp"

namespace stackgate::evaluator {
namespace {

namespace grammar = validate::grammar;

/// Templates say how long they may be in the schema; texts of rows are limited as a whole.
constexpr std::size_t longest_text = std::max<std::size_t>(65'536 * 4, largest_inline_rows);

/// Nothing can be evaluated without one, by whichever engine.
constexpr bool needs_dataset(Framework framework) {
  return framework == Framework::custom || framework == Framework::similarity_metrics ||
         framework == Framework::llm_as_judge;
}

/// What only some frameworks know. A member that means nothing to the one that was chosen is a fault.
struct OwnMember {
  std::string_view name;  // "params.metrics" or "judge"
  std::array<Framework, 8> known{};
  std::size_t count = 0;
  template <class... F>
  constexpr OwnMember(std::string_view n, F... frameworks) : name(n), known{frameworks...}, count(sizeof...(F)) {}
  constexpr std::span<const Framework> frameworks() const { return {known.data(), count}; }
};
constexpr std::array own_members = {
    OwnMember("rows", Framework::similarity_metrics, Framework::llm_as_judge, Framework::bfcl, Framework::agentic_eval,
              Framework::mt_bench, Framework::retriever, Framework::rag, Framework::bigcode_eval_harness),
    OwnMember("judge", Framework::llm_as_judge, Framework::mt_bench, Framework::rag, Framework::agentic_eval),
    OwnMember("embeddings", Framework::retriever, Framework::rag),
    OwnMember("params.prompt", Framework::similarity_metrics, Framework::llm_as_judge, Framework::bfcl,
              Framework::agentic_eval, Framework::rag),
    OwnMember("params.response", Framework::similarity_metrics, Framework::llm_as_judge, Framework::bfcl,
              Framework::agentic_eval, Framework::rag),
    OwnMember("params.reference", Framework::similarity_metrics, Framework::llm_as_judge, Framework::bfcl,
              Framework::agentic_eval),
    OwnMember("params.judge_prompt", Framework::llm_as_judge, Framework::mt_bench, Framework::agentic_eval),
    OwnMember("params.scores", Framework::llm_as_judge),
    OwnMember("params.metrics", Framework::similarity_metrics),
    OwnMember("params.checks", Framework::similarity_metrics, Framework::llm_as_judge),
    OwnMember("params.index", Framework::retriever, Framework::rag),
    OwnMember("params.top_k", Framework::retriever, Framework::rag),
    OwnMember("params.chunk_size", Framework::retriever, Framework::rag),
    OwnMember("params.chunk_overlap", Framework::retriever, Framework::rag),
    OwnMember("params.cutoffs", Framework::retriever, Framework::rag),
    OwnMember("params.baseline", Framework::mt_bench),
    OwnMember("params.bootstrap_rounds", Framework::custom, Framework::lm_eval_harness),
    OwnMember("params.programs", Framework::bigcode_eval_harness),
    OwnMember("params.ks", Framework::bigcode_eval_harness),
    OwnMember("params.run_seconds", Framework::bigcode_eval_harness),
};

std::string names_of(std::span<const Framework> frameworks) {
  std::string out;
  for (std::size_t i = 0; i < frameworks.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : i + 1 == frameworks.size() ? " or " : ", ", to_string(frameworks[i]));
  return out;
}
using validate::Finding;
using validate::Findings;

/// What a schema cannot say. Members of a wrong type read as absent: the schema reports them.
class Reader {
 public:
  Reader(const json::Value& body, Findings& findings, Findings& warnings)
      : body_(body), params_(json::value_at(&body, {"params"})), findings_(findings), warnings_(warnings) {}

  EvaluationRequest read() {
    EvaluationRequest out;
    out.name = json::text(&body_, {"name"});
    if (const auto fault = grammar::check_dns_label(out.name); fault && has("name")) wrong("name", *fault);
    const auto framework = framework_named(json::text(&body_, {"framework"}));
    out.framework = framework.value_or(Framework::custom);
    out.description = json::text(&body_, {"description"});
    out.target = endpoint(body_, "");
    out.judge = endpoint_at("judge");
    out.embeddings = endpoint_at("embeddings");
    for (const json::Value& task : json::items(&body_, {"tasks"})) out.tasks.emplace_back(task.string());
    check_tasks(out.tasks);
    out.num_fewshot = number(body_, "num_fewshot");
    out.limit = number(body_, "limit");
    out.seed = static_cast<std::uint64_t>(json::integer(&body_, {"seed"}, static_cast<std::int64_t>(out.seed)));
    out.bootstrap_rounds = number(params_, "bootstrap_rounds");
    out.dataset = dataset();
    out.inline_rows = rows();
    out.requests = settings(out.framework);
    out.rows = templates();
    out.retrieval = retrieval();
    out.mt_bench.baseline = json::text(&params_, {"baseline"});
    out.code = code();
    out.engine = engine(out);
    if (framework) check_framework(out);
    return out;
  }

 private:
  bool has(std::string_view key) const {
    const json::Value* found = body_.find(key);
    return found != nullptr && !found->is_null();
  }
  bool has_param(std::string_view key) const {
    const json::Value* found = params_.find(key);
    return found != nullptr && !found->is_null();
  }
  void wrong(std::string path, std::string problem, std::string fix) {
    findings_.push_back(
        {.rule = "evaluation-value", .path = std::move(path), .problem = std::move(problem), .fix = std::move(fix)});
  }
  void wrong(std::string path, const grammar::Problem& problem) {
    wrong(std::move(path), problem.problem, problem.fix);
  }
  static std::optional<std::uint32_t> number(const json::Value& of, std::string_view key) {
    const json::Value* found = of.find(key);
    if (found == nullptr || !found->is_integer()) return std::nullopt;
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(found->integer(), 0, UINT32_MAX));
  }
  static std::optional<double> real(const json::Value& of, std::string_view key) {
    const json::Value* found = of.find(key);
    if (found == nullptr || !found->is_number()) return std::nullopt;
    return found->number();
  }

  /// The numbers of a list, or `fallback` where there is none.
  std::vector<std::uint32_t> numbers(std::string_view key, std::vector<std::uint32_t> fallback) const {
    if (!has_param(key)) return fallback;
    std::vector<std::uint32_t> out;
    for (const json::Value& each : json::items(&params_, {key}))
      out.push_back(static_cast<std::uint32_t>(std::clamp<std::int64_t>(each.integer(), 0, UINT32_MAX)));
    std::ranges::sort(out);
    return out;
  }

  std::optional<ModelEndpoint> endpoint_at(std::string_view key) {
    const json::Value* found = body_.find(key);
    if (found == nullptr || !found->is_object()) return std::nullopt;
    return endpoint(*found, fmt::format("{}.", key));
  }

  ModelEndpoint endpoint(const json::Value& of, std::string_view before) {
    ModelEndpoint out{.url = std::string(json::text(&of, {"model_endpoint"})),
                      .model = std::string(json::text(&of, {"model"})),
                      .api_key = std::string(json::text(&of, {"api_key"}))};
    const json::Value* found = of.find("model_endpoint");
    if (found != nullptr && found->is_string()) check_endpoint(fmt::format("{}model_endpoint", before), out.url);
    // It becomes a header.
    if (std::ranges::any_of(out.api_key, [](char c) { return c < 0x21 || c > 0x7e; }))
      wrong(fmt::format("{}api_key", before), "has a character that no key has", "write the key alone, without spaces");
    return out;
  }

  /// And without the slashes at its end.
  void check_endpoint(const std::string& path, std::string& text) {
    while (text.ends_with('/')) text.pop_back();
    const auto url = grammar::parse_http_url(text);
    if (!url) return wrong(path, url.error());
    if (!url->query.empty() || !url->fragment.empty() || text.find_first_of("?#") != std::string::npos)
      return wrong(path, "has a query or a fragment", "write the base URL alone, up to /v1");
    if (url->path.ends_with("/v1")) return;
    const std::size_t version = text.find("/v1/");
    wrong(path, "must end in /v1",
          version == std::string::npos ? fmt::format("write \"{}/v1\"", text)
                                       : fmt::format("write \"{}\"", text.substr(0, version + 3)));
  }

  void check_tasks(std::span<const std::string> tasks) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const std::string& task = tasks[i];
      const std::string path = fmt::format("tasks[{}]", i);
      const auto fits = [](char c) { return ascii::is_alphanumeric(c) || std::string_view("_.:-").contains(c); };
      if (!std::ranges::all_of(task, fits) || task.starts_with('-') || task.starts_with('.'))
        wrong(path, "is no name of a task", "use letters, digits, \"_\", \".\", \":\" and \"-\"");
      else if (!seen.insert(task).second)
        wrong(path, fmt::format("names \"{}\" once more", task), "name each task once");
    }
  }

  DatasetSource dataset() {
    const std::string_view text = json::text(&body_, {"dataset"});
    if (text.empty()) return {};
    const auto found = grammar::parse_dataset_reference(text);
    if (!found) {
      wrong("dataset", found.error());
      return {.repository = std::string(text)};
    }
    return {.repository = std::string(found->repository),
            .path = std::string(found->path),
            .revision = std::string(found->revision)};
  }

  std::string rows() {
    std::string out;
    for (const json::Value& each : json::items(&body_, {"rows"})) out += json::to_json(each) + "\n";
    if (out.size() > largest_inline_rows)
      wrong("rows", fmt::format("has more than {} KiB", largest_inline_rows >> 10U),
            "put them into a data set, and name it in \"dataset\"");
    if (has("rows") && has("dataset")) wrong("rows", "is given beside a data set", "give one of them");
    return out;
  }

  RequestSettings settings(Framework framework) const {
    RequestSettings out;
    out.parallelism = number(params_, "parallelism").value_or(out.parallelism);
    out.timeout_seconds = number(params_, "request_timeout").value_or(out.timeout_seconds);
    out.max_retries = number(params_, "max_retries").value_or(out.max_retries);
    out.max_tokens = number(params_, "max_tokens").value_or(out.max_tokens);
    out.temperature = real(params_, "temperature");
    out.top_p = real(params_, "top_p");
    const std::string_view format = json::text(&params_, {"format"});
    // Task files are written for prompts, rows of questions for conversations.
    out.chat =
        format.empty() ? framework != Framework::custom && framework != Framework::lm_eval_harness : format == "chat";
    return out;
  }

  RowTemplates templates() {
    RowTemplates out{.prompt = std::string(json::text(&params_, {"prompt"})),
                     .response = std::string(json::text(&params_, {"response"})),
                     .reference = std::string(json::text(&params_, {"reference"})),
                     .judge_prompt = std::string(json::text(&params_, {"judge_prompt"}))};
    for (const json::Member& each : json::members(&params_, {"scores"})) {
      JudgeScore score{.name = std::string(each.key), .pattern = std::string(json::text(&each.value, {"pattern"}))};
      score.least = real(each.value, "minimum").value_or(score.least);
      score.most = real(each.value, "maximum").value_or(score.most);
      if (score.least >= score.most)
        wrong(fmt::format("params.scores.{}.maximum", each.key), "must be greater than the minimum",
              "write both ends of the scale");
      out.scores.push_back(std::move(score));
    }
    for (const json::Value& each : json::items(&params_, {"metrics"})) out.metrics.emplace_back(each.string());
    for (const json::Member& each : json::members(&params_, {"checks"}))
      out.checks.push_back({.name = std::string(each.key),
                            .operation = std::string(json::text(&each.value, {"operation"})),
                            .reference = std::string(json::text(&each.value, {"reference"}))});
    return out;
  }

  RetrievalSettings retrieval() {
    RetrievalSettings out;
    const auto index = std::ranges::find(index_names, json::text(&params_, {"index"}));
    if (index != index_names.end()) out.index = static_cast<RetrievalSettings::Index>(index - index_names.begin());
    out.top_k = number(params_, "top_k").value_or(out.top_k);
    out.chunk_size = number(params_, "chunk_size").value_or(out.chunk_size);
    out.chunk_overlap = number(params_, "chunk_overlap").value_or(out.chunk_overlap);
    out.cutoffs = numbers("cutoffs", std::move(out.cutoffs));
    if (out.chunk_overlap > 0 && out.chunk_overlap >= out.chunk_size)
      wrong("params.chunk_overlap", "must be less than params.chunk_size",
            "write how many characters two neighbouring chunks share, or leave it out");
    return out;
  }

  CodeSettings code() {
    CodeSettings out;
    out.programs = number(params_, "programs").value_or(out.programs);
    out.ks = numbers("ks", std::move(out.ks));
    out.run_seconds = number(params_, "run_seconds").value_or(out.run_seconds);
    if (!out.ks.empty() && out.ks.back() > out.programs)
      wrong("params.ks", fmt::format("has {}, but only {} programs are asked for", out.ks.back(), out.programs),
            fmt::format("write \"programs\": {} or more", out.ks.back()));
    return out;
  }

  /// Here if it can be and its data set is named.
  Engine engine(const EvaluationRequest& request) {
    const std::string_view word = json::text(&params_, {"engine"});
    if (word == "workflow" && !has_image(request.framework))
      wrong("params.engine", fmt::format("no workflow runs {}", to_string(request.framework)),
            "leave it out, or choose lm-eval-harness");
    if (!word.empty()) return word == "workflow" ? Engine::workflow : Engine::native;
    return has("dataset") || has("rows") || needs_dataset(request.framework) ? Engine::native : Engine::workflow;
  }

  void missing(std::string_view path, std::string fix) { wrong(std::string(path), "is missing", std::move(fix)); }

  void check_own_members(Framework framework) {
    constexpr std::string_view of_params = "params.";
    for (const OwnMember& each : own_members) {
      const bool given =
          each.name.starts_with(of_params) ? has_param(each.name.substr(of_params.size())) : has(each.name);
      if (given && std::ranges::find(each.frameworks(), framework) == each.frameworks().end())
        wrong(std::string(each.name), fmt::format("means nothing to {}", to_string(framework)),
              fmt::format("leave it out, or choose {}", names_of(each.frameworks())));
    }
  }

  void check_framework(EvaluationRequest& out) {
    const Framework framework = out.framework;
    if (out.tasks.empty() && (framework == Framework::custom || framework == Framework::lm_eval_harness ||
                              framework == Framework::bigcode_eval_harness)) {
      if (!has("tasks")) missing("tasks", fmt::format("name the tasks of {}", to_string(framework)));
    } else if (out.tasks.empty()) {
      out.tasks.emplace_back(to_string(framework));
    }
    if ((needs_dataset(framework) || out.engine == Engine::native) && !has("dataset") && !has("rows"))
      missing("dataset", "name its data set, such as \"ada/questions\" or \"hf://datasets/ada/questions/test.jsonl\"");
    if (!has("model_endpoint") && (out.engine == Engine::workflow || asks_model(out)))
      missing("model_endpoint", "write the model's URL, up to /v1");
    if (has("rows") && out.engine == Engine::workflow)
      wrong("rows", "is not passed on to a workflow", "put them into a data set, and name it in \"dataset\"");
    if (has("rows") && out.tasks.size() > 1)
      wrong("tasks", "has several, and rows are of one", "name one, or put the rows of each into a file of a data set");
    check_own_members(framework);
    const bool by_rows = framework == Framework::similarity_metrics || framework == Framework::llm_as_judge;
    if (by_rows && has_param("prompt") == has_param("response"))
      wrong(
          "params",
          has_param("prompt") ? "has both \"prompt\" and \"response\"" : "has neither \"prompt\" nor \"response\"",
          R"(write "prompt" to ask the model ("{{ item.question }}"), or "response" for answers that the data set has)");
    // Checks have references of their own.
    if (framework == Framework::similarity_metrics && !has_param("reference") &&
        (has_param("metrics") || !has_param("checks")))
      missing("params.reference", R"(write what is expected: "{{ item.answer }}")");
    if (out.engine == Engine::native)
      check_native(out);
    else if (out.bootstrap_rounds)
      wrong("params.bootstrap_rounds", "is not passed on to a workflow",
            "leave it out: the harness has a number of its own");
    if (asks_model(out) && out.judge && out.judge->url == out.target.url && out.judge->model == out.target.model)
      warnings_.push_back({.rule = "evaluation-judge",
                           .severity = validate::Severity::warning,
                           .path = "judge",
                           .problem = "is the model that is judged",
                           .fix = "name another model: one that judges itself is partial"});
  }

  /// What this service needs to compute it; an image may know better.
  void check_native(const EvaluationRequest& out) {
    const Framework framework = out.framework;
    if ((framework == Framework::llm_as_judge || framework == Framework::mt_bench) && !out.judge)
      missing("judge", "write the model_endpoint and model that judge");
    if ((framework == Framework::retriever || framework == Framework::rag) && !out.embeddings)
      missing("embeddings", "write the model_endpoint and model that make vectors of texts");
    if (framework != Framework::llm_as_judge) return;
    if (!has_param("judge_prompt"))
      missing("params.judge_prompt", R"(write what the judge is asked, with "{{ sample.output_text }}" in it)");
    if (!has_param("scores"))
      missing("params.scores", R"(write how a score is read: {"rating": {"pattern": "\\[\\[(\\d+)\\]\\]"}})");
  }

  const json::Value& body_;
  const json::Value params_;
  Findings& findings_;
  Findings& warnings_;
};

}  // namespace

bool asks_model(const EvaluationRequest& request) {
  return request.rows.response.empty() && request.framework != Framework::retriever &&
         request.framework != Framework::agentic_eval;
}

std::expected<EvaluationRequest, Findings> read_evaluation(const json::Value& body, Findings& warnings) {
  static const web::BodySchema schema(evaluation_schema, longest_text);
  Findings findings = schema.check(body);
  for (Finding& each : findings)
    if (each.path.ends_with("api_key") || each.path.ends_with("model_endpoint")) each.value.clear();
  if (!body.is_object()) return std::unexpected(std::move(findings));
  EvaluationRequest out = Reader(body, findings, warnings).read();
  if (validate::has_errors(findings)) return std::unexpected(std::move(findings));
  return out;
}

}  // namespace stackgate::evaluator
