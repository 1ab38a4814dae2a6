#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "services/inference/front/adapter_routes.hpp"
#include "services/inference/front/front.hpp"
#include "services/inference/program/program.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/health.hpp"
#include "services/model/graph_library/load_graph.hpp"
#include "services/model/loading/weights.hpp"

namespace stackgate::inference {

using namespace std::chrono_literals;

namespace serve_detail {

constexpr std::chrono::hours for_ever{24};
constexpr std::chrono::milliseconds look{20};

/// Loads the weights, on the engine's thread.
Engine::Open opening(std::shared_ptr<const BaseModel> model, std::string directory, const model::GraphLibrary& library,
                     const EngineOptions& options, const model::GraphOptions& graph_options) {
  return [model = std::move(model), directory = std::move(directory), library, options,
          graph_options]() -> std::expected<std::unique_ptr<model::Graph>, std::string> {
    auto weights = model::Weights::map(directory, model->directory);
    if (!weights) return std::unexpected(validate::to_line(weights.error()));
    const std::uint64_t bytes = weights->mapped_bytes();
    auto graph = TRY(library.open(model->directory, std::move(*weights), graph_options));
    log::info("the model is loaded", {{"model", model->name},
                                      {"weights_bytes", bytes},
                                      {"cache_tokens", options.limits.pages * options.limits.page_tokens},
                                      {"device", model::to_string(graph_options.placement.device)},
                                      {"dtype", model::arithmetic_name(graph_options.placement.dtype)},
                                      {"threads", graph_options.threads},
                                      {"blas", library.blas()}});
    return graph;
  };
}

struct Computing {
  model::GraphLibrary library;
  model::Placement placement;
};

/// The library, and what it computes on; nothing of the weights is read.
std::expected<Computing, Error> computing(const settings::Values& values, const BaseModel& model) {
  const std::string& own = values.text("engine-library");
  const auto library = model::load_graph_library(own.empty() ? model::default_graph_library() : own);
  if (!library) return std::unexpected(Error{library.error()});
  const auto device = library->device(asked_device(values));
  if (!device) return std::unexpected(Error{device.error()});
  return Computing{*library, TRY(placement_on(*device, values, model))};
}

/// vLLM's and NIM's places for what the kit has already.
web::Route versioned_metrics(metrics::Registry& metrics) { return web::metrics_route(metrics, "/v1/metrics"); }

}  // namespace serve_detail

std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& metrics) {
  if (values.has("upstream-url")) return build_upstream(values, metrics);
  const BaseModelOptions wanted = TRY(model_options(values));
  auto model = load_base_model(wanted);
  if (!model)
    return std::unexpected(Error{fmt::format("the model in {} cannot be served ('check {}' shows it line by line): {}",
                                             wanted.directory, wanted.directory, to_line(model.error()))});
  for (const validate::Finding& each : (*model)->warnings)
    log::warning("the model", {{"where", each.path}, {"problem", validate::to_line(each)}});
  const auto [library, placement] = TRY(serve_detail::computing(values, **model));
  EngineOptions options = engine_options(values, **model, placement);
  options.stepped = step_figure(metrics, (*model)->name);
  const std::size_t cache_tokens = options.limits.pages * options.limits.page_tokens;
  if (cache_tokens < (*model)->limits.context)
    log::warning("prompt and answer can have fewer tokens than the model allows: --kv-cache is too small for them",
                 {{"tokens", cache_tokens}, {"model_tokens", std::uint64_t{(*model)->limits.context}}});

  auto front = std::make_shared<Front>();
  front->model = *model;
  front->engine = std::make_shared<Engine>(
      options, Vocabulary{(*model)->tokenizer, std::make_shared<const TokenTrie>(*(*model)->tokenizer)},
      serve_detail::opening(*model, wanted.directory, library, options,
                            {.threads = engine_threads(values),
                             .blocks = options.limits.pages,
                             .block_tokens = options.limits.page_tokens,
                             .placement = placement}));
  if (const std::string why = front->engine->not_ready(serve_detail::for_ever); !why.empty())
    return std::unexpected(Error{why});
  std::shared_ptr<AdapterStore> adapters;
  if (has_adapters(values)) adapters = TRY(open_adapters(values, **model, front->engine, metrics));
  front->adapters = adapters ? names_of(adapters, *model) : no_adapters();
  front->options = {.timeout = std::chrono::milliseconds(values.integer("request-timeout")),
                    .embeddings = !values.flag("no-embeddings"),
                    .last_token_embeddings = values.text("pooling") == "last",
                    .cache_tokens = cache_tokens};
  front->encoders = std::make_shared<Encoders>((*model)->tokenizer);
  front->metrics = std::make_shared<ServingMetrics>(metrics, (*model)->name, options.limits.schedule.sequences,
                                                    adapters ? options.limits.schedule.adapters : 0,
                                                    [engine = front->engine] { return engine->facts(); });
  service::Parts parts{.routes = routes(front), .about = {{"model", (*model)->name}, {"directory", wanted.directory}}};
  if (!values.text("peft-source").empty())
    parts.checks.push_back({"adapters",
                            [adapters](std::chrono::milliseconds limit) -> std::expected<void, Error> {
                              for (auto waited = 0ms; waited < limit; waited += serve_detail::look) {
                                if (adapters->has_listed()) return {};
                                std::this_thread::sleep_for(serve_detail::look);
                              }
                              return std::unexpected(Error{"the source of adapters has not answered yet"});
                            },
                            true});
  if (adapters)
    for (web::Route& each : adapter_routes(adapters, values.flag("allow-runtime-lora")))
      parts.routes.push_back(std::move(each));
  parts.routes.push_back(serve_detail::versioned_metrics(metrics));
  parts.at_drain_limit = [engine = front->engine] { engine->stop(); };  // each request ends with an error of ours
  parts.on_stop = [engine = front->engine] { engine->stop(); };
  parts.keep = front;
  return parts;
}

}  // namespace stackgate::inference
