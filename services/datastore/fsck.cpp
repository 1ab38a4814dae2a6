#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "services/datastore/commands.hpp"
#include "services/datastore/git/maintenance.hpp"
#include "services/datastore/lfs/background.hpp"
#include "services/datastore/repositories/folders.hpp"
#include "services/datastore/upkeep.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::datastore {
namespace {

/// One finding of fsck, written at once into an open array.
class FsckReport {
 public:
  explicit FsckReport(json::Writer& writer) : writer_(writer) {}

  void fault(std::string_view kind, std::string_view where, std::string_view message, bool repaired = false) {
    writer_.object([&] {
      writer_.member("kind", kind);
      writer_.member("where", where);
      writer_.member("message", message);
      writer_.member("repaired", repaired);
    });
    ++faults_;
    if (repaired) ++repaired_;
  }
  std::size_t faults() const { return faults_; }
  std::size_t repaired() const { return repaired_; }

 private:
  json::Writer& writer_;
  std::size_t faults_ = 0, repaired_ = 0;
};

/// Every pointer must lead to a file that is linked. A file that is here without its link is linked again.
void check_pointers(Assembly& all, const Repository& repository, const std::string& path, FsckReport& report) {
  std::set<std::string> seen;
  auto walked = git::each_lfs_pointer(path, [&](const git::LfsPointer& pointer) {
    if (!seen.insert(pointer.oid).second) return;
    auto linked = all.large_files.is_linked(repository.id, pointer.oid);
    if (linked && *linked) return;
    if (!linked) return report.fault("database", repository.full_name(), linked.error().message);
    const bool mended = all.options.repair && all.large_files.link(repository.id, pointer.oid).has_value();
    report.fault("missing-large-file", repository.full_name(),
                 fmt::format("a pointer names {}, which was not uploaded to this repository", pointer.oid), mended);
  });
  if (!walked) report.fault("git", repository.full_name(), walked.error().message);
}

void check_repository(Assembly& all, const Repository& repository, FsckReport& report) {
  const std::string path = all.repositories.path(repository);
  if (!std::filesystem::exists(path + "/HEAD"))
    return report.fault("missing-folder", repository.full_name(), path + " is not there; restore it from a backup");
  if (all.options.repair)
    if (auto mended = git::maintain(path, git::Upkeep::when_needed); !mended)
      report.fault("git", repository.full_name(), mended.error().message);
  auto lines = git::fsck(path);
  if (!lines) return report.fault("git", repository.full_name(), lines.error().message);
  for (const std::string& line : *lines) report.fault("git", repository.full_name(), line);
  check_pointers(all, repository, path, report);
}

/// Young folders may belong to a request that is being served.
void check_folders(Assembly& all, FsckReport& report) {
  folders::each(all.options.data_dir, [&](const folders::Found& found) {
    if (found.age < std::chrono::hours(1)) return true;
    auto known = found.id ? all.repositories.find(*found.id) : std::unexpected(ServiceError{ServiceFault::missing, {}});
    if (known || known.error().fault != ServiceFault::missing) return true;
    report.fault("orphan-folder", found.path, "no repository has this folder",
                 all.options.repair && folders::orphan_to_trash(all.options.data_dir, found));
    return true;
  });
}

}  // namespace

int fsck(Assembly& all) {
  std::string out;
  json::Writer writer(out);
  FsckReport report(writer);
  std::size_t repositories = 0;
  bool sound = true;
  writer.object([&] {
    std::uint64_t files = 0, bytes = 0;
    writer.array("faults", [&] {
      auto visited = all.repositories.each([&](const Repository& repository) {
        ++repositories;
        check_repository(all, repository, report);
        return true;
      });
      if (!visited) report.fault("database", "", visited.error().message);
      check_folders(all, report);
      if (auto checked = all.large_files.fsck(all.options.hash)) {
        files = checked->files;
        bytes = checked->bytes;
        for (const std::string& line : checked->faults) report.fault("large-file", "", line);
      } else {
        report.fault("large-file", "", checked.error().message);
      }
    });
    sound = report.faults() == report.repaired();
    writer.member("repositories", static_cast<std::uint64_t>(repositories));
    writer.member("large_files", files);
    writer.member("large_file_bytes", bytes);
    writer.member("repaired", static_cast<std::uint64_t>(report.repaired()));
    writer.member("clean", sound);
  });
  fmt::print("{}\n", out);
  return sound ? 0 : 1;
}

int collect_garbage(Assembly& all) {
  auto kept = keep_up(all.repositories, git::Upkeep::thorough, {});
  if (!kept) return command_failed(kept.error().message);
  const auto path_of = [&](std::int64_t id) { return all.repositories.path(id); };
  auto files = all.large_files.collect(lfs::BackgroundOptions{}.grace, lfs::pointers_in_git(path_of));
  if (!files) return command_failed(files.error().message);
  const std::string out = json::object_text([&](json::Writer& writer) {
    writer.member("repositories", static_cast<std::uint64_t>(kept->repositories));
    writer.member("maintained", static_cast<std::uint64_t>(kept->maintained));
    writer.member("failed", static_cast<std::uint64_t>(kept->failed));
    writer.member("orphan_folders", static_cast<std::uint64_t>(kept->swept.orphans));
    writer.member("deleted_folders", static_cast<std::uint64_t>(kept->swept.trash));
    writer.member("unlinked_large_files", files->unlinked);
    writer.member("removed_large_files", files->removed);
    writer.member("freed_bytes", files->bytes);
  });
  fmt::print("{}\n", out);
  return kept->failed == 0 ? 0 : 1;
}

}  // namespace stackgate::datastore
