#include "services/customizer/runs/catalogue_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "services/kit/files/file.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::customizer {
namespace catalogue_folder_detail {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_file = 4U << 20U;
constexpr std::chrono::milliseconds least_pause{100};  // between two readings that are asked for

bool is_model(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "config.json", ignored);
}

std::vector<std::string> folders_in(const fs::path& folder) {
  std::error_code ignored;
  std::vector<std::string> out;
  for (const auto& each : fs::directory_iterator(folder, ignored))
    if (each.is_directory(ignored) && !each.path().filename().string().starts_with('.'))
      out.push_back(each.path().filename().string());
  std::ranges::sort(out);
  return out;
}

/// Models that lie there, as a text of targets.
std::vector<CatalogueFile> targets_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const std::string& top : folders_in(folder)) {
    if (is_model(fs::path(folder) / top)) {
      paths.push_back(top);
      continue;
    }
    for (const std::string& below : folders_in(fs::path(folder) / top))
      if (is_model(fs::path(folder) / top / below)) paths.push_back(fmt::format("{}/{}", top, below));
  }
  return {{"customizationTargets", json::object_text([&](json::Writer& w) {
             w.object("targets", [&] {
               for (const std::string& each : paths)
                 w.object(fmt::format("{}@1.0", each), [&] { w.member("model_path", each); });
             });
           })}};
}

bool same(const std::vector<CatalogueFile>& a, const std::vector<CatalogueFile>& b) {
  return std::ranges::equal(
      a, b, [](const CatalogueFile& x, const CatalogueFile& y) { return x.name == y.name && x.text == y.text; });
}

void report(const validate::Findings& findings) {
  for (const validate::Finding& each : findings) {
    const auto level = each.severity == validate::Severity::error ? log::Level::error : log::Level::warning;
    const std::vector<log::Field> fields{{"place", each.path}, {"finding", validate::to_line(each)}};
    log::write(level, "a model or configuration", fields);
  }
}

}  // namespace catalogue_folder_detail

using namespace catalogue_folder_detail;

std::vector<CatalogueFile> files_of_folder(const std::string& folder) {
  std::vector<CatalogueFile> out;
  if (folder.empty()) return out;
  std::error_code ignored;
  for (const auto& each : fs::directory_iterator(folder, ignored)) {
    const std::string name = each.path().filename().string();
    if (name.starts_with('.') || !each.is_regular_file(ignored)) continue;
    if (auto text = files::read_file(each.path().string(), largest_file)) out.push_back({name, std::move(*text)});
  }
  std::ranges::sort(out, {}, &CatalogueFile::name);
  return out;
}

CatalogueFolder::CatalogueFolder(CatalogueFolders folders)
    : folders_(std::move(folders)), catalogue_(std::make_shared<const Catalogue>()) {
  read();
  looking_.emplace(folders_.look, [this](const std::stop_token&) {
    const std::scoped_lock lock(reading_);
    read();
    return folders_.look;
  });
}

std::shared_ptr<const Catalogue> CatalogueFolder::fresh() {
  const auto asked = std::chrono::steady_clock::now();
  const std::scoped_lock lock(reading_);
  if (read_at_ < asked) {
    std::this_thread::sleep_until(read_at_ + least_pause);
    read();
  }
  return now();
}

void CatalogueFolder::read() {
  read_at_ = std::chrono::steady_clock::now();
  auto models = folders_.models.empty() && !folders_.model_files.empty() ? targets_in(folders_.model_files)
                                                                         : files_of_folder(folders_.models);
  auto training = files_of_folder(folders_.training);
  {
    const std::scoped_lock lock(mutex_);
    if (same(models, models_) && same(training, training_)) return;
  }
  CatalogueRead fresh = read_catalogue(models, training);
  log::info("models and configurations", {{"models", fresh.catalogue.targets.size()},
                                          {"configurations", fresh.catalogue.templates.size()},
                                          {"findings", fresh.findings.size()}});
  report(fresh.findings);
  const std::scoped_lock lock(mutex_);
  models_ = std::move(models);
  training_ = std::move(training);
  catalogue_ = std::make_shared<const Catalogue>(std::move(fresh.catalogue));
  findings_ = std::move(fresh.findings);
}

std::shared_ptr<const Catalogue> CatalogueFolder::now() const {
  const std::scoped_lock lock(mutex_);
  return catalogue_;
}

validate::Findings CatalogueFolder::findings() const {
  const std::scoped_lock lock(mutex_);
  return findings_;
}

}  // namespace stackgate::customizer
