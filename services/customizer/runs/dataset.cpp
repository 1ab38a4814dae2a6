#include "services/customizer/runs/dataset.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/model/training_lines/line.hpp"

namespace stackgate::customizer {
namespace dataset_detail {

using datastore_client::DatastoreError;

constexpr std::size_t first_lines = 50, first_bytes = 256U << 10U, last_bytes = 16U << 10U, most_findings = 20;
constexpr std::size_t most_files = 20;  // that are looked into: each costs two calls

std::unexpected<DatasetFault> fault(DatastoreError error) {
  return std::unexpected(DatasetFault{.away = error.away, .message = std::move(error.message)});
}

void wrong(validate::Findings& findings, std::string problem, std::string fix) {
  if (findings.size() < most_findings)
    findings.push_back(
        {.rule = "customization-dataset", .path = "dataset", .problem = std::move(problem), .fix = std::move(fix)});
}

std::expected<std::string, DatasetFault> pinned(const datastore_client::Datasets& datasets,
                                                const DatasetChoice& dataset) {
  auto commit = datasets.pin(dataset.repository, dataset.revision);
  if (!commit) return fault(std::move(commit.error()));
  if (*commit) return std::move(**commit);
  return std::unexpected(DatasetFault{.message = dataset.revision.empty()
                                                     ? fmt::format("there is no dataset {}", dataset.repository)
                                                     : fmt::format("there is no dataset {} with a revision \"{}\"",
                                                                   dataset.repository, dataset.revision)});
}

/// Blank lines say nothing.
bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

std::expected<void, DatasetFault> check_file(const datastore_client::Datasets& datasets, const DatasetChoice& dataset,
                                             const std::string& path, std::uint64_t size,
                                             std::optional<std::string>& kind, validate::Findings& findings) {
  if (size == 0) {
    wrong(findings, fmt::format("{} is empty", path), "put lines of JSON into it, or take it out");
    return {};
  }
  std::string first;
  std::size_t lines = 0;
  const auto read = datasets.read_lines(dataset.repository, dataset.revision, path, model::longest_training_line,
                                        [&](std::string_view line) {
                                          first.append(line).push_back('\n');
                                          return ++lines < first_lines && first.size() < first_bytes;
                                        });
  if (!read) {
    if (read.error().away) return fault(read.error());
    wrong(findings, read.error().message, "look at that line");
    return {};
  }
  check_lines(first, path, 1, kind, findings);
  if (first.size() >= size) return {};
  const auto end = datasets.read_end(dataset.repository, dataset.revision, path, last_bytes);
  if (!end) return fault(end.error());
  // It begins in the middle of a line.
  if (const std::size_t whole = end->find('\n'); whole != std::string::npos)
    check_lines(std::string_view(*end).substr(whole + 1), path, 0, kind, findings);
  return {};
}

}  // namespace dataset_detail

using namespace dataset_detail;

void check_lines(std::string_view text, std::string_view file, std::uint64_t number, std::optional<std::string>& kind,
                 validate::Findings& findings) {
  const bool counted = number != 0;
  for (; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (is_blank(line)) continue;
    json::Document document;
    const auto read = model::read_training_line(line, document);
    const std::string place =
        counted ? fmt::format("{}:{}", file, number) : fmt::format("a line near the end of {}", file);
    if (!read) {
      wrong(findings, fmt::format("{}: {}", place, read.error()),
            R"(write {"prompt": …, "completion": …} or {"messages": […]} in each line)");
      continue;
    }
    const std::string this_kind(to_string(read->kind));
    if (!kind) kind = this_kind;
    if (*kind != this_kind)
      wrong(findings, fmt::format("{}: has {}, and lines before it have {}", place, this_kind, *kind),
            "use one kind in all files");
  }
}

std::expected<validate::Findings, DatasetFault> look_at_dataset(const datastore_client::Datasets& datasets,
                                                                DatasetChoice& dataset) {
  dataset.revision = TRY(pinned(datasets, dataset));
  auto files = datasets.files(dataset.repository, dataset.revision);
  if (!files) return fault(std::move(files.error()));
  std::vector<std::string> paths;
  for (const auto& each : *files) paths.push_back(each.path);
  validate::Findings findings;
  if (const auto chosen = choose_files(dataset, paths); !chosen) {
    wrong(findings, chosen.error(), "put JSON lines into training/, and validation/ where there are some");
    return findings;
  }
  std::vector<std::string> all = dataset.training_files;
  all.insert(all.end(), dataset.validation_files.begin(), dataset.validation_files.end());
  std::optional<std::string> kind;
  for (std::size_t i = 0; i < all.size() && i < most_files; ++i) {
    const auto found = std::ranges::find(*files, all[i], &datastore_client::wire::TreeFile::path);
    TRY(check_file(datasets, dataset, all[i], found == files->end() ? 0 : found->size, kind, findings));
  }
  dataset.is_chat = kind == to_string(model::TrainingLineKind::chat);
  return findings;
}

}  // namespace stackgate::customizer
