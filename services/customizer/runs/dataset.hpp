// The dataset of a customization, looked at before anything is created: its revision pinned, its files chosen, their
// first and last lines held against what the trainer reads. Bytes by ranges: a large dataset costs no more than a small
// one. Blocking; thread-safe.
#pragma once
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "services/customizer/api/request.hpp"
#include "services/kit/datastore_client/datasets.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::customizer {

using Datasets = std::shared_ptr<const datastore_client::Datasets>;
/// One that gives up its calls when asked to.
using OpenDatasets = std::function<Datasets(std::function<bool()> give_up)>;

struct DatasetFault {
  bool away = false;  // the datastore: later it may answer
  std::string message{};
};

/// Sets revision and files. Findings have the path "dataset" and name file and line; errors and warnings. The error: it
/// cannot be looked at, or there is no such dataset.
std::expected<validate::Findings, DatasetFault> look_at_dataset(const datastore_client::Datasets& datasets,
                                                                DatasetChoice& dataset);

/// The lines of a part of a file, the first and last ones of which are all there. `number`: of the first one; 0: not
/// known, for what is read from a file's end. Pure.
void check_lines(std::string_view text, std::string_view file, std::uint64_t number, std::optional<std::string>& kind,
                 validate::Findings& findings);

}  // namespace stackgate::customizer
