// Bodies on their way past the App, counted.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>

#include "services/kit/http/body.hpp"
#include "services/kit/web/answer.hpp"
#include "services/kit/web/request_record.hpp"

namespace stackgate::web {

/// Counts into the record.
class CountingReader final : public http::BodyReader {
 public:
  CountingReader(http::BodyReader& inner, std::uint64_t& count) : inner_(inner), count_(count) {}
  std::expected<std::size_t, http::BodyError> read(std::span<char> space) override {
    auto got = inner_.read(space);
    if (got) count_ += *got;
    return got;
  }
  std::optional<std::uint64_t> length() const override { return inner_.length(); }

 private:
  http::BodyReader& inner_;
  std::uint64_t& count_;
};

/// A body that is whole already, for handlers that read streams.
class WholeReader final : public http::BodyReader {
 public:
  explicit WholeReader(std::string_view body) : left_(body), size_(body.size()) {}
  std::expected<std::size_t, http::BodyError> read(std::span<char> space) override {
    const std::size_t size = std::min(space.size(), left_.size());
    if (size > 0) std::memcpy(space.data(), left_.data(), size);
    left_.remove_prefix(size);
    return size;
  }
  std::optional<std::uint64_t> length() const override { return size_; }

 private:
  std::string_view left_;
  std::uint64_t size_;
};

/// A body that cannot be read: each read fails with the reason.
class RefusingReader final : public http::BodyReader {
 public:
  explicit RefusingReader(const Failure& failure) : error_{failure.status, Error{failure.message}} {}
  std::expected<std::size_t, http::BodyError> read(std::span<char>) override { return std::unexpected(error_); }
  std::optional<std::uint64_t> length() const override { return {}; }

 private:
  http::BodyError error_;
};

/// Begins the answer with its first byte, counts what is written, and records the request when the body has ended, one
/// way or the other. Destroyed before it began, nothing was sent, and the handler's failure can still be. Must not
/// outlive the handler it was made for.
class RecordingWriter final : public http::BodyWriter {
 public:
  using Begin = std::move_only_function<std::unique_ptr<http::BodyWriter>()>;
  RecordingWriter(Begin begin, std::move_only_function<void()> unbegun, RequestRecord& record, int status,
                  bool head_only, HttpMetrics& metrics, const AppConfig& config)
      : begin_(std::move(begin)),
        unbegun_(std::move(unbegun)),
        record_(record),
        outcome_{status, 0, false},
        head_only_(head_only),
        metrics_(metrics),
        config_(config) {}
  ~RecordingWriter() override { inner_ ? end(false) : unbegun_(); }

  std::expected<void, Error> write(std::string_view bytes) override {
    auto done = inner().write(bytes);
    if (done) count(bytes.size());
    return done;
  }
  std::expected<void, Error> send_file(int fd, std::uint64_t offset, std::uint64_t length) override {
    auto done = inner().send_file(fd, offset, length);
    if (done) count(length);
    return done;
  }
  std::expected<void, Error> finish() override {
    auto done = inner().finish();
    end(done.has_value());
    return done;
  }
  bool gone() const override { return inner_ && inner_->gone(); }
  bool draining() const override { return inner_ && inner_->draining(); }

 private:
  http::BodyWriter& inner() {
    if (!inner_) inner_ = begin_();
    return *inner_;
  }
  void count(std::uint64_t bytes) { outcome_.bytes_out += head_only_ ? 0 : bytes; }
  void end(bool whole) {
    if (std::exchange(ended_, true)) return;
    outcome_.whole = whole;
    finish_record(record_, outcome_, metrics_, config_);
  }

  Begin begin_;
  std::unique_ptr<http::BodyWriter> inner_;  // null until it begins
  std::move_only_function<void()> unbegun_;
  RequestRecord& record_;
  Outcome outcome_;
  bool head_only_, ended_ = false;
  HttpMetrics& metrics_;
  const AppConfig& config_;
};

}  // namespace stackgate::web
