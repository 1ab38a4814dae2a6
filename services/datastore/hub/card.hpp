// The metadata at the head of a README.md: YAML between two lines "---". Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/datastore/repositories/record.hpp"

namespace stackgate::datastore::hub {

/// Nothing when the text does not begin with such a block.
std::optional<std::string_view> front_matter(std::string_view readme);

/// What the hub makes of that block, for lists to be filtered by: "tags" as they stand; of a model its licence
/// ("license:mit"), language ("en"), pipeline_tag, library_name, datasets ("dataset:…") and base_model
/// ("base_model:…"); of a dataset its facets with their keys ("task_categories:…", "language:en", "license:mit" …).
/// Each once; at most 500, of at most 200 bytes. Nothing of a block that is no mapping.
std::vector<std::string> tags_of(std::string_view readme, RepositoryType type);

/// `{"errors":[{"message"}],"warnings":[…]}`
std::string validation(std::string_view readme);

}  // namespace stackgate::datastore::hub
