#include "services/evaluator/runs/dataset.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/findings/nearest.hpp"

namespace stackgate::evaluator {
namespace dataset_detail {

constexpr std::size_t first_lines = 1'000;
constexpr std::size_t first_bytes = 4U << 20U, whole_file = 64U << 20U;
constexpr std::array<std::string_view, 4> ends_of_rows = {".jsonl", ".ndjson", ".csv", ".tsv"};

using datastore_client::DatastoreError;
using datastore_client::FromDatastore;

std::unexpected<DataFault> fault(DatastoreError error) {
  return std::unexpected(DataFault{.away = error.away, .message = std::move(error.message)});
}

FromDatastore<std::string> first_part(const datastore_client::Datasets& datasets, const DatasetSource& source,
                                      std::string_view path) {
  std::string out;
  std::size_t lines = 0;
  TRY(datasets.read_lines(source.repository, source.revision, path, largest_row, [&](std::string_view line) {
    // A first line that is longer than that is a row all the same.
    if (lines > 0 && out.size() + line.size() > first_bytes) return false;
    out.append(line).push_back('\n');
    return ++lines < first_lines;
  }));
  return out;
}

/// Until the datastore answers, or `again` has enough.
template <class Ask>
auto insist(const DataReading& reading, const Ask& ask) {
  for (;;) {
    auto got = ask();
    if (got || !got.error().away || !reading.again || !reading.again(got.error().message)) return got;
  }
}

std::expected<void, DataFault> check_path(const DatasetSource& source, const std::vector<std::string>& paths) {
  if (source.path.empty()) return {};
  const std::string folder = source.path + "/";
  if (std::ranges::any_of(paths,
                          [&](const std::string& each) { return each == source.path || each.starts_with(folder); }))
    return {};
  const std::vector<std::string_view> known(paths.begin(), paths.end());
  const std::string_view near = validate::nearest(source.path, known);
  return std::unexpected(
      DataFault{.message = fmt::format("{} has no file \"{}\"{}", source.repository, source.path,
                                       near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near))});
}

}  // namespace dataset_detail

using namespace dataset_detail;

std::expected<std::string, DataFault> pin_dataset(const datastore_client::Datasets& datasets,
                                                  const DatasetSource& source) {
  auto commit = datasets.pin(source.repository, source.revision);
  if (!commit) return fault(std::move(commit.error()));
  if (*commit) return std::move(**commit);
  return std::unexpected(DataFault{.message = source.revision.empty()
                                                  ? fmt::format("there is no data set {}", source.repository)
                                                  : fmt::format("there is no data set {} with a revision \"{}\"",
                                                                source.repository, source.revision)});
}

std::expected<DataSource, DataFault> open_dataset(Datasets datasets, const DatasetSource& source, DataReading reading) {
  auto files = insist(reading, [&] { return datasets->files(source.repository, source.revision); });
  if (!files) return fault(std::move(files.error()));
  DataSource out;
  for (const auto& each : *files) out.paths.push_back(each.path);
  std::ranges::sort(out.paths);
  out.beginnings = reading.beginning;
  TRY(check_path(source, out.paths));
  out.text = [datasets = std::move(datasets), source,
              reading = std::move(reading)](std::string_view path) -> std::expected<std::string, std::string> {
    const bool rows = std::ranges::any_of(ends_of_rows, [&](std::string_view end) { return path.ends_with(end); });
    auto text = insist(reading, [&] {
      if (reading.beginning && rows) return first_part(*datasets, source, path);
      return datasets->read(source.repository, source.revision, path,
                            reading.beginning ? whole_file : largest_data_file);
    });
    if (!text) return std::unexpected(std::move(text.error().message));
    return std::move(*text);
  };
  return out;
}

}  // namespace stackgate::evaluator
