#include "services/kit/objects/s3_store.hpp"

#include <algorithm>
#include <utility>

#include "services/kit/base/try.hpp"
#include "services/kit/objects/directory_paths.hpp"
#include "services/kit/objects/s3_transfer.hpp"

namespace stackgate::objects {
namespace s3_store_detail {

// What S3 will send as a header must be one.
bool header_safe(std::string_view value) {
  return std::ranges::none_of(value, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

bool hex_digest(std::string_view text) {
  return text.size() == 64 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace s3_store_detail

using namespace s3_store_detail;

Expected<Info> S3Store::stat(std::string_view key) {
  if (!valid_key(key)) return std::unexpected(key_error(key));
  return s3_stat(*client_, std::string(key));
}

Expected<std::unique_ptr<Upload>> S3Store::create(std::string_view key, std::optional<std::uint64_t> size) {
  if (!valid_key(key)) return std::unexpected(key_error(key));
  return start_s3_upload(client_, std::string(key), size);
}

Expected<std::unique_ptr<Download>> S3Store::open(std::string_view key, std::uint64_t offset) {
  if (!valid_key(key)) return std::unexpected(key_error(key));
  return start_s3_download(client_, std::string(key), offset);
}

Expected<void> S3Store::remove(std::string_view key) {
  if (!valid_key(key)) return std::unexpected(key_error(key));
  S3Call call{.method = "DELETE", .key = std::string(key)};
  auto reply = client_->must(call, "cannot remove");
  if (reply || reply.error().fault == Fault::missing) return {};
  return std::unexpected(std::move(reply.error()));
}

Expected<void> S3Store::list(std::string_view prefix, const std::function<bool(const Entry&)>& visit) {
  std::string token;
  while (true) {
    S3Call call{.query = {{"encoding-type", "url"}, {"list-type", "2"}, {"prefix", std::string(prefix)}}};
    if (!token.empty()) call.query.emplace_back("continuation-token", token);
    auto reply = TRY(client_->must(call, "cannot list the bucket"));
    auto page = parse_list(reply.body);
    if (!page) return std::unexpected(StoreError{Fault::broken, "cannot list the bucket: " + page.error()});
    for (const Entry& entry : page->entries)
      if (valid_key(entry.key) && entry.key.starts_with(prefix) && !visit(entry)) return {};
    if (page->next.empty()) return {};
    if (page->next == token)
      return std::unexpected(StoreError{Fault::broken, "cannot list the bucket: the server repeats a page"});
    token = std::move(page->next);
  }
}

Expected<void> S3Store::check() {
  // A list, because its answer has a body that says what is wrong; a HEAD of the bucket has none.
  S3Call call{.query = {{"list-type", "2"}, {"max-keys", "1"}}, .quick = true};
  auto reply = client_->must(call, "cannot use the bucket");
  if (!reply && reply.error().message.contains("does not answer"))
    reply.error().message += "; look at --s3-endpoint and --s3-ssl if it should be there";
  if (!reply) return std::unexpected(std::move(reply.error()));
  if (auto page = parse_list(reply->body); !page)
    return std::unexpected(StoreError{Fault::broken, "cannot use the bucket: " + page.error() +
                                                         "; does --s3-endpoint name a server that speaks S3?"});
  return {};
}

std::optional<std::string> S3Store::presigned_get(std::string_view key, const PresignOptions& options) {
  if (!valid_key(key) || !header_safe(options.content_disposition) || !header_safe(options.content_type)) return {};
  sigv4::Fields query;
  if (!options.content_disposition.empty())
    query.emplace_back("response-content-disposition", options.content_disposition);
  if (!options.content_type.empty()) query.emplace_back("response-content-type", options.content_type);
  return client_->presign("GET", key, std::move(query), {}, options.valid);
}

std::optional<std::string> S3Store::presigned_put(std::string_view key, const PresignOptions& options) {
  static constexpr std::uint64_t largest_put = 5ULL << 30U;  // S3's
  if (!valid_key(key) || options.size.value_or(0) > largest_put) return {};
  if (!options.sha256.empty() && !hex_digest(options.sha256)) return {};
  sigv4::Fields headers;
  if (options.size) headers.emplace_back("content-length", std::to_string(*options.size));
  if (!options.sha256.empty()) headers.emplace_back("x-amz-content-sha256", options.sha256);
  return client_->presign("PUT", key, {}, std::move(headers), options.valid);
}

Expected<std::optional<PartUpload>> S3Store::begin_parts(std::string_view key, unsigned parts,
                                                         const PresignOptions& options) {
  if (!valid_key(key)) return std::unexpected(key_error(key));
  if (parts < 1 || parts > 10'000)
    return std::unexpected(StoreError{Fault::refused, "S3 takes 1 to 10,000 parts, not " + std::to_string(parts)});
  auto id = TRY(s3_begin_parts(*client_, std::string(key)));
  PartUpload upload{.id = std::move(id)};
  upload.urls.reserve(parts);
  for (unsigned part = 1; part <= parts; ++part)
    upload.urls.push_back(client_->presign("PUT", key, {{"partNumber", std::to_string(part)}, {"uploadId", upload.id}},
                                           {}, options.valid));
  return upload;
}

Expected<void> S3Store::finish_parts(std::string_view key, std::string_view id,
                                     const std::vector<std::pair<unsigned, std::string>>& parts) {
  if (!valid_key(key)) return std::unexpected(key_error(key));
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].first < 1 || parts[i].first > 10'000 || (i > 0 && parts[i].first <= parts[i - 1].first) ||
        parts[i].second.size() > 200 || !header_safe(parts[i].second))
      return std::unexpected(StoreError{Fault::refused,
                                        "the parts must come with rising numbers from 1 to 10,000 and "
                                        "the ETag that each upload answered"});
  if (parts.empty()) return std::unexpected(StoreError{Fault::refused, "an upload in parts has at least one"});
  return s3_finish_parts(*client_, std::string(key), std::string(id), parts, std::nullopt);
}

Expected<void> S3Store::drop_parts(std::string_view key, std::string_view id) {
  if (!valid_key(key)) return std::unexpected(key_error(key));
  return s3_drop_parts(*client_, std::string(key), std::string(id));
}

}  // namespace stackgate::objects
