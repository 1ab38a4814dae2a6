// The part `metadata` of an upload. Pure.
#pragma once
#include <optional>
#include <string_view>

#include "services/entitystore/adapters/record.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::entitystore {

struct Metadata {
  Record record;  // what was said of it
  std::optional<std::int64_t> rank;
  std::optional<double> alpha, dropout;
  std::optional<std::vector<std::string>> target_modules;
};

struct MetadataRead {
  Metadata metadata;
  validate::Findings findings;  // every fault; paths: "metadata.version"
};

MetadataRead read_metadata(std::string_view json);

}  // namespace stackgate::entitystore
