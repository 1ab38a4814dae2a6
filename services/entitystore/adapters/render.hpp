// Records as the API gives them. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/entitystore/adapters/record.hpp"

namespace stackgate::entitystore {

/// The form of lists: id, name, base_model, version, created_at, status; nothing else.
std::string to_summary(const Record& record);

struct DetailOptions {
  std::string_view download_url{};
  bool with_notes = false;  // of an upload: findings that are no errors
};
std::string to_detail(const Record& record, const DetailOptions& options);

/// NeMo's form of a model.
std::string to_nemo_model(const Record& record);

std::string to_provenance(const Record& record, const std::vector<StoredFile>& files);

}  // namespace stackgate::entitystore
