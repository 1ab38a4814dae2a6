// A file's bytes as memory: read-only, shared with everyone who maps the same file, read from the disk when looked at.
//
// A file that becomes shorter while it is mapped ends the process (SIGBUS) when bytes behind its new end are looked at:
// replace files by new ones, never write into them. A const MappedFile may be read by any number of threads.
#pragma once
#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <utility>

namespace stackgate::files {

class MappedFile {
 public:
  /// A regular file, whole; an empty one has no bytes. errno otherwise: ENOENT for what is no file.
  static std::expected<MappedFile, int> open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  /// Valid as long as this object, or the one it was moved to, lives.
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Asks the kernel to begin reading all of it; returns at once.
  void will_need() const;

 private:
  explicit MappedFile(std::span<std::byte> bytes) : bytes_(bytes) {}
  std::span<std::byte> bytes_;
};

}  // namespace stackgate::files
