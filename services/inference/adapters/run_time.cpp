// Adapters loaded and unloaded by a call, as vLLM has it: https://docs.vllm.ai/en/latest/features/lora.html
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "services/inference/adapters/store_impl.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/peft/layout.hpp"
#include "services/model/loading/inside.hpp"

namespace stackgate::inference {
namespace {

namespace fs = std::filesystem;

/// vLLM's word for the kind of error.
web::Failure bad(std::string message) {
  return {.status = 400, .message = std::move(message), .type = "InvalidUserInput"};
}

/// The folder without links, when it lies below `allowed` and its files lie in it.
std::expected<std::string, web::Failure> allowed_folder(const std::string& allowed, const std::string& asked) {
  std::error_code error;
  const fs::path top = fs::canonical(allowed, error);
  const fs::path folder = error ? fs::path() : fs::canonical(fs::path(asked), error);
  if (error) return std::unexpected(bad(fmt::format("lora_path {} is no directory here", asked)));
  const fs::path below = folder.lexically_relative(top);
  if (below.empty() || *below.begin() == "..")
    return std::unexpected(bad(fmt::format("lora_path must lie below {}", allowed)));
  for (const std::string_view name : {peft::config_name, peft::weights_name})
    if (const auto place = model::place_inside(folder.string(), name); !place)
      return std::unexpected(bad(fmt::format("lora_path: {} {}", place.error().path, place.error().problem)));
  return folder.string();
}

}  // namespace

void AdapterStore::load(std::string name, std::string directory, bool in_place, Done then) {
  const auto shared = std::make_shared<Done>(std::move(then));
  const bool taken =
      impl_->fetchers->submit([this, name = std::move(name), directory = std::move(directory), in_place, shared] {
        impl_->load_now(name, directory, in_place, std::move(*shared));
      });
  if (!taken) (*shared)(std::unexpected(web::Failure{.status = 503, .message = "too many adapters are being loaded"}));
}

void AdapterStore::Impl::load_now(const std::string& name, const std::string& directory, bool in_place, Done then) {
  if (options.allowed_directory.empty())
    return then(std::unexpected(web::Failure{.status = 404, .message = "adapters cannot be loaded at run time here"}));
  if (!is_adapter_name(name)) return then(std::unexpected(bad("lora_name is none for an adapter")));
  if (std::ranges::find(options.base_names, name) != options.base_names.end())
    return then(std::unexpected(bad(fmt::format("The base model is called '{}' already.", name))));
  const auto refuses = [&]() -> std::optional<web::Failure> {
    const std::lock_guard lock(mutex);
    const CatalogueEntry* const known = catalogue.find(name);
    if (known == nullptr || (in_place && known->at_run_time)) return std::nullopt;
    return bad(known->at_run_time ? fmt::format("The lora adapter '{}' has already been loaded.", name)
                                  : fmt::format("The lora adapter '{}' comes from {}.", name, options.source));
  };
  if (auto why = refuses()) return then(std::unexpected(std::move(*why)));
  const auto folder = allowed_folder(options.allowed_directory, directory);
  if (!folder) return then(std::unexpected(folder.error()));
  AdapterRecord record{.id = "run-time-" + crypto::random_hex(12), .name = name, .source = *folder};
  const auto part = cache->begin(record.id);
  if (!part) return then(std::unexpected(web::Failure{.status = 503, .message = part.error().reason}));
  const auto failed = [&](std::string reason) {
    cache->abandon(*part);
    then(std::unexpected(bad(std::move(reason))));
  };
  if (const auto copied = copy_adapter(*folder, *part); !copied) return failed(copied.error().reason);
  auto checked = options.check(*part);
  if (!checked) return failed(checked.error());
  auto files = cache->publish(*part, record, options.source, false);
  if (!files) return failed(files.error().reason);
  if (auto why = refuses()) {  // another call was faster
    cache->drop(*files);
    return then(std::unexpected(std::move(*why)));
  }
  AdapterVersion version{.record = record, .checked = std::move(*checked), .files = std::move(*files)};
  std::vector<CatalogueEntry> gone;
  {
    const std::lock_guard lock(mutex);
    gone = catalogue.add_at_run_time(record, version.checked.rank);
    version.key = catalogue.of(record.id)->key;
    versions[version.key] = version;
  }
  log::info("an adapter was loaded by a call", {{"adapter", name}, {"path", *folder}});
  memory->load_early(version);
  drop(gone);
  then({});
}

std::expected<void, web::Failure> AdapterStore::unload(std::string_view name) {
  std::optional<CatalogueEntry> gone;
  {
    const std::lock_guard lock(impl_->mutex);
    const CatalogueEntry* const known = impl_->catalogue.find(name);
    if (known == nullptr)
      return std::unexpected(web::Failure{.status = 404,
                                          .message = fmt::format("The lora adapter '{}' cannot be found.", name),
                                          .type = "NotFoundError"});
    if (!known->at_run_time)
      return std::unexpected(
          bad(fmt::format("The lora adapter '{}' comes from {}: delete it there.", name, impl_->options.source)));
    gone = impl_->catalogue.remove(std::string(known->record.id));
  }
  impl_->drop({std::move(*gone)});
  return {};
}

}  // namespace stackgate::inference
