// stackgate-inference as a process: settings in, a server or a check out.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "services/inference/adapters/store.hpp"
#include "services/inference/engine/engine.hpp"
#include "services/inference/front/base_model.hpp"
#include "services/kit/base/error.hpp"
#include "services/kit/metrics/registry.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/settings/settings.hpp"
#include "services/model/directory/placement.hpp"

namespace stackgate::inference {

settings::Program program();
/// What one setting has to do with another. Pure.
validate::Findings check_options(const settings::Values& values);

std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& metrics);
/// In front of engines of others: nothing of the model is read and no libtorch loaded.
std::expected<service::Parts, Error> build_upstream(const settings::Values& values, metrics::Registry& metrics);
int run_command(const settings::Values& values);

/// --model, or what the operator has mounted.
std::string model_directory(const settings::Values& values);
/// The error: its file cannot be read.
std::expected<BaseModelOptions, Error> model_options(const settings::Values& values);

/// --device; nothing: a GPU where there is one.
std::optional<model::Device> asked_device(const settings::Values& values);
/// --dtype on that device. The error: it does not compute in it.
std::expected<model::Placement, Error> placement_on(model::Device device, const settings::Values& values,
                                                    const BaseModel& model);

/// Pages of the cache, steps and queue, for this model.
EngineOptions engine_options(const settings::Values& values, const BaseModel& model, const model::Placement& placement);
unsigned engine_threads(const settings::Values& values);

/// Whether there is a source of adapters, or they may be loaded at run time.
bool has_adapters(const settings::Values& values);
/// Found, kept and loaded for this model; pages of versions that are gone are forgotten by the engine.
std::expected<std::shared_ptr<AdapterStore>, Error> open_adapters(const settings::Values& values,
                                                                  const BaseModel& model,
                                                                  const std::shared_ptr<Engine>& engine,
                                                                  metrics::Registry& metrics);

/// What the model takes of memory.
struct MemoryPlan {
  std::uint64_t weights = 0;          // bytes, mapped from its files
  std::uint64_t copied = 0;           // bytes of copies in another type or on a GPU
  std::uint64_t cache = 0;            // of keys and values
  std::uint64_t cache_per_token = 0;  // of it
  std::uint64_t cache_tokens = 0;     // for which there is room
};
MemoryPlan memory_plan(const EngineOptions& options, const BaseModel& model, const model::Placement& placement);

/// One line for each finding; and all in one line, for a log.
std::string to_text(const validate::Findings& findings);
std::string to_line(const validate::Findings& findings);

}  // namespace stackgate::inference
