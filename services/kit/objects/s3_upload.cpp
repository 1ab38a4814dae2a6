#include <algorithm>

#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/objects/s3_transfer.hpp"

namespace stackgate::objects {
namespace s3_upload_detail {

constexpr unsigned most_parts = 10'000;
constexpr std::uint64_t mebibyte = 1ULL << 20U;

class S3Upload final : public Upload {
 public:
  S3Upload(std::shared_ptr<S3Client> client, std::string key, std::optional<std::uint64_t> size)
      : client_(std::move(client)), key_(std::move(key)), size_(size) {}
  ~S3Upload() override {
    if (id_.empty() || done_) return;
    // Left alone, the parts would be paid for until somebody looks.
    if (auto dropped = s3_drop_parts(*client_, key_, id_); !dropped)
      log::warning("an unfinished upload stays in the bucket", {{"key", key_}, {"cause", dropped.error().message}});
  }
  S3Upload(const S3Upload&) = delete;
  S3Upload& operator=(const S3Upload&) = delete;

  Expected<void> write(std::string_view bytes) override {
    if (done_ || failed_) return over();
    if (size_ && bytes.size() > *size_ - written_)
      return fail(
          {Fault::refused, "more bytes came for " + key_ + " than the " + std::to_string(*size_) + " announced"});
    while (!bytes.empty()) {
      const std::uint64_t limit = next_part_size(client_->options().part_size, size_, part_number());
      // A full part is sent only when more follows: what fits one part is a single PUT.
      if (held_.size() >= limit) {
        if (auto sent = send_part(); !sent) return fail(std::move(sent.error()));
        continue;
      }
      if (held_.empty()) held_.reserve(room_for(limit));  // once: growing would hold the part and a half
      const std::size_t taken = std::min<std::uint64_t>(bytes.size(), limit - held_.size());
      held_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      written_ += taken;
    }
    return {};
  }

  Expected<void> commit() override {
    if (done_ || failed_) return over();
    if (size_ && written_ != *size_)
      return fail({Fault::refused, key_ + " was announced with " + std::to_string(*size_) + " bytes, but " +
                                       std::to_string(written_) + " came"});
    auto stored = id_.empty() ? put_whole() : finish();
    if (!stored) return fail(std::move(stored.error()));
    done_ = true;
    return {};
  }

 private:
  /// No more than is to come, if that is known.
  std::size_t room_for(std::uint64_t part) const {
    return static_cast<std::size_t>(size_ ? std::min(part, *size_ - written_) : part);
  }
  unsigned part_number() const { return static_cast<unsigned>(parts_.size()); }

  Expected<void> put_whole() {
    S3Call call{.method = "PUT", .key = key_, .body = std::move(held_)};
    call.headers = {{"content-type", "application/octet-stream"}};
    TRY(client_->must(call, "cannot write"));
    return {};
  }

  Expected<void> send_part() {
    if (parts_.size() == most_parts)
      return std::unexpected(StoreError{Fault::refused, key_ + " is larger than S3 takes in 10,000 parts"});
    if (id_.empty()) {
      id_ = TRY(s3_begin_parts(*client_, key_));
    }
    const unsigned number = part_number() + 1;
    S3Call call{.method = "PUT",
                .key = key_,
                .query = {{"partNumber", std::to_string(number)}, {"uploadId", id_}},
                .body = std::move(held_)};
    call.headers = {{"content-type", "application/octet-stream"}};
    auto reply = TRY(client_->must(call, "cannot write a part of"));
    const auto etag = reply.header("etag");
    if (!etag) return std::unexpected(StoreError{Fault::broken, "the server gave no ETag for a part of " + key_});
    parts_.emplace_back(number, std::string(*etag));
    held_ = std::move(call.body);  // its memory serves the next part
    held_.clear();
    return {};
  }

  Expected<void> finish() {
    if (!held_.empty())
      if (auto sent = send_part(); !sent) return sent;
    return s3_finish_parts(*client_, key_, id_, parts_, written_);
  }

  std::unexpected<StoreError> fail(StoreError error) {
    failed_ = true;
    return std::unexpected(std::move(error));
  }
  std::unexpected<StoreError> over() const {
    return std::unexpected(StoreError{Fault::broken, "the upload of " + key_ + " is over"});
  }

  std::shared_ptr<S3Client> client_;
  std::string key_;
  std::optional<std::uint64_t> size_;
  std::string held_;
  std::uint64_t written_ = 0;
  std::string id_;
  std::vector<std::pair<unsigned, std::string>> parts_;
  bool done_ = false;
  bool failed_ = false;
};

}  // namespace s3_upload_detail

std::uint64_t next_part_size(std::uint64_t configured, std::optional<std::uint64_t> size, unsigned parts_sent) {
  using s3_upload_detail::mebibyte;
  using s3_upload_detail::most_parts;
  if (size) {
    const std::uint64_t needed = *size / most_parts + 1;
    return std::max(configured, (needed + mebibyte - 1) / mebibyte * mebibyte);
  }
  // Nobody knows how much comes: the parts grow, so that 8 MiB at first reach half a terabyte.
  return configured << std::min(parts_sent / 1'000, 3U);
}

Expected<std::unique_ptr<Upload>> start_s3_upload(std::shared_ptr<S3Client> client, std::string key,
                                                  std::optional<std::uint64_t> size) {
  static constexpr std::uint64_t largest_object = 5ULL << 40U;  // S3's
  if (size && *size > largest_object)
    return std::unexpected(StoreError{Fault::refused, key + " is larger than the 5 TiB that S3 takes"});
  return std::make_unique<s3_upload_detail::S3Upload>(std::move(client), std::move(key), size);
}

}  // namespace stackgate::objects
