// Data sets, as bodies of evaluations and customizations name them:
//   <namespace>/<name>[@<revision>]
//   hf://datasets/<namespace>/<name>[@<revision>][/<path>]       huggingface_hub's HfFileSystem; the revision may also
//   hf://datasets/<namespace>/<name>[/<path>][@<revision>]       stand at the end, as NeMo's files_url has it
#pragma once
#include <expected>
#include <optional>
#include <string_view>

#include "services/kit/grammar/problem.hpp"

namespace stackgate::validate::grammar {

/// The views point into the text that was parsed.
struct DatasetReference {
  std::string_view repository;  // "<namespace>/<name>"
  std::string_view path;        // inside of it; empty: all of it
  std::string_view revision;    // empty: the main branch
};

std::expected<DatasetReference, Problem> parse_dataset_reference(std::string_view text);

/// A path inside of a repository: relative, no part empty, "." or "..", no control character, at most 1,024 bytes.
std::optional<Problem> check_repository_path(std::string_view text);

/// Branch, tag or commit: as `git check-ref-format` has it, and at most 255 bytes.
std::optional<Problem> check_revision(std::string_view text);

}  // namespace stackgate::validate::grammar
