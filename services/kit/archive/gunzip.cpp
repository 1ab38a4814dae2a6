#include "services/kit/archive/gunzip.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "services/kit/base/try.hpp"

namespace stackgate::archive {
namespace gunzip_detail {

constexpr std::size_t input_bytes = std::size_t{256} << 10U;

/// What the first bytes are, if they are no gzip: the sentence of a person who packed the wrong thing.
std::string what_else(std::string_view first) {
  struct Kind {
    std::size_t at;
    std::string_view magic, name;
  };
  static constexpr Kind kinds[] = {{0, "PK\x03\x04", "a zip file"},
                                   {0, "PK\x05\x06", "a zip file"},
                                   {0, "BZh", "packed by bzip2"},
                                   {0, "\xfd\x37zXZ", "packed by xz"},
                                   {0, "\x28\xb5\x2f\xfd", "packed by zstd"},
                                   {0, "7z\xbc\xaf", "a 7-Zip file"},
                                   {257, "ustar", "a tar archive that is not compressed"},
                                   {8, "{", "a bare safetensors file"}};
  if (first.empty()) return "is empty";
  for (const auto& [at, magic, name] : kinds)
    if (first.size() > at && first.substr(at).starts_with(magic)) return fmt::format("is {}, not a gzip file", name);
  return "is no gzip file";
}

}  // namespace gunzip_detail

struct Gunzip::State {
  Source source;
  GunzipLimits limits;
  z_stream stream{};
  bool inflating = false;  // inside a member
  bool members = false;    // at least one was whole
  bool source_ended = false;
  std::vector<char> input = std::vector<char>(gunzip_detail::input_bytes);
  std::uint64_t packed = 0, unpacked = 0;
  std::optional<ReadError> failed;

  State(Source from, GunzipLimits most) : source(std::move(from)), limits(most) {
    if (inflateInit2(&stream, 15 + 16) != Z_OK) failed = ReadError{true, "out of memory"};
  }
  ~State() { inflateEnd(&stream); }

  std::unexpected<ReadError> fail(std::string message, bool ours = false) {
    failed = ReadError{ours, std::move(message)};
    return std::unexpected(*failed);
  }

  /// More input, up to `want` bytes waiting; false when the source failed.
  bool fill(std::size_t want) {
    if (stream.avail_in >= want || source_ended) return true;
    std::copy_n(reinterpret_cast<const char*>(stream.next_in), stream.avail_in, input.data());
    std::size_t have = stream.avail_in;
    while (have < want && !source_ended) {
      const auto got = source(std::span(input).subspan(have));
      if (!got) {
        failed = got.error();
        return false;
      }
      source_ended = *got == 0;
      have += *got;
      packed += *got;
    }
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(have);
    return true;
  }

  std::string_view waiting() const { return {reinterpret_cast<const char*>(stream.next_in), stream.avail_in}; }

  /// Between members: true when another one begins.
  std::expected<bool, ReadError> next_member() {
    if (!fill(members ? 2 : 262)) return std::unexpected(*failed);
    if (members && stream.avail_in == 0) return false;
    if (!waiting().starts_with("\x1f\x8b")) {
      if (!members) return fail(gunzip_detail::what_else(waiting()));
      // tar pads to its record size when it writes to a tape or a pipe: zeros may follow, nothing else.
      while (stream.avail_in > 0) {
        if (waiting().find_first_not_of('\0') != std::string_view::npos)
          return fail("has bytes behind the end of its gzip stream");
        stream.avail_in = 0;
        if (!fill(1)) return std::unexpected(*failed);
      }
      return false;
    }
    inflateReset(&stream);
    inflating = true;
    return true;
  }
};

Gunzip::Gunzip(Source source, GunzipLimits limits) : state_(std::make_unique<State>(std::move(source), limits)) {}
Gunzip::~Gunzip() = default;
std::uint64_t Gunzip::packed() const { return state_->packed; }
std::uint64_t Gunzip::unpacked() const { return state_->unpacked; }

std::expected<std::size_t, ReadError> Gunzip::read(std::span<char> space) {
  State& s = *state_;
  if (s.failed) return std::unexpected(*s.failed);
  const std::size_t most = std::min<std::size_t>(space.size(), UINT32_MAX);
  s.stream.next_out = reinterpret_cast<Bytef*>(space.data());
  s.stream.avail_out = static_cast<uInt>(most);
  while (s.stream.avail_out == most && most > 0) {
    if (!s.inflating) {
      const auto more = TRY(s.next_member());
      if (!more) return 0;
    }
    if (!s.fill(1)) return std::unexpected(*s.failed);
    if (s.stream.avail_in == 0) return s.fail("ends in the middle of its gzip stream");
    const int result = inflate(&s.stream, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      s.inflating = false;
      s.members = true;
    } else if (result == Z_MEM_ERROR) {
      return s.fail("out of memory", true);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return s.fail(fmt::format("is damaged: {}", s.stream.msg != nullptr ? s.stream.msg : "broken gzip stream"));
    }
  }
  const std::size_t made = most - s.stream.avail_out;
  s.unpacked += made;
  if (s.unpacked > s.limits.bytes) return s.fail(fmt::format("unpacks to more than {} bytes", s.limits.bytes));
  const std::uint64_t used = s.packed - s.stream.avail_in;
  if (s.unpacked > s.limits.free && s.unpacked / s.limits.ratio > used)
    return s.fail(fmt::format("unpacks to more than {} times its size", s.limits.ratio));
  return made;
}

}  // namespace stackgate::archive
