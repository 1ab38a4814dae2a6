#include "services/kit/base/number.hpp"
#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/objects/s3_transfer.hpp"

namespace stackgate::objects {

Expected<Info> s3_stat(S3Client& client, const std::string& key) {
  S3Call call{.method = "HEAD", .key = key};
  auto reply = client.must(call, "cannot find");
  if (!reply) {
    // A HEAD has no body that could say which of the two is missing: only this case is worth a second call.
    if (reply.error().fault == Fault::missing) {
      S3Call again{.key = key, .headers = {{"range", "bytes=0-0"}}};
      auto answer = client.must(again, "cannot find");
      if (!answer && answer.error().fault != Fault::missing) return std::unexpected(std::move(answer.error()));
    }
    return std::unexpected(std::move(reply.error()));
  }
  const auto size = to_number<std::uint64_t>(reply->header("content-length").value_or(""));
  if (!size)
    return std::unexpected(StoreError{Fault::broken, "cannot find the size of " + key + ": the answer has no length"});
  return Info{*size, from_http_date(reply->header("last-modified").value_or("")).value_or(std::chrono::sys_seconds{}),
              std::string(reply->header("etag").value_or(""))};
}

Expected<std::string> s3_begin_parts(S3Client& client, const std::string& key) {
  S3Call call{.method = "POST", .key = key, .query = {{"uploads", ""}}};
  call.headers = {{"content-type", "application/octet-stream"}};
  auto reply = TRY(client.must(call, "cannot begin"));
  auto id = parse_upload_id(reply.body);
  if (!id) return std::unexpected(StoreError{Fault::broken, "cannot begin " + key + ": " + id.error()});
  return std::move(*id);
}

Expected<void> s3_finish_parts(S3Client& client, const std::string& key, const std::string& id,
                               const std::vector<std::pair<unsigned, std::string>>& parts,
                               std::optional<std::uint64_t> size) {
  S3Call call{.method = "POST", .key = key, .query = {{"uploadId", id}}, .body = complete_body(parts)};
  call.headers = {{"content-type", "application/xml"}};
  auto answer = TRY(client.send(call));
  // S3 may answer 200 at once and send the fault behind it.
  if (answer.reply.status < 300) answer.fault = parse_fault(answer.reply.body);
  if (answer.reply.status < 300 && !answer.fault) return {};
  if (answer.fault && answer.fault->code == "NoSuchUpload" && size) {
    const auto there = s3_stat(client, key);
    if (there && there->size == *size) return {};
  }
  return std::unexpected(explain(answer.reply.status, answer.fault, "cannot complete " + key, client.options().bucket));
}

Expected<void> s3_drop_parts(S3Client& client, const std::string& key, const std::string& id) {
  S3Call call{.method = "DELETE", .key = key, .query = {{"uploadId", id}}};
  auto reply = client.must(call, "cannot give up the upload of");
  if (reply || reply.error().fault == Fault::missing) return {};
  return std::unexpected(std::move(reply.error()));
}

}  // namespace stackgate::objects
