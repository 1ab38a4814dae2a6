// Folders and single paths, with the commit that changed each last where asked for.
#include <map>

#include "services/datastore/hub/handlers.hpp"
#include "services/datastore/hub/place.hpp"
#include "services/datastore/hub/shapes.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/json.hpp"
#include "services/kit/web/media_type.hpp"
#include "services/kit/web/paging.hpp"

namespace stackgate::datastore::hub {

namespace {

constexpr std::size_t commits_looked_at = 2000;
constexpr std::size_t paths_at_once = 1000;

std::pair<std::string, std::string> folder_and_name(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {{}, path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

/// By path; folder by folder, since a walk through the history answers for a whole folder.
git::Expected<std::map<std::string, LastCommit>> last_commits(git::Repository& git, const git::Oid& commit,
                                                              const std::vector<git::Entry>& entries) {
  std::map<std::string, std::vector<std::string>> folders;
  for (const git::Entry& entry : entries) {
    auto [folder, name] = folder_and_name(entry.path);
    folders[folder].push_back(std::move(name));
  }
  std::map<std::string, LastCommit> out;
  for (const auto& [folder, names] : folders) {
    const auto found = TRY(git.last_commits(commit, folder, names, commits_looked_at));
    const std::string before = folder.empty() ? folder : folder + "/";
    for (const auto& [name, last] : found) out[before + name] = {last.oid, last.title(), last.committer.seconds};
  }
  return out;
}

git::Expected<std::string> entries_json(git::Repository& git, const git::Oid& commit,
                                        const std::vector<git::Entry>& entries, bool expand) {
  std::map<std::string, LastCommit> last;
  if (expand) {
    last = TRY(last_commits(git, commit, entries));
  }
  std::string out;
  json::Writer w(out);
  w.array([&] {
    for (const git::Entry& entry : entries) {
      const auto at = last.find(entry.path);
      write_entry(w, entry, at == last.end() ? nullptr : &at->second);
    }
  });
  return out;
}

struct PathsRequest {
  std::vector<std::string> paths;
  bool expand = false;
};

/// JSON from JavaScript, a form from Python.
std::expected<PathsRequest, web::Failure> read_paths(web::Call& call) {
  PathsRequest out;
  if (web::is_media_type(call.request().header("content-type"), "application/x-www-form-urlencoded")) {
    const auto body = TRY(call.body());
    const web::Query form = web::Query::parse(body);
    for (std::string_view path : form.all("paths")) out.paths.emplace_back(path);
    out.expand = is_true(form.get("expand"));
  } else {
    const json::Value& root = *TRY(web::read_object(call));
    if (const json::Value* paths = root.find("paths"); paths != nullptr) {
      if (paths->is_string()) out.paths.emplace_back(paths->string());
      for (const json::Value& path : paths->items()) out.paths.emplace_back(path.string());
    }
    out.expand = json::flag_at(root, "expand");
  }
  if (out.paths.size() > paths_at_once)
    return std::unexpected(bad_request("at most " + std::to_string(paths_at_once) + " paths go into one call"));
  return out;
}

}  // namespace

web::Answer get_tree(const Backend& backend, web::Call& call, RepositoryType type) {
  const auto place = TRY(enter(backend, call, type, Action::read));
  std::string path(call.parameter("path"));
  while (path.ends_with('/')) path.pop_back();
  const auto opened = TRY(open_at(backend, place, call.parameter("revision"), path));
  const web::Query& query = call.query();
  const bool expand = is_true(query.get("expand"));
  const auto limit = TRY(web::read_limit(query, expand ? 100 : 1000, 1000));
  if (opened.commit.empty()) {
    if (!opened.path.empty()) return entry_failure({git::Fault::missing, "nothing has been committed yet"});
    return json_answer("[]");
  }
  const auto entries = opened.git->tree(opened.commit, opened.path,
                                        {.recursive = is_true(query.get("recursive")),
                                         .lfs = true,
                                         .after = std::string(query.get("cursor").value_or("")),
                                         .limit = limit});
  if (!entries) return entry_failure(entries.error());
  auto body = TRY(entries_json(*opened.git, opened.commit, *entries, expand));
  web::Headers headers{{"X-Repo-Commit", opened.commit}};
  if (entries->size() == limit)
    web::add_next_link(headers, place.base + std::string(call.request().path), query, "cursor", entries->back().path);
  return json_answer(std::move(body), std::move(headers));
}

web::Answer post_paths_info(const Backend& backend, web::Call& call, RepositoryType type) {
  const auto asked = TRY(read_paths(call));
  const auto place = TRY(enter(backend, call, type, Action::read));
  const auto opened = TRY(open_at(backend, place, call.parameter("revision")));
  std::vector<git::Entry> entries;
  for (const std::string& path : asked.paths) {
    if (opened.commit.empty() || path.empty()) continue;
    auto entry = opened.git->entry(opened.commit, path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
    if (entry) {
      entries.push_back(std::move(*entry));
    } else if (!names_nothing(entry.error())) {
      return to_failure(entry.error());
    }
  }
  return json_answer(TRY(entries_json(*opened.git, opened.commit, entries, asked.expand)));
}

}  // namespace stackgate::datastore::hub
