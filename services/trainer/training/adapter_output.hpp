// The result of a run: a PEFT directory, and the same as a tar.gz for the entitystore.
#pragma once
#include <span>
#include <string>

#include "services/model/hyperparameters/hyperparameters.hpp"
#include "services/trainer/checkpoint/durable.hpp"
#include "services/trainer/optimizer/parameter.hpp"

namespace stackgate::trainer {

/// adapter_config.json as PEFT writes it.
std::string adapter_config(const model::Hyperparameters& parameters, const std::string& base_model);

/// Configuration, weights and training.json into `directory`.
Done write_adapter(const std::string& directory, std::string_view config, std::span<const Parameter> parameters,
                   std::span<const float> values, std::string_view training_json);

/// Packs configuration and weights of `directory` as `archive`; returns its SHA-256 in hexadecimal digits.
std::expected<std::string, std::string> pack_adapter(const std::string& directory, const std::string& archive);

/// Of a file, in hexadecimal digits.
std::expected<std::string, std::string> sha256_of(const std::string& path);

}  // namespace stackgate::trainer
