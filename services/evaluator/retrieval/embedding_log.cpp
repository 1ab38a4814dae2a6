#include "services/evaluator/retrieval/embedding_log.hpp"

#include <cerrno>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/kit/base/fnv.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/files/mapped_file.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::string_view magic = "SGEMBED1";
constexpr std::size_t head_bytes = 8 + sizeof(std::uint32_t);
constexpr std::uint32_t most_dimensions = 32'768, most_in_batch = 1U << 20U;

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t at) {
  T out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::unexpected<std::string> failed(std::string_view what, const std::string& path, int error) {
  return std::unexpected(fmt::format("cannot {} {}: {}", what, path, std::strerror(error)));
}

/// The vectors of the batch at the beginning; nothing: it is torn.
std::optional<std::span<const std::byte>> batch_at(std::span<const std::byte> bytes, std::uint32_t dimension) {
  if (bytes.size() < sizeof(std::uint32_t)) return std::nullopt;
  const auto count = number_at<std::uint32_t>(bytes, 0);
  if (count == 0 || count > most_in_batch) return std::nullopt;
  const std::size_t size = std::size_t{count} * dimension * sizeof(float);
  if (bytes.size() < sizeof count + size + sizeof(std::uint64_t)) return std::nullopt;
  const auto sum = number_at<std::uint64_t>(bytes, sizeof count + size);
  if (fnv1a(text_of(bytes.first(sizeof count + size))) != sum) return std::nullopt;
  return bytes.subspan(sizeof count, size);
}

std::size_t batch_bytes(std::span<const std::byte> vectors) {
  return sizeof(std::uint32_t) + vectors.size() + sizeof(std::uint64_t);
}

/// Whether the open file is still the one at its path: who had it before may have removed it.
bool is_at(const files::File& file, const std::string& path) {
  struct stat open_one{}, there{};
  return ::fstat(file.fd(), &open_one) == 0 && ::stat(path.c_str(), &there) == 0 && open_one.st_ino == there.st_ino &&
         open_one.st_dev == there.st_dev;
}

std::expected<files::File, std::string> open_alone(const std::string& path, const std::function<bool()>& stop) {
  for (;;) {
    files::File file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!file) return failed("open", path, errno);
    if (::flock(file.fd(), LOCK_EX | LOCK_NB) == 0) {
      if (is_at(file, path)) return file;
      continue;
    }
    if (errno != EWOULDBLOCK && errno != EINTR) return failed("lock", path, errno);
    if (stop && stop()) return failed("lock", path, ECANCELED);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

/// How much of it is whole; counts on the way.
std::uint64_t EmbeddingLog::whole_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() < head_bytes || text_of(bytes.first(magic.size())) != magic) return 0;
  dimension_ = number_at<std::uint32_t>(bytes, magic.size());
  if (dimension_ == 0 || dimension_ > most_dimensions) {
    dimension_ = 0;
    return 0;
  }
  std::uint64_t whole = head_bytes;
  while (const auto batch = batch_at(bytes.subspan(whole), dimension_)) {
    size_ += batch->size() / sizeof(float) / dimension_;
    whole += batch_bytes(*batch);
  }
  return whole;
}

std::expected<EmbeddingLog, std::string> EmbeddingLog::open(const std::string& path,
                                                            const std::function<bool()>& stop) {
  files::File file = TRY(open_alone(path, stop));
  const auto mapped = files::MappedFile::open(path);
  if (!mapped) return failed("read", path, mapped.error());
  EmbeddingLog out(path, std::move(file));
  const std::uint64_t whole = out.whole_bytes(mapped->bytes());
  if (whole != mapped->bytes().size() && ::ftruncate(out.file_.fd(), static_cast<off_t>(whole)) != 0)
    return failed("shorten", path, errno);
  return out;
}

std::expected<void, std::string> EmbeddingLog::read(
    const std::function<bool(std::uint64_t first, std::span<const float> vectors)>& take) const {
  if (size_ == 0) return {};
  const auto mapped = files::MappedFile::open(path_);
  if (!mapped) return failed("read", path_, mapped.error());
  std::vector<float> vectors;
  std::span<const std::byte> rest = mapped->bytes().subspan(head_bytes);
  for (std::uint64_t first = 0; first < size_;) {
    const auto batch = batch_at(rest, dimension_);
    if (!batch) return failed("read", path_, EIO);
    vectors.resize(batch->size() / sizeof(float));
    std::memcpy(vectors.data(), batch->data(), batch->size());
    if (!take(first, vectors)) return {};
    first += vectors.size() / dimension_;
    rest = rest.subspan(batch_bytes(*batch));
  }
  return {};
}

std::expected<void, std::string> EmbeddingLog::append(std::uint32_t dimension, std::span<const float> vectors) {
  if (dimension_ != 0 && dimension != dimension_)
    return std::unexpected(
        fmt::format("the model of embeddings gave vectors of {} dimensions, and now of {}", dimension_, dimension));
  if (dimension == 0 || dimension > most_dimensions || vectors.empty() || vectors.size() % dimension != 0 ||
      vectors.size() / dimension > most_in_batch)
    return std::unexpected(fmt::format("vectors of {} dimensions cannot be kept", dimension));
  std::string out;
  if (dimension_ == 0) out += std::string(magic) + std::string(bytes_of(dimension));
  std::string batch(bytes_of(static_cast<std::uint32_t>(vectors.size() / dimension)));
  batch.append(reinterpret_cast<const char*>(vectors.data()), vectors.size_bytes());
  out += batch;
  out += bytes_of(fnv1a(batch));
  if (const int error = files::write_all(file_.fd(), out); error != 0) return failed("write", path_, error);
  dimension_ = dimension;
  size_ += vectors.size() / dimension;
  return {};
}

void EmbeddingLog::remove() { ::unlink(path_.c_str()); }

}  // namespace stackgate::evaluator
