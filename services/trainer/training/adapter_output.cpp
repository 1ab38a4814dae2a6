#include "services/trainer/training/adapter_output.hpp"

#include <cstring>

#include <fmt/format.h>

#include "services/kit/archive/tar_gz_writer.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/files/mapped_file.hpp"
#include "services/kit/peft/config.hpp"
#include "services/kit/peft/layout.hpp"
#include "services/trainer/checkpoint/tensors.hpp"

namespace stackgate::trainer {
namespace adapter_output_detail {

std::expected<files::MappedFile, std::string> map(const std::string& path) {
  auto file = files::MappedFile::open(path);
  if (!file) return std::unexpected(fmt::format("{} cannot be read: {}", path, std::strerror(file.error())));
  return std::move(*file);
}

std::string_view text_of(const files::MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace adapter_output_detail

std::string adapter_config(const model::Hyperparameters& parameters, const std::string& base_model) {
  peft::Config config;
  config.rank = parameters.lora_rank;
  config.alpha = parameters.lora_alpha;
  config.dropout = parameters.lora_dropout;
  config.rslora = parameters.use_rslora;
  config.base_model = base_model;
  std::vector<std::string> names;
  names.reserve(parameters.target_modules.size());
  for (const model::Module each : parameters.target_modules) names.emplace_back(short_name(each));
  config.targets = peft::Targets::list(std::move(names));
  return peft::write_config(config);
}

Done write_adapter(const std::string& directory, std::string_view config, std::span<const Parameter> parameters,
                   std::span<const float> values, std::string_view training_json) {
  std::vector<NamedTensor> tensors;
  for (const Parameter& each : parameters) tensors.push_back({each.name, each.shape, each.of(values)});
  TRY(write_tensors(fmt::format("{}/{}", directory, peft::weights_name), tensors));
  TRY(write_file(fmt::format("{}/{}", directory, peft::config_name), config));
  return write_file(directory + "/training.json", training_json);
}

std::expected<std::string, std::string> pack_adapter(const std::string& directory, const std::string& archive) {
  using namespace adapter_output_detail;
  std::string packed;  // some megabytes
  archive::TarGzWriter writer([&](std::string_view bytes) -> Done {
    packed += bytes;
    return {};
  });
  for (const std::string_view name : {peft::config_name, peft::weights_name}) {
    const auto file = TRY(map(fmt::format("{}/{}", directory, name)));
    TRY(writer.begin({.name = std::string(name), .size = file.bytes().size()}));
    TRY(writer.data(text_of(file)));
    TRY(writer.end());
  }
  TRY(writer.finish());
  TRY(write_file(archive + ".part", packed));
  TRY(move_file(archive + ".part", archive));
  return crypto::to_hex(crypto::sha256(packed));
}

std::expected<std::string, std::string> sha256_of(const std::string& path) {
  const auto file = TRY(adapter_output_detail::map(path));
  return crypto::to_hex(crypto::sha256(adapter_output_detail::text_of(file)));
}

}  // namespace stackgate::trainer
