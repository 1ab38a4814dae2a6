#include <algorithm>

#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/objects/s3_transfer.hpp"

namespace stackgate::objects {
namespace s3_download_detail {

constexpr std::uint64_t first_stretch = 256ULL << 10U;  // small objects are common
constexpr std::uint64_t longest_stretch = 1ULL << 20U;  // held whole, by each download

struct Stretch {
  std::string bytes;
  std::uint64_t whole = 0;
  std::string etag;
};

// "bytes 0-9/10": where it begins and how long the object is.
std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_content_range(std::string_view text) {
  const auto dash = text.find('-'), slash = text.find('/');
  if (!text.starts_with("bytes ") || dash > slash || slash == std::string_view::npos) return std::nullopt;
  const auto first = to_number<std::uint64_t>(text.substr(6, dash - 6)),
             last = to_number<std::uint64_t>(text.substr(dash + 1, slash - dash - 1)),
             whole = to_number<std::uint64_t>(text.substr(slash + 1));
  if (!first || !last || !whole || *first > *last || *last >= *whole) return std::nullopt;
  return std::pair(*first, *whole);
}

// Nothing when there is no byte at this offset.
Expected<std::optional<Stretch>> fetch_stretch(S3Client& client, const std::string& key, std::uint64_t offset,
                                               std::uint64_t length, const std::string& etag) {
  S3Call call{.key = key, .largest_reply = length};
  call.headers = {{"range", "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + length - 1)}};
  if (!etag.empty()) call.headers.emplace_back("if-match", etag);
  auto answer = TRY(client.send(call));
  http_client::Response& reply = answer.reply;
  if (reply.status == 416) return std::nullopt;
  if (reply.status == 412)
    return std::unexpected(StoreError{Fault::broken, key + " was replaced while it was being read"});
  if (reply.status >= 300)
    return std::unexpected(explain(reply.status, answer.fault, "cannot read " + key, client.options().bucket));
  Stretch out{.bytes = std::move(reply.body), .etag = std::string(reply.header("etag").value_or(""))};
  const auto range = parse_content_range(reply.header("content-range").value_or(""));
  if (reply.status == 206 && range && range->first == offset && !out.bytes.empty() &&
      out.bytes.size() == std::min(length, range->second - offset)) {
    out.whole = range->second;
    return out;
  }
  return std::unexpected(StoreError{Fault::broken, "cannot read " + key + ": the server does not answer ranges"});
}

class S3Download final : public Download {
 public:
  S3Download(std::shared_ptr<S3Client> client, std::string key, std::uint64_t offset, Stretch first)
      : client_(std::move(client)),
        key_(std::move(key)),
        size_(first.whole),
        etag_(std::move(first.etag)),
        held_(std::move(first.bytes)),
        next_(offset + held_.size()) {}

  std::uint64_t size() const override { return size_; }

  Expected<std::size_t> read(std::span<char> space) override {
    if (space.empty()) return 0;
    if (given_ == held_.size()) {
      if (next_ >= size_) return 0;
      stretch_ = std::min(stretch_ * 2, longest_stretch);
      auto more = TRY(fetch_stretch(*client_, key_, next_, std::min(stretch_, size_ - next_), etag_));
      if (!more || more->whole != size_)
        return std::unexpected(StoreError{Fault::broken, key_ + " was replaced while it was being read"});
      held_ = std::move(more->bytes);
      next_ += held_.size();
      given_ = 0;
    }
    const std::size_t count = std::min(space.size(), held_.size() - given_);
    std::copy_n(held_.data() + given_, count, space.data());
    given_ += count;
    return count;
  }

 private:
  std::shared_ptr<S3Client> client_;
  std::string key_;
  std::uint64_t size_;
  std::string etag_;
  std::string held_;
  std::size_t given_ = 0;   // of held_
  std::uint64_t next_ = 0;  // first byte not fetched
  std::uint64_t stretch_ = first_stretch;
};

}  // namespace s3_download_detail

using namespace s3_download_detail;

Expected<std::unique_ptr<Download>> start_s3_download(std::shared_ptr<S3Client> client, std::string key,
                                                      std::uint64_t offset) {
  auto first = TRY(fetch_stretch(*client, key, offset, first_stretch, {}));
  if (!first) {
    auto info = TRY(s3_stat(*client, key));
    if (offset != info.size)
      return std::unexpected(StoreError{Fault::refused, key + " has only " + std::to_string(info.size) +
                                                            " bytes, none at " + std::to_string(offset)});
    first.emplace(Stretch{.whole = info.size, .etag = info.etag});
  }
  return std::make_unique<S3Download>(std::move(client), std::move(key), offset, std::move(*first));
}

}  // namespace stackgate::objects
