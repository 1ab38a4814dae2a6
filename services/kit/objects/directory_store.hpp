// Objects as files below one directory. A key is the file's path; how it fans out is the caller's choice.
//
// An upload is a file in the folder "+unfinished" (no key can name it) and becomes visible by one rename, after its
// bytes and before its folder are on disk. No symbolic link is followed below the directory. Several processes may
// share one directory.
#pragma once
#include <string>

#include "services/kit/files/file.hpp"
#include "services/kit/objects/store.hpp"

namespace stackgate::objects {

class DirectoryStore final : public Store {
 public:
  /// Makes the directory if it is missing and removes unfinished uploads that nobody wrote to for `stale_after`.
  static Expected<std::unique_ptr<DirectoryStore>> open_at(const std::string& path, std::chrono::seconds stale_after);

  Expected<Info> stat(std::string_view key) override;
  /// With `size` the free space is looked at: a full disk is an error before the first byte is sent.
  Expected<std::unique_ptr<Upload>> create(std::string_view key, std::optional<std::uint64_t> size) override;
  Expected<std::unique_ptr<Download>> open(std::string_view key, std::uint64_t offset) override;
  Expected<void> remove(std::string_view key) override;
  Expected<void> list(std::string_view prefix, const std::function<bool(const Entry&)>& visit) override;
  Expected<void> check() override;

 private:
  DirectoryStore(std::string path, files::File root, files::File unfinished)
      : path_(std::move(path)), root_(std::move(root)), unfinished_(std::move(unfinished)) {}
  std::string path_;  // for messages
  files::File root_;
  files::File unfinished_;
};

}  // namespace stackgate::objects
