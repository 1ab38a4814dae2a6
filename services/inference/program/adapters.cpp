#include <string>

#include "services/inference/program/program.hpp"

namespace stackgate::inference {

bool has_adapters(const settings::Values& values) {
  return !values.text("peft-source").empty() || values.flag("allow-runtime-lora");
}

std::expected<std::shared_ptr<AdapterStore>, Error> open_adapters(const settings::Values& values,
                                                                  const BaseModel& model,
                                                                  const std::shared_ptr<Engine>& engine,
                                                                  metrics::Registry& metrics) {
  const model::AdapterLimits limits{.max_rank = static_cast<std::uint32_t>(values.integer("max-lora-rank"))};
  AdapterStoreOptions options{.source = values.text("peft-source"),
                              .data_dir = values.text("data-dir"),
                              .resident = static_cast<std::size_t>(values.integer("max-gpu-loras")),
                              .memory = static_cast<std::size_t>(values.integer("max-cpu-loras")),
                              .base_names = {model.name},
                              .allowed_directory = values.text("adapter-dir"),
                              .check = check_against(model.directory.config, limits),
                              .load = load_for(model.directory.config, limits),
                              .gone = [engine](std::uint64_t key) { engine->forget(key); }};
  // An entitystore has adapters for many models; who fills a directory means this one, however it was called in
  // training.
  if (options.source.starts_with("http://") || options.source.starts_with("https://"))
    options.base_models = {model.name, model.root};
  if (values.has("peft-refresh-interval"))
    options.refresh_interval = std::chrono::seconds(values.integer("peft-refresh-interval"));
  auto store = AdapterStore::open(std::move(options), metrics);
  if (!store) return std::unexpected(Error{std::move(store.error())});
  return std::shared_ptr<AdapterStore>(std::move(*store));
}

}  // namespace stackgate::inference
