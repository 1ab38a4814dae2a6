#include <span>
#include <string>
#include <string_view>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

void write_endpoint(json::Writer& w, const ModelEndpoint& endpoint) {
  if (!endpoint.url.empty()) w.member("model_endpoint", endpoint.url);
  if (!endpoint.model.empty()) w.member("model", endpoint.model);
  if (!endpoint.api_key.empty()) w.member("api_key", masked_key);
}

std::string reference_text(const DatasetSource& source) {
  std::string out = "hf://datasets/" + source.repository;
  if (!source.path.empty()) out += "/" + source.path;
  if (!source.revision.empty()) out += "@" + source.revision;
  return out;
}

void write_rows(json::Writer& w, const RowTemplates& rows) {
  const auto text = [&w](std::string_view key, const std::string& value) {
    if (!value.empty()) w.member(key, value);
  };
  text("prompt", rows.prompt);
  text("response", rows.response);
  text("reference", rows.reference);
  text("judge_prompt", rows.judge_prompt);
  if (!rows.scores.empty())
    w.object("scores", [&] {
      for (const JudgeScore& each : rows.scores)
        w.object(each.name, [&] {
          w.member("pattern", each.pattern);
          w.member("minimum", each.least);
          w.member("maximum", each.most);
        });
    });
  if (!rows.metrics.empty())
    w.array("metrics", [&] {
      for (const std::string& each : rows.metrics) w.value(each);
    });
  if (!rows.checks.empty())
    w.object("checks", [&] {
      for (const RowCheck& each : rows.checks)
        w.object(each.name, [&] {
          w.member("operation", each.operation);
          w.member("reference", each.reference);
        });
    });
}

void write_numbers(json::Writer& w, std::string_view name, std::span<const std::uint32_t> numbers) {
  w.array(name, [&] {
    for (const std::uint32_t each : numbers) w.value(each);
  });
}

void write_retrieval(json::Writer& w, const RetrievalSettings& settings) {
  w.member("index", index_names.at(static_cast<std::size_t>(settings.index)));
  w.member("top_k", settings.top_k);
  if (settings.chunk_size > 0) w.member("chunk_size", settings.chunk_size);
  if (settings.chunk_overlap > 0) w.member("chunk_overlap", settings.chunk_overlap);
  write_numbers(w, "cutoffs", settings.cutoffs);
}

void write_params(json::Writer& w, const EvaluationRequest& request) {
  const RequestSettings& settings = request.requests;
  w.member("engine", request.engine == Engine::native ? "native" : "workflow");
  w.member("parallelism", settings.parallelism);
  w.member("request_timeout", settings.timeout_seconds);
  w.member("max_retries", settings.max_retries);
  w.member("max_tokens", settings.max_tokens);
  if (settings.temperature) w.member("temperature", *settings.temperature);
  if (settings.top_p) w.member("top_p", *settings.top_p);
  w.member("format", settings.chat ? "chat" : "completions");
  if (request.bootstrap_rounds) w.member("bootstrap_rounds", *request.bootstrap_rounds);
  write_rows(w, request.rows);
  if (request.framework == Framework::retriever || request.framework == Framework::rag)
    write_retrieval(w, request.retrieval);
  if (!request.mt_bench.baseline.empty()) w.member("baseline", request.mt_bench.baseline);
  if (request.framework == Framework::bigcode_eval_harness) {
    w.member("programs", request.code.programs);
    write_numbers(w, "ks", request.code.ks);
    w.member("run_seconds", request.code.run_seconds);
  }
}

}  // namespace

std::string to_json(const EvaluationRequest& request) {
  return json::object_text([&](json::Writer& w) {
    w.member("name", request.name);
    if (!request.description.empty()) w.member("description", request.description);
    w.member("framework", to_string(request.framework));
    write_endpoint(w, request.target);
    w.array("tasks", [&] {
      for (const std::string& task : request.tasks) w.value(task);
    });
    if (request.num_fewshot) w.member("num_fewshot", *request.num_fewshot);
    if (request.limit) w.member("limit", *request.limit);
    w.member("seed", request.seed);
    if (!request.dataset.repository.empty()) w.member("dataset", reference_text(request.dataset));
    if (!request.inline_rows.empty())
      w.array("rows", [&] {
        for (std::string_view rest = request.inline_rows; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1))
          w.raw(rest.substr(0, rest.find('\n')));
      });
    w.object("params", [&] { write_params(w, request); });
    if (request.judge) w.object("judge", [&] { write_endpoint(w, *request.judge); });
    if (request.embeddings) w.object("embeddings", [&] { write_endpoint(w, *request.embeddings); });
  });
}

}  // namespace stackgate::evaluator
