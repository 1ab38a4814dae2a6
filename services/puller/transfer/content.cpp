#include "services/puller/transfer/content.hpp"

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "services/kit/base/try.hpp"
#include "services/kit/files/file.hpp"
#include "services/puller/transfer/place.hpp"

namespace stackgate::puller {

ContentHash::ContentHash(const RemoteFile& file) {
  if (file.blob.empty()) return;
  blob_.emplace();
  blob_->add(fmt::format("blob {}", file.size.value_or(0)) + '\0');
}

void ContentHash::add(std::span<const char> bytes) {
  if (blob_) blob_->add({bytes.data(), bytes.size()});
  size_ += bytes.size();
  sha256_.add(bytes.size());
}

Sums ContentHash::finish() {
  return {.size = size_,
          .sha256 = crypto::to_hex(sha256_.finish()),
          .blob = blob_ ? crypto::to_hex(blob_->finish()) : std::string()};
}

Result<void> hash_local(const std::string& path, std::uint64_t bytes, ContentHash& hash,
                        const std::function<bool()>& stop) {
  const files::File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return std::unexpected(failure_of_system("read " + path, errno));
  while (bytes > 0) {
    if (stop()) return std::unexpected(Failure{Cause::stopped, "stopped"});
    const std::span<char> space = hash.space();
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(space.size(), bytes));
    const ssize_t count = ::read(file.fd(), space.data(), wanted);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::unexpected(failure_of_system("read " + path, count < 0 ? errno : EIO));
    hash.add(space.first(static_cast<std::size_t>(count)));
    bytes -= static_cast<std::uint64_t>(count);
  }
  return {};
}

Result<Sums> sums_of(const std::string& path, const RemoteFile& file, const std::function<bool()>& stop) {
  const auto size = size_of(path);
  if (!size) return std::unexpected(failure_of_system("read " + path, ENOENT));
  ContentHash hash(file);
  TRY(hash_local(path, *size, hash, stop));
  return hash.finish();
}

}  // namespace stackgate::puller
