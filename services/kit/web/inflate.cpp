#include "services/kit/web/inflate.hpp"

#include <algorithm>
#include <climits>
#include <new>

#include <fmt/format.h>
#include <zlib.h>

#include "services/kit/base/try.hpp"

namespace stackgate::web {
namespace inflate_detail {

constexpr std::uint64_t ratio_counts_from = 1024 * 1024;
constexpr std::size_t buffer_bytes = 32 * 1024;
constexpr int gzip_only = 15 + 16;  // window bits, as zlib.h has it

http::BodyError error(int status, std::string message) { return {status, Error{std::move(message)}}; }

}  // namespace inflate_detail

struct Inflater::State {
  InflateLimits limits;
  z_stream stream{};
  std::uint64_t read = 0, written = 0;
  bool begun = false;  // a byte has come
  bool ended = false;  // at the end of a member

  explicit State(InflateLimits l) : limits(l) {
    if (inflateInit2(&stream, inflate_detail::gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~State() { inflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Inflater::Inflater(InflateLimits limits) : state_(std::make_unique<State>(limits)) {}
Inflater::~Inflater() = default;
Inflater::Inflater(Inflater&&) noexcept = default;
Inflater& Inflater::operator=(Inflater&&) noexcept = default;

std::expected<Inflater::Step, http::BodyError> Inflater::step(std::string_view in, std::span<char> out) {
  State& state = *state_;
  if (state.ended && !in.empty()) {
    if (inflateReset(&state.stream) != Z_OK)
      return std::unexpected(inflate_detail::error(400, "the gzip body is broken"));
    state.ended = false;
  }
  state.begun = state.begun || !in.empty();
  z_stream& z = state.stream;
  const auto in_size = static_cast<uInt>(std::min<std::size_t>(in.size(), INT_MAX));
  const auto out_size = static_cast<uInt>(std::min<std::size_t>(out.size(), INT_MAX));
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // zlib only reads there
  z.avail_in = in_size;
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = out_size;
  const int code = ::inflate(&z, Z_NO_FLUSH);
  const Step step{in_size - z.avail_in, out_size - z.avail_out};
  state.read += step.consumed;
  state.written += step.written;
  if (code == Z_STREAM_END) {
    state.ended = true;
  } else if (code == Z_MEM_ERROR) {
    throw std::bad_alloc();
  } else if (code != Z_OK && code != Z_BUF_ERROR) {
    return std::unexpected(
        inflate_detail::error(400, fmt::format("the body says Content-Encoding: gzip, but is broken after {} bytes: {}",
                                               state.read, z.msg != nullptr ? z.msg : "no gzip text")));
  }
  if (state.limits.bytes != 0 && state.written > state.limits.bytes)
    return std::unexpected(inflate_detail::error(
        413, fmt::format("the body is larger than {} bytes when it is unpacked", state.limits.bytes)));
  if (state.written > inflate_detail::ratio_counts_from && state.written / state.limits.ratio > state.read)
    return std::unexpected(inflate_detail::error(
        413, fmt::format("the body unpacks to more than {} times its size; send it uncompressed", state.limits.ratio)));
  return step;
}

std::expected<void, http::BodyError> Inflater::finish() const {
  if (state_->begun && !state_->ended)
    return std::unexpected(inflate_detail::error(400, "the gzip body ends in the middle"));
  return {};
}

std::expected<std::string, http::BodyError> inflate(std::string_view compressed, InflateLimits limits) {
  Inflater inflater(limits);
  std::string out;
  std::string part(inflate_detail::buffer_bytes, '\0');
  for (;;) {
    const auto step = TRY(inflater.step(compressed, part));
    if (step.consumed == 0 && step.written == 0) break;
    compressed.remove_prefix(step.consumed);
    out.append(part, 0, step.written);
  }
  TRY(inflater.finish());
  return out;
}

InflatingReader::InflatingReader(http::BodyReader& inner, InflateLimits limits)
    : inner_(inner), inflater_(limits), buffer_(inflate_detail::buffer_bytes, '\0') {}

std::expected<std::size_t, http::BodyError> InflatingReader::read(std::span<char> space) {
  if (space.empty()) return 0;
  for (;;) {
    const auto step = TRY(inflater_.step(waiting_, space));
    waiting_.remove_prefix(step.consumed);
    if (step.written > 0) return step.written;
    if (step.consumed > 0) continue;
    if (inner_ended_) {
      TRY(inflater_.finish());
      return 0;
    }
    const auto got = TRY(inner_.read(buffer_));
    inner_ended_ = got == 0;
    waiting_ = std::string_view(buffer_).substr(0, got);
  }
}

}  // namespace stackgate::web
