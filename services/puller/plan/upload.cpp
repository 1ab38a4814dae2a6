#include "services/puller/plan/upload.hpp"

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::puller {
namespace upload_detail {

constexpr std::string_view adapters = "/v1/adapters/";

/// The server's own words for a refusal; empty without any.
std::string message_of(std::string_view body) {
  json::Document document;
  const auto root = json::parse(body, document);
  if (!root) return {};
  std::string out(json::text(&*root, {"error", "message"}));
  if (out.empty()) out = json::text(&*root, {"message"});
  for (const json::Value& finding : json::items(&*root, {"detail"})) {
    std::string place;
    for (const json::Value& part : json::items(&finding, {"loc"}))
      if (const std::string text = json::scalar_text(part); text != "body") place += (place.empty() ? "" : ".") + text;
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", place, json::text(&finding, {"msg"}));
  }
  return out;
}

std::string with_message(std::string sentence, std::string_view body) {
  const std::string message = message_of(body);
  return message.empty() ? sentence : fmt::format("{}: {}", sentence, message);
}

Failure failure_of(int status, std::string_view body) {
  if (status == 413)
    return {Cause::settings, with_message("413 the entitystore takes no archive of this size", body),
            "train fewer modules or a lower rank, or let it take more (--max-archive)"};
  if (status == 422)
    return {Cause::settings, with_message("422 the entitystore refuses the adapter", body),
            "mend what it names: the adapter's files, or the metadata"};
  if (auto failure = failure_of_status(status, "the entitystore", message_of(body))) {
    if (failure->cause == Cause::bad_answer) failure->cure = "check that the address is an entitystore's";
    if (failure->cause == Cause::missing) failure->cure = "check the entitystore's address";
    return *failure;
  }
  return {Cause::bad_answer, fmt::format("the entitystore answers {} to an upload", status),
          "check that the address is an entitystore's"};
}

}  // namespace upload_detail

UploadFrame upload_frame(std::string_view boundary, std::string_view metadata_json) {
  return {.content_type = fmt::format("multipart/form-data; boundary={}", boundary),
          .before = fmt::format("--{0}\r\nContent-Disposition: form-data; name=\"metadata\"\r\n"
                                "Content-Type: application/json\r\n\r\n{1}\r\n--{0}\r\n"
                                "Content-Disposition: form-data; name=\"adapter\"; filename=\"adapter.tar.gz\"\r\n"
                                "Content-Type: application/gzip\r\n\r\n",
                                boundary, metadata_json),
          .behind = fmt::format("\r\n--{}--\r\n", boundary)};
}

Result<void> check_metadata(std::string_view json, std::string_view where) {
  json::Document document;
  const auto read = json::parse(json, document);
  const auto wrong = [&](std::string why) {
    return std::unexpected(Failure{Cause::settings, fmt::format("{}: {}", where, why),
                                   "write a JSON object with name, base_model and version"});
  };
  if (!read) return wrong(fmt::format("is no JSON: {}", read.error().message));
  if (!read->is_object()) return wrong("is no JSON object");
  for (const char* member : {"name", "base_model", "version"})
    if (json::text(&*read, {member}).empty()) return wrong(fmt::format("has no \"{}\"", member));
  return {};
}

Result<Registered> read_registered(int status, std::string_view body, std::string_view location,
                                   std::string_view known_sha256, std::string_view sha256) {
  using namespace upload_detail;
  Registered out{.was_there = status == 409};
  if (status != 201 && status != 409) return std::unexpected(failure_of(status, body));
  if (status == 409 && (known_sha256.empty() || known_sha256 != sha256))
    return std::unexpected(Failure{Cause::settings, with_message("409 another adapter has that name and version", body),
                                   "choose another version, or delete that one first"});
  const auto at = location.rfind(adapters);
  if (at != std::string_view::npos) out.id = location.substr(at + adapters.size());
  if (out.id.empty() || out.id.contains('/'))
    return std::unexpected(Failure{Cause::bad_answer, "the entitystore's answer to the upload names no adapter",
                                   "check that the address is an entitystore's"});
  return out;
}

Result<Storing> read_storing(int status, std::string_view body, std::string_view id) {
  using namespace upload_detail;
  if (status == 404)
    return std::unexpected(
        Failure{Cause::missing, fmt::format("the adapter {} was deleted after its upload", id), "upload it again"});
  if (status != 200) return std::unexpected(failure_of(status, body));
  json::Document document;
  const auto root = json::parse(body, document);
  if (!root)
    return std::unexpected(Failure{Cause::bad_answer, fmt::format("the entitystore's record of {} is no JSON", id)});
  const std::string_view state = json::text(&*root, {"status"});
  if (state == "ready") return Storing::ready;
  if (state == "pending") return Storing::waits_for_approval;
  if (state == "uploading") return Storing::goes_on;
  const std::string_view why = json::text(&*root, {"reason"});
  return std::unexpected(Failure{
      Cause::bad_answer, fmt::format("the entitystore could not store {}{}{}", id, why.empty() ? "" : ": ", why),
      "look at its log; a failed version is final: delete it, or upload under another one"});
}

}  // namespace stackgate::puller
