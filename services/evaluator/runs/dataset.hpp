// The files of an evaluation's data set, read from the datastore at one commit. Thread-safe but for what DataSource
// says; calls block.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "services/evaluator/api/evaluation_request.hpp"
#include "services/evaluator/suite/data_source.hpp"
#include "services/kit/datastore_client/datasets.hpp"

namespace stackgate::evaluator {

using Datasets = std::shared_ptr<const datastore_client::Datasets>;
/// One that gives up its calls when asked to.
using OpenDatasets = std::function<Datasets(std::function<bool()> give_up)>;

struct DataFault {
  bool away = false;  // the datastore: later it may answer
  std::string message{};
};

inline constexpr std::uint64_t largest_data_file = 1U << 30U;  // bytes

struct DataReading {
  /// Of files of rows only a beginning: 1,000 lines, at most 4 MiB. Other files are whole, up to 64 MiB.
  bool beginning = false;
  /// The datastore is away: whether to ask once more. Empty: no.
  std::function<bool(std::string_view why)> again{};
};

/// The commit that it stands for now.
std::expected<std::string, DataFault> pin_dataset(const datastore_client::Datasets& datasets,
                                                  const DatasetSource& source);

/// All files of the repository at `source.revision`, a commit. A path that names neither file nor folder is a fault.
std::expected<DataSource, DataFault> open_dataset(Datasets datasets, const DatasetSource& source, DataReading reading);

}  // namespace stackgate::evaluator
