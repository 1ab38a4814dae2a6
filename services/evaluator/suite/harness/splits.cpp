#include "services/evaluator/suite/harness/splits.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace stackgate::evaluator::harness {
namespace {

constexpr std::array<std::string_view, 3> endings = {".jsonl", ".json", ".ndjson"};
constexpr std::array<std::string_view, 6> other_formats = {".parquet", ".csv", ".tsv", ".arrow", ".txt", ".gz"};

/// Names that stand for the same split in file names, as Hugging Face's datasets has them.
constexpr std::array<std::array<std::string_view, 4>, 3> same_names = {{
    {"train", "training", "", ""},
    {"validation", "valid", "val", "dev"},
    {"test", "testing", "eval", "evaluation"},
}};

bool is_rows_file(std::string_view path) {
  return std::ranges::any_of(endings, [&](std::string_view each) { return path.ends_with(each); });
}

/// Whether a file's name is the split's: "test.jsonl", "test-00000-of-00001.jsonl", "qa_test.jsonl".
bool is_named(std::string_view file, std::string_view split) {
  if (split.empty()) return false;
  const std::string_view stem = file.substr(0, file.rfind('.'));
  const auto parts = [](char c) { return c == '-' || c == '_' || c == '.'; };
  if (stem.starts_with(split) && (stem.size() == split.size() || parts(stem[split.size()]))) return true;
  return stem.ends_with(split) && stem.size() > split.size() && parts(stem[stem.size() - split.size() - 1]);
}

std::string folder(std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  return name.empty() || name.ends_with('/') ? std::string(name) : std::string(name) + "/";
}

}  // namespace

std::string Split::place(std::size_t row) const {
  std::string_view path;
  for (const auto& [first, file] : files)
    if (first <= row) path = file;
  return row < rows.size() ? fmt::format("{}:{}", path, rows[row].line) : std::string(path);
}

std::vector<std::string> Splits::named_files(const TaskConfig& task, const SplitFiles& named,
                                             validate::Findings& findings) const {
  std::vector<std::string> out;
  for (const std::string& path : named.paths) {
    bool found = false;
    for (const std::string& each : {path, task.folder + path, folder(task.dataset_path) + path}) {
      std::string_view plain = each;
      while (plain.starts_with("./") || plain.starts_with('/')) plain.remove_prefix(plain.starts_with('/') ? 1 : 2);
      found = std::ranges::find(data_.paths, plain) != data_.paths.end();
      if (!found) continue;
      out.emplace_back(plain);
      break;
    }
    const bool other = std::ranges::any_of(other_formats, [&](std::string_view each) { return path.ends_with(each); });
    if (found && !other) continue;
    if (found) out.pop_back();
    findings.push_back({.rule = "evaluation-data",
                        .path = named.place,
                        .problem = other ? fmt::format("names {}, which is no JSON lines", path)
                                         : fmt::format("names {}, which the data set does not have", path),
                        .fix = "write the path of a .jsonl file from the top of the data set"});
  }
  return out;
}

std::vector<std::string> Splits::found_files(const TaskConfig& task, const std::string& split) const {
  std::vector<std::string> folders;
  const std::string path = folder(task.dataset_path), name = folder(task.dataset_name);
  for (const std::string& top : {task.folder, std::string()})
    for (const std::string& each : {path + name, path, name, std::string()}) {
      folders.push_back(top + each);
      folders.push_back(top + each + "data/");
    }
  std::vector<std::string> names = {split};
  for (const auto& same : same_names)
    if (std::ranges::find(same, split) != same.end()) names.insert(names.end(), same.begin(), same.end());
  for (const std::string& each : names)
    for (const std::string& from : folders) {
      std::vector<std::string> out;
      for (const std::string& file : data_.paths)
        if (file.starts_with(from) && !file.substr(from.size()).contains('/') && is_rows_file(file) &&
            is_named(std::string_view(file).substr(from.size()), each))
          out.push_back(file);
      if (!out.empty()) return out;
    }
  return {};
}

SplitPtr Splits::read(const TaskConfig& task, const std::string& split, std::size_t limit, const std::string& asked_by,
                      validate::Findings& findings) {
  const auto named = std::ranges::find(task.data_files, split, &SplitFiles::split);
  std::vector<std::string> paths;
  if (named != task.data_files.end()) {
    paths = named_files(task, *named, findings);
    if (paths.empty()) return nullptr;
  } else if (task.data_files.empty()) {
    paths = found_files(task, split);
  }
  if (paths.empty()) {
    findings.push_back({.rule = "evaluation-data",
                        .path = asked_by,
                        .problem = fmt::format("\"{}\" has no files of the split \"{}\"", task.name, split),
                        .fix = fmt::format("add {}.jsonl to the data set, or write dataset_kwargs: {{data_files: {{{}: "
                                           "<path>.jsonl}}}}",
                                           split, split)});
    return nullptr;
  }
  SplitPtr& known = known_[{paths, limit}];
  if (known != nullptr) return known;
  auto out = std::make_shared<Split>();
  for (const std::string& path : paths) {
    if (out->rows.size() >= limit) break;
    const auto text = data_.text(path);
    if (!text) {
      findings.push_back(data_finding(path, 0, text.error(), "look at the data set"));
      continue;
    }
    std::vector<DataRow> rows = rows_of(path, *text, limit - out->rows.size(), findings);
    out->files.emplace_back(out->rows.size(), path);
    std::ranges::move(rows, std::back_inserter(out->rows));
  }
  return known = std::move(out);
}

}  // namespace stackgate::evaluator::harness
