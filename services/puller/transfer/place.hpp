// The output directory and what an unfinished pull keeps: names, locks, moves. Errors of the system are failures with
// their path. Not thread-safe but for the functions of one file.
//
// Beside the output, or in it when it is a mount point or its parent cannot be written:
//     .stackgate-pull/lock          held while a pull runs
//     .stackgate-pull/parts/KEY     a file that is whole; KEY.part one that is not, KEY.json what is known of that
//     .stackgate-pull/files/        the directory that is being put together, to become the output in one rename
// KEY is a digest of path and content, so that two revisions never mix.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/files/file.hpp"
#include "services/puller/plan/files.hpp"
#include "services/puller/plan/manifest.hpp"
#include "services/puller/plan/resume.hpp"

namespace stackgate::puller {

class Place {
 public:
  /// Makes the folders and takes the lock.
  static Result<Place> open(const std::string& output);

  const std::string& output() const { return output_; }
  /// Where the output is not replaced as a whole: the manifest, written last, says that it is complete.
  bool in_place() const { return in_place_; }
  std::optional<Manifest> manifest() const;
  std::string whole_path(const RemoteFile& file) const;
  std::string part_path(const RemoteFile& file) const { return whole_path(file) + ".part"; }
  std::string record_path(const RemoteFile& file) const { return whole_path(file) + ".json"; }
  std::string output_path(std::string_view path) const { return output_ + "/" + std::string(path); }
  std::string staged_path(std::string_view path) const { return staging_ + "/files/" + std::string(path); }

  /// Bytes that an ordinary user may still write.
  Result<std::uint64_t> free_bytes() const;
  /// A name in the output that no pull has put there and that replacing it would delete; only without in_place().
  std::optional<std::string> foreign_file(const std::optional<Manifest>& manifest) const;
  /// The KEY.part becomes KEY, for good.
  Result<void> keep_whole(const RemoteFile& file) const;
  /// Parts and whole files of what is not among these go.
  void drop_other_parts(const std::vector<RemoteFile>& wanted) const;
  /// A file of the output becomes KEY as well; false where the volume has no hard links.
  bool link_whole(const RemoteFile& file) const;

  /// A file that an interrupted move has left in files/ becomes KEY; its content has been checked.
  Result<void> take_back(const RemoteFile& file) const;
  /// What else is in files/ goes: an older model, or the remains of a move.
  Result<void> clear_staged() const;

  /// Everything wanted is KEY, or (in_place) at its place already: the output becomes exactly this.
  /// `moved` is called after each step, for tests.
  Result<void> publish(const Manifest& manifest, const std::vector<RemoteFile>& files,
                       const std::optional<Manifest>& before, const std::function<void(std::string_view)>& moved) const;
  void remove_staging() const;

 private:
  Result<void> lock();
  Result<void> move_in(const std::vector<RemoteFile>& files, const std::string& target,
                       const std::function<void(std::string_view)>& moved) const;
  Result<void> replace_output() const;

  std::string output_, staging_;
  bool in_place_ = false;
  files::File lock_;
};

/// Size of a regular file (no link), or nothing.
std::optional<std::uint64_t> size_of(const std::string& path);

}  // namespace stackgate::puller
