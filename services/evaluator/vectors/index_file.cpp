#include "services/evaluator/vectors/index_file.hpp"

#include <bit>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/files/mapped_file.hpp"

namespace stackgate::evaluator {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian and read as they are");

struct Header {
  char magic[8];
  std::uint32_t kind, metric, dimension, links;
  std::uint64_t count;
  std::uint32_t entry, zero;
};
static_assert(sizeof(Header) == 40);
constexpr std::string_view magic = "SGVECTR1";
constexpr std::uint64_t most_vectors = 100'000'000;

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::unexpected<std::string> failed(const std::string& path, int error) {
  return std::unexpected(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

/// Everything that is written goes through the checksum, in pieces of some size.
class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}
  void add(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= 1U << 20U) flush();
  }
  int finish() {
    flush();
    const crypto::Sha256 sum = hash_.finish();
    if (error_ == 0) error_ = files::write_all(fd_, {reinterpret_cast<const char*>(sum.data()), sum.size()});
    if (error_ == 0 && ::fsync(fd_) != 0) error_ = errno;
    return error_;
  }

 private:
  void flush() {
    hash_.add(buffer_);
    if (error_ == 0) error_ = files::write_all(fd_, buffer_);
    buffer_.clear();
  }
  int fd_;
  int error_ = 0;
  std::string buffer_{};
  crypto::Sha256Stream hash_{};
};

int write_to(int fd, const EmbeddedIndex& index) {
  const HnswLinks links = index.graph() ? index.graph()->links() : HnswLinks{};
  Header header{.magic = {},
                .kind = static_cast<std::uint32_t>(index.shape().kind),
                .metric = static_cast<std::uint32_t>(index.shape().metric),
                .dimension = index.shape().dimension,
                .links = index.graph() ? index.shape().graph.links : 0,
                .count = index.size(),
                .entry = links.entry,
                .zero = 0};
  std::memcpy(header.magic, magic.data(), magic.size());
  Output out(fd);
  out.add(bytes_of(std::span<const Header>(&header, 1)));
  for (std::size_t i = 0; i < index.size(); ++i) out.add(bytes_of(index.vector(i)));
  out.add(bytes_of(std::span<const std::uint32_t>(links.levels)));
  out.add(bytes_of(std::span<const std::uint32_t>(links.lists)));
  return out.finish();
}

/// Takes `count` numbers from the front; false where there are fewer.
template <class T>
bool take(std::span<const std::byte>& bytes, std::uint64_t count, std::vector<T>& into) {
  if (count > bytes.size() / sizeof(T)) return false;
  into.resize(count);
  if (count > 0) std::memcpy(into.data(), bytes.data(), count * sizeof(T));
  bytes = bytes.subspan(count * sizeof(T));
  return true;
}

}  // namespace

std::expected<void, std::string> write_index(const EmbeddedIndex& index, const std::string& path) {
  const std::string part = path + ".new";
  const files::File file(::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return failed(part, errno);
  int error = write_to(file.fd(), index);
  if (error == 0 && ::rename(part.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) error = files::sync_directory(path.substr(0, path.find_last_of('/')));
  if (error == 0) return {};
  ::unlink(part.c_str());
  return failed(path, error);
}

std::expected<EmbeddedIndex, IndexFault> read_index(const std::string& path, std::uint32_t search_width) {
  const auto damaged = [&](std::string_view why) {
    return std::unexpected(IndexFault{NoIndex::damaged, fmt::format("the index {} cannot be used: {}", path, why)});
  };
  const auto file = files::MappedFile::open(path);
  if (!file && file.error() == ENOENT)
    return std::unexpected(IndexFault{NoIndex::absent, fmt::format("there is no index {}", path)});
  if (!file) return damaged(std::strerror(file.error()));
  const std::span<const std::byte> bytes = file->bytes();
  constexpr std::size_t sum_bytes = sizeof(crypto::Sha256);
  if (bytes.size() < sizeof(Header) + sum_bytes) return damaged("it is too short");
  const std::span<const std::byte> body = bytes.first(bytes.size() - sum_bytes);
  const crypto::Sha256 sum = crypto::sha256(bytes_of(body));
  if (std::memcmp(sum.data(), bytes.data() + body.size(), sum_bytes) != 0) return damaged("its checksum is wrong");
  auto index = decode_index(body, search_width);
  if (!index) return damaged(index.error());
  return std::move(*index);
}

std::expected<EmbeddedIndex, std::string> decode_index(std::span<const std::byte> bytes, std::uint32_t search_width) {
  Header header{};
  if (bytes.size() < sizeof header) return std::unexpected("it is too short");
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes = bytes.subspan(sizeof header);
  if (std::string_view(header.magic, sizeof header.magic) != magic)
    return std::unexpected("it is no index, or one of another version");
  if (header.kind > 1 || header.metric > 1 || header.zero != 0)
    return std::unexpected("its kind or metric is none that is known");
  if (header.dimension == 0 || header.dimension > most_dimensions || header.count > most_vectors)
    return std::unexpected("its dimension or number of vectors is out of bounds");
  IndexShape shape{.kind = static_cast<IndexShape::Kind>(header.kind),
                   .metric = static_cast<IndexShape::Metric>(header.metric),
                   .dimension = header.dimension};
  std::vector<float> vectors;
  if (!take(bytes, header.count * header.dimension, vectors)) return std::unexpected("its vectors end early");
  HnswLinks links{.entry = header.entry};
  if (shape.kind == IndexShape::Kind::hnsw) {
    shape.graph = {.links = header.links, .search_width = search_width};
    if (!take(bytes, header.count, links.levels)) return std::unexpected("its levels end early");
    (void)take(bytes, bytes.size() / sizeof(std::uint32_t), links.lists);
  }
  if (!bytes.empty()) return std::unexpected("it is longer than what it holds");
  return EmbeddedIndex::restore(shape, std::move(vectors), links);
}

}  // namespace stackgate::evaluator
