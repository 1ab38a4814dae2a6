// Descriptors and small files. Errors are errno values: callers know what a full disk means to them.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace stackgate::files {

/// Owns a descriptor.
class File {
 public:
  File() = default;
  explicit File(int fd) : fd_(fd) {}
  File(File&& other) noexcept : fd_(other.release()) {}
  File& operator=(File&& other) noexcept;
  ~File() { close(); }
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void close();

 private:
  int fd_ = -1;
};

/// All of it, through short writes and signals; 0 or errno.
int write_all(int fd, std::string_view bytes);

/// Makes names in a directory survive a crash; 0 or errno.
int sync_directory(const std::string& path);

/// A small regular file, whole. errno otherwise: ENOENT for what is no file, EFBIG beyond `most` bytes.
std::expected<std::string, int> read_file(const std::string& path, std::uint64_t most);

}  // namespace stackgate::files
