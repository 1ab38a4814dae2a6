#include "services/kit/objects/directory_transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "services/kit/crypto/digest.hpp"
#include "services/kit/objects/directory_paths.hpp"

namespace stackgate::objects {
namespace directory_transfer_detail {

// Written pages go to disk in stretches while the upload runs, so that the fsync at its end finds little to do.
constexpr std::uint64_t write_back_stretch = 16ULL << 20U;

class FileUpload final : public Upload {
 public:
  FileUpload(int root, int unfinished, std::string key, std::optional<std::uint64_t> size, std::string name,
             files::File file)
      : root_(root),
        unfinished_(unfinished),
        key_(std::move(key)),
        size_(size),
        name_(std::move(name)),
        file_(std::move(file)) {}
  ~FileUpload() override {
    if (!done_) ::unlinkat(unfinished_, name_.c_str(), 0);
  }
  FileUpload(const FileUpload&) = delete;
  FileUpload& operator=(const FileUpload&) = delete;

  Expected<void> write(std::string_view bytes) override {
    if (done_ || failed_) return unusable();
    if (size_ && bytes.size() > *size_ - written_) {
      failed_ = true;
      return std::unexpected(StoreError{
          Fault::refused, "more bytes came for " + key_ + " than the " + std::to_string(*size_) + " announced"});
    }
    if (const int fault = files::write_all(file_.fd(), bytes); fault != 0) return fail(fault, "cannot write ");
    written_ += bytes.size();
    if (written_ - sent_back_ >= write_back_stretch) {
      ::sync_file_range(file_.fd(), static_cast<off_t>(sent_back_), static_cast<off_t>(written_ - sent_back_),
                        SYNC_FILE_RANGE_WRITE);
      sent_back_ = written_;
    }
    return {};
  }

  Expected<void> commit() override {
    if (done_ || failed_) return unusable();
    if (size_ && written_ != *size_) {
      failed_ = true;
      return std::unexpected(StoreError{Fault::refused, key_ + " was announced with " + std::to_string(*size_) +
                                                            " bytes, but " + std::to_string(written_) + " came"});
    }
    if (::fsync(file_.fd()) != 0) return fail(errno, "cannot write ");
    const files::File folder = open_folder_of(root_, key_, true);
    if (!folder) return fail(errno, "cannot make the folder of ");
    if (::renameat(unfinished_, name_.c_str(), folder.fd(), leaf_of(key_).c_str()) != 0)
      return fail(errno, "cannot name ");
    done_ = true;
    if (::fsync(folder.fd()) != 0) return fail(errno, "cannot write the folder of ");
    return {};
  }

 private:
  std::unexpected<StoreError> fail(int number, const char* what) {
    failed_ = true;
    return std::unexpected(errno_error(number, what + key_));
  }
  std::unexpected<StoreError> unusable() const {
    return std::unexpected(StoreError{Fault::broken, "the upload of " + key_ + " is over"});
  }

  int root_;
  int unfinished_;
  std::string key_;
  std::optional<std::uint64_t> size_;
  std::string name_;
  files::File file_;
  std::uint64_t written_ = 0;
  std::uint64_t sent_back_ = 0;
  bool done_ = false;    // no longer ours to remove
  bool failed_ = false;  // a lost byte must not be committed
};

class FileDownload final : public Download {
 public:
  FileDownload(files::File file, std::uint64_t size, std::uint64_t offset, std::string what)
      : file_(std::move(file)), size_(size), at_(offset), what_(std::move(what)) {}

  std::uint64_t size() const override { return size_; }
  int descriptor() const override { return file_.fd(); }

  Expected<std::size_t> read(std::span<char> space) override {
    const std::size_t wanted = std::min<std::uint64_t>(space.size(), size_ - at_);
    if (wanted == 0) return 0;
    ssize_t count = 0;
    do {
      count = ::pread(file_.fd(), space.data(), wanted, static_cast<off_t>(at_));
    } while (count < 0 && errno == EINTR);
    if (count < 0) return std::unexpected(errno_error(errno, "cannot read " + what_));
    // Stored files are never cut: somebody else did it, and a silent end would pass for the whole object.
    if (count == 0) return std::unexpected(StoreError{Fault::broken, what_ + " is shorter than it was when opened"});
    at_ += static_cast<std::uint64_t>(count);
    return static_cast<std::size_t>(count);
  }

 private:
  files::File file_;
  std::uint64_t size_;
  std::uint64_t at_;
  std::string what_;
};

}  // namespace directory_transfer_detail

Expected<std::unique_ptr<Upload>> start_file_upload(int root, int unfinished, const std::string& key,
                                                    std::optional<std::uint64_t> size) {
  std::string name = crypto::random_hex(16);
  files::File file(::openat(unfinished, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file) return std::unexpected(errno_error(errno, "cannot begin " + key));
  const int fd = file.fd();
  auto upload = std::make_unique<directory_transfer_detail::FileUpload>(root, unfinished, key, size, std::move(name),
                                                                        std::move(file));
  // Looked at, not reserved: writing into reserved space takes three times as long on ext4. Who comes later may still
  // fill the disk; then write() says so.
  struct statvfs space{};
  if (size && ::fstatvfs(fd, &space) == 0 && *size / space.f_frsize >= space.f_bavail)
    return std::unexpected(errno_error(ENOSPC, "cannot begin " + key));
  return upload;
}

Expected<std::unique_ptr<Download>> start_file_download(files::File file, std::uint64_t size, std::uint64_t offset,
                                                        std::string what) {
  ::posix_fadvise(file.fd(), static_cast<off_t>(offset), 0, POSIX_FADV_SEQUENTIAL);
  return std::make_unique<directory_transfer_detail::FileDownload>(std::move(file), size, offset, std::move(what));
}

}  // namespace stackgate::objects
