#include "services/datastore/hub/preupload.hpp"

#include "services/kit/json/write.hpp"

namespace stackgate::datastore::hub {

std::expected<PreuploadRequest, web::Failure> parse_preupload(const json::Value& body) {
  const auto wrong = [](std::string message) {
    return std::unexpected(web::Failure{.status = 400, .message = std::move(message)});
  };
  const json::Value* files = body.find("files");
  if (files == nullptr || !files->is_array()) return wrong("\"files\" must be an array");
  if (files->items().size() > preupload_files)
    return wrong("at most " + std::to_string(preupload_files) + " files go into one call");
  PreuploadRequest out;
  for (const json::Value& file : files->items()) {
    const json::Value* path = file.find("path");
    const json::Value* size = file.find("size");
    if (path == nullptr || path->string().empty()) return wrong("each of \"files\" must have a \"path\"");
    if (size == nullptr || !size->is_integer() || size->integer() < 0)
      return wrong("the \"size\" of " + std::string(path->string()) + " must be a whole number of bytes");
    out.files.push_back({std::string(path->string()), static_cast<std::uint64_t>(size->integer())});
  }
  if (const json::Value* text = body.find("gitAttributes"); text != nullptr && text->is_string())
    out.attributes = text->string();
  if (const json::Value* text = body.find("gitIgnore"); text != nullptr && text->is_string())
    out.ignore = text->string();
  return out;
}

bool goes_to_lfs(const Attributes& attributes, std::string_view path, std::uint64_t size, std::uint64_t threshold) {
  if (size == 0) return false;
  if (size > largest_regular) return true;
  return attributes.in_lfs(path).value_or(size > threshold);
}

std::string answer_preupload(const PreuploadRequest& request, const Attributes& attributes, std::uint64_t threshold,
                             const Current& current) {
  const IgnoreList ignore = IgnoreList::parse(request.ignore.value_or(""));
  return json::object_text([&](json::Writer& w) {
    w.array("files", [&] {
      for (const Candidate& file : request.files) {
        const bool large = goes_to_lfs(attributes, file.path, file.size, threshold);
        w.object([&] {
          w.member("path", file.path);
          w.member("uploadMode", large ? "lfs" : "regular");
          w.member("shouldIgnore", ignore.ignores(file.path));
          // A client compares it with what it would upload, and skips what is there already.
          const auto entry = current(file.path);
          if (entry && large && entry->lfs) {
            w.member("oid", entry->lfs->oid);
          } else if (entry && !large && !entry->lfs) {
            w.member("oid", entry->oid);
          } else {
            w.member("oid", nullptr);
          }
        });
      }
    });
  });
}

}  // namespace stackgate::datastore::hub
