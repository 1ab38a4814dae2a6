// What comes before a commit: which files are large, and where they go.
#include "services/datastore/hub/handlers.hpp"
#include "services/datastore/hub/place.hpp"
#include "services/datastore/hub/preupload.hpp"
#include "services/datastore/lfs/attributes_commit.hpp"
#include "services/datastore/lfs/handlers.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/json.hpp"

namespace stackgate::datastore::hub {

web::Answer post_preupload(const Backend& backend, web::Call& call, RepositoryType type) {
  const json::Value& root = *TRY(web::read_object(call));
  auto request = TRY(parse_preupload(root));
  const auto place = TRY(enter(backend, call, type, Action::write));
  const auto opened = TRY(open_at(backend, place, call.parameter("revision")));
  const auto attributes = Attributes::parse(
      request.attributes ? *request.attributes
                         : lfs::text_at(*opened.git, opened.commit, lfs::attributes_path).value_or(""));
  if (!request.ignore) request.ignore = lfs::text_at(*opened.git, opened.commit, ".gitignore");
  return json_answer(answer_preupload(request, attributes, backend.lfs_threshold,
                                      [&](const std::string& path) -> std::optional<git::Entry> {
                                        if (opened.commit.empty()) return {};
                                        auto entry = opened.git->entry(opened.commit, path);
                                        if (!entry || entry->kind == git::EntryKind::folder) return {};
                                        return std::move(*entry);
                                      }));
}

web::Answer post_batch(const Backend& backend, web::Call& call) {
  return lfs::answer_batch(backend, call, call.parameter("owner"), call.parameter("name"), lfs::Proof::url);
}

}  // namespace stackgate::datastore::hub
