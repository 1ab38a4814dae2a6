// Content-Encoding: gzip taken off (RFC 1952), under limits that a compression bomb runs into.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/http/body.hpp"

namespace stackgate::web {

struct InflateLimits {
  std::uint64_t bytes = 0;  // inflated; 0: no limit
  /// Inflated bytes for each compressed one, beyond the first MiB: deflate can do 1,032.
  std::uint64_t ratio = 200;
};

/// Several gzip members in a row count as one text, as RFC 1952 has it. Errors carry 400 or 413.
class Inflater {
 public:
  explicit Inflater(InflateLimits limits);
  ~Inflater();
  Inflater(Inflater&&) noexcept;
  Inflater& operator=(Inflater&&) noexcept;

  struct Step {
    std::size_t consumed = 0, written = 0;
  };
  /// Takes from `in`, fills a part of `out`. Nothing consumed and nothing written: give more.
  std::expected<Step, http::BodyError> step(std::string_view in, std::span<char> out);
  /// After the last byte: 400 when the text is cut short.
  std::expected<void, http::BodyError> finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::expected<std::string, http::BodyError> inflate(std::string_view compressed, InflateLimits limits);

/// A body inflated as it is read. `inner` must outlive it.
class InflatingReader final : public http::BodyReader {
 public:
  InflatingReader(http::BodyReader& inner, InflateLimits limits);
  std::expected<std::size_t, http::BodyError> read(std::span<char> space) override;
  std::optional<std::uint64_t> length() const override { return {}; }

 private:
  http::BodyReader& inner_;
  Inflater inflater_;
  std::string buffer_;
  std::string_view waiting_;  // of the buffer
  bool inner_ended_ = false;
};

}  // namespace stackgate::web
