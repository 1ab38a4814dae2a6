// Configurations that are kept through the API: /v1/guardrail/configs[/{namespace}/{name}]. Source: NeMo's guardrails
// microservice, as far as its clients show it. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "services/guardrail/api/fields.hpp"
#include "services/guardrail/configuration/configuration.hpp"
#include "services/kit/web/paging.hpp"

namespace stackgate::guardrail {

struct ManagedConfig {
  std::string name_space{"default"}, name{};  // DNS labels with '.' and '_', at most 63 characters
  std::string description{}, project{};
  std::string data{};       // JSON object, as config.yml has it, with colang_content; "" when files_url is there
  std::string files_url{};  // where the files lie, instead
  std::string custom_fields{"{}"};
  std::string created_at{}, updated_at{};  // RFC 3339; the caller's
};

/// POST.
std::expected<ManagedConfig, validate::Findings> read_managed_config(const json::Value& body);
/// PATCH: a JSON merge patch (RFC 7396) over what there is; name and namespace stay.
std::expected<ManagedConfig, validate::Findings> patch_managed_config(const ManagedConfig& old,
                                                                      const json::Value& body);

/// PUT: all but name and namespace.
std::expected<ManagedConfig, validate::Findings> replace_managed_config(const ManagedConfig& old,
                                                                        const json::Value& body);
/// What managed_config_json() has written, with its times.
std::expected<ManagedConfig, validate::Findings> stored_managed_config(const json::Value& text);

/// The id that chats name it by: "<name>" in namespace default, else "<namespace>.<name>".
std::string configuration_id(const ManagedConfig& config);
/// For the compiler: config.yml of `data`, and config.co of its colang_content.
std::vector<File> files_of(const ManagedConfig& config);

std::string managed_config_json(const ManagedConfig& config);
/// A page, in NeMo's envelope.
std::string managed_config_list(std::span<const ManagedConfig> page, const web::Page& at, std::uint64_t total,
                                std::string_view sort);
/// The answer to DELETE.
std::string deleted_config_json(const ManagedConfig& config);

}  // namespace stackgate::guardrail
