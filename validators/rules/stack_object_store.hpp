// An S3-compatible object store.
#pragma once
#include <optional>
#include <string_view>

#include "services/kit/grammar/problem.hpp"
#include "validators/rules/context.hpp"

namespace stackgate::validate {

/// {endpoint, bucketName, region, ssl, credentials}; nothing when absent.
void check_object_store(Context& context, Field store);

/// Source: Amazon S3 user guide, "General purpose bucket naming rules".
std::optional<grammar::Problem> check_bucket_name(std::string_view text);

}  // namespace stackgate::validate
