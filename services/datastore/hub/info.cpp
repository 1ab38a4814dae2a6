// What a repository is, and lists of them.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "services/datastore/git/objects.hpp"
#include "services/datastore/hub/card.hpp"
#include "services/datastore/hub/handlers.hpp"
#include "services/datastore/hub/place.hpp"
#include "services/datastore/hub/shapes.hpp"
#include "services/datastore/repositories/record.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/web/paging.hpp"

namespace stackgate::datastore::hub {

namespace {

using Tags = std::shared_ptr<const std::vector<std::string>>;

namespace tags_detail {

constexpr std::size_t largest_readme = std::size_t{1} << 20U, most_remembered = 10'000;

/// By content, so nothing in it ever grows old.
struct Memory {
  std::mutex mutex;
  std::unordered_map<std::string, Tags> tags;
};

Memory& memory() {
  static Memory one;
  return one;
}

}  // namespace tags_detail

/// Never null. Empty without a README.md, and for one of more than 1 MiB.
Tags tags_at(git::Repository& git, const git::Oid& commit, RepositoryType type) {
  static const Tags none = std::make_shared<const std::vector<std::string>>();
  if (commit.empty()) return none;
  const auto entry = git.entry(commit, "README.md");
  if (!entry || (entry->kind != git::EntryKind::file && entry->kind != git::EntryKind::executable)) return none;
  const std::string key = entry->oid + (type == RepositoryType::model ? "m" : "d");
  tags_detail::Memory& memory = tags_detail::memory();
  {
    const std::lock_guard lock(memory.mutex);
    if (const auto found = memory.tags.find(key); found != memory.tags.end()) return found->second;
  }
  const auto text = git.blob(entry->oid, tags_detail::largest_readme);
  if (!text) return none;
  auto tags = std::make_shared<const std::vector<std::string>>(tags_of(*text, type));
  const std::lock_guard lock(memory.mutex);
  if (memory.tags.size() >= tags_detail::most_remembered) memory.tags.clear();
  memory.tags[key] = tags;
  return tags;
}

/// Every file; in pages, because the listing is bounded.
git::Expected<std::vector<git::Entry>> all_files(git::Repository& git, const git::Oid& commit, bool blobs) {
  std::vector<git::Entry> out;
  git::TreeOptions options{.recursive = true, .sizes = blobs, .lfs = blobs, .limit = 5000};
  for (;;) {
    auto page = TRY(git.tree(commit, "", options));
    if (!page.empty()) options.after = page.back().path;
    out.insert(out.end(), std::make_move_iterator(page.begin()), std::make_move_iterator(page.end()));
    if (page.size() < options.limit) return out;
  }
}

constexpr std::size_t most_examined = 2'000;  // repositories for one page of a filtered list

/// Tags that every repository of the list must have: "filter", repeated or with commas, and "pipeline_tag".
std::vector<std::string_view> wanted_tags(const web::Query& query) {
  std::vector<std::string_view> out;
  for (const std::string_view name : {"filter", "filter[]", "pipeline_tag"})
    for (std::string_view rest : query.all(name))
      while (!rest.empty()) {
        const std::string_view tag = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), tag.size() + 1));
        if (!tag.empty()) out.push_back(tag);
      }
  return out;
}

/// The default branch of one repository of a list.
struct Head {
  std::unique_ptr<git::Repository> git{};
  git::Oid commit{};  // empty: nothing has been committed, or the folder is damaged, which hides no other's
  std::int64_t modified = 0;
};

Head head_of(const Backend& backend, const Repository& repository) {
  auto git = open_git(backend, repository);
  if (!git) return {};
  Head out{.git = std::move(*git)};
  const auto id = out.git->resolve("refs/heads/" + repository.default_branch);
  const auto commit = id ? out.git->commit(*id) : std::unexpected(id.error());
  if (commit) {
    out.commit = *id;
    out.modified = commit->committer.seconds;
  } else if (id || id.error().fault != git::Fault::missing) {
    (void)ServiceError(git::GitError{git::Fault::broken, commit.error().message});  // the log's line
  }
  return out;
}

Tags tags_of(const Head& head, RepositoryType type) {
  if (!head.git) return std::make_shared<const std::vector<std::string>>();
  return tags_at(*head.git, head.commit, type);
}

/// One page written into `w`; where the next one begins, or nothing.
std::expected<std::optional<std::size_t>, ServiceError> write_page(json::Writer& w, const Backend& backend,
                                                                   const Identity& identity,
                                                                   const RepositoryFilter& filter,
                                                                   RepositoryType type) {
  const auto page = TRY(backend.repositories.list(identity, filter));
  for (const Repository& repository : page.items) {
    const Head head = head_of(backend, repository);
    write_info(w, {.repository = repository, .type = type, .sha = head.commit, .modified = head.modified});
  }
  const std::size_t end = filter.skip + page.items.size();
  return end < page.total && !page.items.empty() ? std::optional(end) : std::nullopt;
}

/// A page of those that have all `tags`; the next one begins in the list without tags. Looks at so many only: a page
/// may come short, and even empty, with a next one.
std::expected<std::optional<std::size_t>, ServiceError> write_tagged(json::Writer& w, const Backend& backend,
                                                                     const Identity& identity, RepositoryFilter filter,
                                                                     RepositoryType type,
                                                                     const std::vector<std::string_view>& tags) {
  const std::size_t wanted = filter.limit, end = filter.skip + most_examined;
  filter.limit = 200;
  for (std::size_t written = 0;;) {
    const auto page = TRY(backend.repositories.list(identity, filter));
    for (const Repository& repository : page.items) {
      ++filter.skip;
      const Head head = head_of(backend, repository);
      const Tags has = tags_of(head, type);
      if (!std::ranges::all_of(tags, [&](std::string_view tag) { return std::ranges::find(*has, tag) != has->end(); }))
        continue;
      write_info(
          w,
          {.repository = repository, .type = type, .sha = head.commit, .modified = head.modified, .tags = has.get()});
      if (++written == wanted) break;
    }
    if (page.items.empty() || filter.skip >= page.total) return std::nullopt;
    if (written == wanted || filter.skip >= end) return filter.skip;
  }
}

}  // namespace

web::Answer get_info(const Backend& backend, web::Call& call, RepositoryType type) {
  const auto place = TRY(enter(backend, call, type, Action::read));
  const auto opened = TRY(open_at(backend, place, call.parameter("revision")));
  auto expand = call.query().all("expand");
  for (std::string_view more : call.query().all("expand[]")) expand.push_back(more);
  const bool siblings = expand.empty() || std::ranges::find(expand, "siblings") != expand.end();
  Info info{
      .repository = place.repository, .type = type, .sha = opened.commit, .blobs = is_true(call.query().get("blobs"))};
  const Tags tags = tags_at(*opened.git, opened.commit, type);
  info.tags = tags.get();
  std::vector<git::Entry> files;
  if (!opened.commit.empty()) {
    const auto commit = TRY(opened.git->commit(opened.commit));
    info.modified = commit.committer.seconds;
    if (siblings) {
      files = TRY(all_files(*opened.git, opened.commit, info.blobs));
    }
  }
  if (siblings) info.siblings = &files;
  return json_answer([&](json::Writer& w) { write_info(w, info); });
}

web::Answer get_list(const Backend& backend, web::Call& call, RepositoryType type) {
  const auto identity = TRY(identify(backend, call));
  const web::Query& query = call.query();
  const auto limit = TRY(web::read_limit(query, 100, 500));
  const auto skip = to_number<std::size_t>(query.get("cursor").value_or("0"));
  if (!skip) return bad_request("\"cursor\" is not one that this server gave");
  RepositoryFilter filter{.search = std::string(query.get("search").value_or("")),
                          .owner = std::string(query.get("author").value_or("")),
                          .type = type,
                          .order = RepositoryOrder::updated,
                          .descending = query.get("direction").value_or("-1") != "1",
                          .skip = *skip,
                          .limit = limit};
  if (const auto sort = query.get("sort")) {
    if (*sort == "createdAt" || *sort == "created_at") filter.order = RepositoryOrder::created;
    if (*sort == "id") filter.order = RepositoryOrder::name, filter.descending = false;
  }
  if (identity.anonymous() && !backend.anonymous_read) return unauthorized();
  const std::vector<std::string_view> tags = wanted_tags(query);
  std::expected<std::optional<std::size_t>, ServiceError> next;
  std::string out;
  json::Writer w(out);
  w.array([&] {
    next = tags.empty() ? write_page(w, backend, identity, filter, type)
                        : write_tagged(w, backend, identity, filter, type, tags);
  });
  if (!next) return next.error();
  web::Headers headers;
  if (*next)
    web::add_next_link(headers, call.base_url() + std::string(call.request().path), query, "cursor",
                       std::to_string(**next));
  return json_answer(std::move(out), std::move(headers));
}

}  // namespace stackgate::datastore::hub
