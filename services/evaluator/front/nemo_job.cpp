#include "services/evaluator/front/nemo_job.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "services/evaluator/api/known_tasks.hpp"
#include "services/evaluator/front/nemo_task.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator {
namespace nemo_job_detail {

using validate::Findings;

constexpr std::array<std::string_view, 8> members_of_jobs = {"name", "namespace", "project",       "description",
                                                             "tags", "ownership", "custom_fields", "target"};
constexpr std::array<std::string_view, 5> target_types = {"model", "rows", "dataset", "retriever", "rag"};
/// What a task with templates of its own is written as.
constexpr std::array<std::string_view, 7> own_members = {"prompt",  "response", "reference", "judge_prompt",
                                                         "metrics", "checks",   "scores"};
/// NeMo's words for our frameworks.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> type_names = {
    {{"lm-harness", "lm-eval-harness"},
     {"lm-evaluation-harness", "lm-eval-harness"},
     {"bigcode", "bigcode-eval-harness"},
     {"bigcode-evaluation-harness", "bigcode-eval-harness"},
     {"llm-judge", "llm-as-judge"},
     {"similarity", "similarity-metrics"},
     {"mtbench", "mt-bench"}}};

std::string_view dataset_of(const json::Value& of) {
  const json::Value dataset = json::value_at(&of, {"dataset"});
  return dataset.is_string() ? dataset.string() : json::text(&dataset, {"files_url"});
}

class Job {
 public:
  explicit Job(const json::Value& job)
      : job_(job),
        target_(json::value_at(&job, {"target"})),
        config_(json::value_at(&job, {"config"})),
        params_(json::value_at(&config_, {"params"})) {}

  std::expected<std::string, Findings> body() {
    check_members();
    read_target();
    read_config();
    if (!findings_.empty()) return std::unexpected(std::move(findings_));
    return json::object_text([this](json::Writer& w) { write(w); });
  }

 private:
  void wrong(std::string path, std::string problem, std::string fix) {
    findings_.push_back(
        {.rule = "evaluation-job", .path = std::move(path), .problem = std::move(problem), .fix = std::move(fix)});
  }

  void check_members() {
    for (const json::Member& each : job_.members()) {
      if (each.key == "config" || std::ranges::find(members_of_jobs, each.key) != members_of_jobs.end()) continue;
      const std::string_view near = validate::nearest(each.key, members_of_jobs);
      wrong(std::string(each.key), "is no member of a job",
            near.empty() ? std::string("leave it out") : fmt::format("did you mean \"{}\"?", near));
    }
  }

  void read_target() {
    if (target_.is_string()) {
      wrong("target", "names a stored target, and this service stores none",
            R"(write the target itself: {"type": "model", "model": {"api_endpoint": {"url"}}})");
      return;
    }
    if (!target_.is_object()) {
      wrong("target", "is missing", R"(write {"type": "model", "model": {"api_endpoint": {"url"}}})");
      return;
    }
    const std::string_view type = json::text(&target_, {"type"});
    if (type == "model")
      model_ = endpoint("target.model", json::value_at(&target_, {"model"}));
    else if (type == "rows")
      read_rows();
    else if (type == "dataset")
      dataset_ = files("target.dataset", target_);
    else if (type == "retriever")
      read_retriever("target.retriever.pipeline", json::value_at(&target_, {"retriever", "pipeline"}));
    else if (type == "rag")
      read_rag();
    else if (type == "cached_outputs")
      wrong("target.type", "has answers in files of their own, which this service does not read",
            R"(put the answers into the rows, and write {"type": "dataset", "dataset": {"files_url"}})");
    else
      wrong("target.type", "is none that jobs of this service have",
            fmt::format("write {}", fmt::join(target_types, ", ")));
  }

  std::optional<ModelEndpoint> endpoint(const std::string& path, const json::Value& model) {
    if (model.is_string())
      wrong(path, "names a stored model, and this service stores none", R"(write {"api_endpoint": {"url"}})");
    else if (ModelEndpoint out = nemo_endpoint(model); !out.url.empty())
      return out;
    else
      wrong(path + ".api_endpoint.url", "is missing", "write the model's URL, up to /v1");
    return std::nullopt;
  }

  std::string files(const std::string& path, const json::Value& of) {
    const std::string_view out = dataset_of(of);
    if (out.empty())
      wrong(path + ".files_url", "is missing", R"(write where its files are: "hf://datasets/ada/questions")");
    return std::string(out);
  }

  void read_rows() {
    rows_ = json::value_at(&target_, {"rows"});
    if (!rows_.is_array() || rows_.items().empty())
      wrong("target.rows", rows_.is_array() ? "is empty" : "is missing", R"(write [{"question": "…", "answer": "…"}])");
  }

  void read_retriever(const std::string& path, const json::Value& pipeline) {
    embeddings_ = endpoint(path + ".query_embedding_model", json::value_at(&pipeline, {"query_embedding_model"}));
    if (const json::Value* index = pipeline.find("index_embedding_model")) {
      const ModelEndpoint other = nemo_endpoint(*index);
      if (embeddings_ && (other.url != embeddings_->url || other.model != embeddings_->model))
        wrong(path + ".index_embedding_model", "is not the model that embeds questions",
              "name one model: documents and questions are embedded by the same here");
    }
    if (const json::Value* reranker = pipeline.find("reranker_model"); reranker != nullptr && !reranker->is_null())
      wrong(path + ".reranker_model", "is no stage of this service",
            "leave it out: documents are ranked by embeddings");
    if (const json::Value* k = pipeline.find("top_k")) top_k_ = *k;
  }

  void read_rag() {
    const json::Value pipeline = json::value_at(&target_, {"rag", "pipeline"});
    json::Value retriever = json::value_at(&pipeline, {"retriever"});
    if (const json::Value* inner = retriever.find("pipeline")) retriever = *inner;
    read_retriever("target.rag.pipeline.retriever", retriever);
    model_ = endpoint("target.rag.pipeline.model", json::value_at(&pipeline, {"model"}));
  }

  void read_config() {
    if (config_.is_string()) {
      wrong("config", "names a stored configuration, and this service stores none",
            R"(write the configuration itself: {"type", "tasks", "params"})");
      return;
    }
    std::string type(json::text(&config_, {"type"}));
    if (!config_.is_object() || type.empty()) {
      wrong("config", "is none that stands in the body", R"(write {"type", "tasks", "params"})");
      return;
    }
    const auto tasks = json::members(&config_, {"tasks"});
    if (is_benchmark(type)) {
      if (tasks.empty()) tasks_.push_back(type);
    } else {
      std::ranges::replace(type, '_', '-');
      const auto known = std::ranges::find(type_names, type, &std::pair<std::string_view, std::string_view>::first);
      framework_ = known == type_names.end() ? type : std::string(known->second);
    }
    for (const json::Member& task : tasks) read_task(task);
    if (custom_ && framework_ == "custom")
      for (const std::string_view each : own_members)
        if (params_.find(each) != nullptr)
          wrong(fmt::format("config.params.{}", each), "is given beside the task's own", "write it in the task alone");
    if (dataset_.empty() && rows_.is_null()) dataset_ = dataset_of(config_);
  }

  /// The name of one of the harnesses' benchmarks stands where others have a framework's.
  bool is_benchmark(std::string_view type) {
    for (const Framework each : {Framework::bigcode_eval_harness, Framework::lm_eval_harness}) {
      const auto known = known_tasks(each);
      if (std::ranges::find(known, type) == known.end()) continue;
      framework_ = to_string(each);
      return true;
    }
    return false;
  }

  void read_task(const json::Member& task) {
    const std::string path = fmt::format("config.tasks.{}", task.key);
    const std::string_view type = json::text(&task.value, {"type"});
    const bool of_harness = framework_ == "lm-eval-harness" || framework_ == "bigcode-eval-harness";
    tasks_.emplace_back(of_harness && !type.empty() && type != "default" ? type : task.key);
    if (std::string_view own = dataset_of(task.value); !own.empty()) {
      if (!dataset_.empty() && dataset_ != own)
        wrong(path + ".dataset", "is another data set than the one before it", "write a job for each of them");
      if (!rows_.is_null()) wrong(path + ".dataset", "is named beside rows", "give one of them");
      dataset_ = own;
    }
    if (const json::Value* judge = json::at(&task.value, {"params", "judge_llm"})) judge_ = nemo_endpoint(*judge);
    if (framework_ == "similarity-metrics" && !json::members(&task.value, {"metrics"}).empty())
      read_similarity(task.value);
    if (framework_ != "custom" || json::members(&task.value, {"metrics"}).empty()) return;
    if (custom_) {
      wrong(path, "is a second task with templates of its own", "write a job for each of them");
      return;
    }
    custom_ = read_nemo_task(path, task.value, model_.has_value(), findings_);
  }

  /// NeMo's columns of such data sets are "prompt" and "ideal_response".
  void read_similarity(const json::Value& task) {
    custom_.emplace();
    for (const json::Member& each : json::members(&task, {"metrics"})) {
      const std::string_view type = json::text(&each.value, {"type"});
      custom_->metrics.emplace_back(type.empty() ? each.key : type);
    }
    if (model_ && params_.find("response") == nullptr && params_.find("prompt") == nullptr)
      custom_->prompt = "{{ item.prompt }}";
    if (params_.find("reference") == nullptr) custom_->reference = "{{ item.ideal_response }}";
  }

  void write(json::Writer& w) const {
    const std::string_view name = json::text(&job_, {"name"});
    w.member("name", name.empty() ? "job-" + crypto::random_hex(8) : std::string(name));
    if (const std::string_view text = json::text(&job_, {"description"}); !text.empty()) w.member("description", text);
    w.member("framework", custom_ ? to_string(custom_->framework) : std::string_view(framework_));
    if (model_) write_nemo_endpoint(w, *model_);
    if (!tasks_.empty())
      w.array("tasks", [&] {
        for (const std::string& each : tasks_) w.value(each);
      });
    if (!dataset_.empty()) w.member("dataset", dataset_);
    if (rows_.is_array()) w.member("rows", rows_);
    for (const auto& [theirs, ours] :
         {std::pair{"limit_samples", "limit"}, std::pair{"num_fewshot", "num_fewshot"}, std::pair{"seed", "seed"}})
      if (const json::Value* found = params_.find(theirs)) w.member(ours, *found);
    if (const json::Value* shots = json::at(&params_, {"extra", "num_fewshot"});
        shots != nullptr && params_.find("num_fewshot") == nullptr)
      w.member("num_fewshot", *shots);
    w.object("params", [&] { write_params(w); });
    std::optional<ModelEndpoint> judge = custom_ && custom_->judge ? custom_->judge : judge_;
    if (const json::Value* given = config_.find("judge")) judge = nemo_endpoint(json::value_at(given, {"model"}));
    if (judge) w.object("judge", [&] { write_nemo_endpoint(w, *judge); });
    if (embeddings_) w.object("embeddings", [&] { write_nemo_endpoint(w, *embeddings_); });
  }

  void write_params(json::Writer& w) const {
    if (params_.is_object()) w.members(params_, {"limit_samples", "num_fewshot", "seed", "extra"});
    // What has no place here is a fault of its own, under the name that it has there.
    for (const json::Member& each : json::members(&params_, {"extra"}))
      if (each.key != "num_fewshot") w.member(fmt::format("extra.{}", each.key), each.value);
    const auto text = [&](std::string_view key, const std::string& value) {
      if (!value.empty() && params_.find(key) == nullptr) w.member(key, value);
    };
    text("format", format());
    if (top_k_.is_integer() && params_.find("top_k") == nullptr) w.member("top_k", top_k_);
    if (!custom_ || custom_->framework == Framework::bfcl) return;
    for (const json::Member& each : custom_->settings)
      if (params_.find(each.key) == nullptr) w.member(each.key, each.value);
    text("prompt", custom_->prompt);
    text("response", custom_->response);
    text("reference", custom_->reference);
    text("judge_prompt", custom_->judge_prompt);
    if (!custom_->metrics.empty() && params_.find("metrics") == nullptr)
      w.array("metrics", [&] {
        for (const std::string& each : custom_->metrics) w.value(each);
      });
    if (!custom_->checks.empty())
      w.object("checks", [&] {
        for (const RowCheck& each : custom_->checks)
          w.object(each.name, [&] {
            w.member("operation", each.operation);
            w.member("reference", each.reference);
          });
      });
    if (!custom_->scores.empty())
      w.object("scores", [&] {
        for (const JudgeScore& each : custom_->scores)
          w.object(each.name, [&] {
            w.member("pattern", each.pattern);
            w.member("minimum", each.least);
            w.member("maximum", each.most);
          });
      });
  }

  /// "chat", "completions", or what the target says instead.
  std::string format() const {
    if (custom_ && framework_ == "custom") return custom_->chat ? "chat" : "completions";
    const json::Value endpoint = json::value_at(&target_, {"model", "api_endpoint"});
    const std::string_view given = json::text(&endpoint, {"format"}), url = json::text(&endpoint, {"url"});
    if (given == "openai" || given == "nim" || (given.empty() && url.ends_with("/chat/completions"))) return "chat";
    if (given.empty() && url.ends_with("/completions")) return "completions";
    return std::string(given);
  }

  const json::Value& job_;
  const json::Value target_, config_, params_;
  Findings findings_{};
  std::string framework_{}, dataset_{};
  json::Value rows_{}, top_k_{};
  std::vector<std::string> tasks_{};
  std::optional<ModelEndpoint> model_{}, judge_{}, embeddings_{};
  std::optional<NemoTask> custom_{};
};

}  // namespace nemo_job_detail

std::expected<std::string, validate::Findings> own_body(const json::Value& job) {
  return nemo_job_detail::Job(job).body();
}

}  // namespace stackgate::evaluator
