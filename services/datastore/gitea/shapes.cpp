#include "services/datastore/gitea/shapes.hpp"

#include <chrono>

#include <fmt/format.h>

#include "services/datastore/git/names.hpp"
#include "services/datastore/repositories/access.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/base/time.hpp"

namespace stackgate::datastore::gitea {
namespace {

constexpr std::string_view zero_time = "0001-01-01T00:00:00Z";

/// Absent times: what Gitea writes for its zero time.
std::string_view or_zero(std::string_view time) { return time.empty() ? zero_time : time; }

std::string escaped(std::string_view path) { return percent_encode(path, "/"); }

void write_person(json::Writer& writer, std::string_view key, const git::Signature& person) {
  writer.object(key, [&] {
    writer.member("name", person.name);
    writer.member("email", person.email);
    writer.member("date", time_of(person));
  });
}

std::string_view type_of(git::EntryKind kind) {
  switch (kind) {
    case git::EntryKind::file:
    case git::EntryKind::executable:
      return "file";
    case git::EntryKind::symlink:
      return "symlink";
    case git::EntryKind::folder:
      return "dir";
    case git::EntryKind::submodule:
      break;
  }
  return "submodule";
}

}  // namespace

std::string_view mode_of(git::EntryKind kind) {
  switch (kind) {
    case git::EntryKind::file:
      return "100644";
    case git::EntryKind::executable:
      return "100755";
    case git::EntryKind::symlink:
      return "120000";
    case git::EntryKind::folder:
      return "040000";
    case git::EntryKind::submodule:
      break;
  }
  return "160000";
}

/// With the author's own offset, as Gitea does.
std::string time_of(const git::Signature& signature) {
  const std::chrono::seconds local(signature.seconds + std::int64_t{signature.offset_minutes} * 60);
  std::string out = to_rfc3339(std::chrono::sys_seconds(local));
  if (signature.offset_minutes == 0) return out;
  const int minutes = signature.offset_minutes < 0 ? -signature.offset_minutes : signature.offset_minutes;
  out.pop_back();
  return out + fmt::format("{}{:02}:{:02}", signature.offset_minutes < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

std::string Shape::api(const Repository& repository) const {
  return fmt::format("{}/api/v1/repos/{}", base, repository.full_name());
}

void Shape::user(const Account& account) const {
  const bool close = viewer.admin || viewer.account == account.id;
  writer.object([&] {
    writer.member("id", account.id);
    writer.member("login", account.name);
    writer.member("login_name", "");
    writer.member("source_id", 0);
    writer.member("full_name", account.full_name);
    writer.member("email", close ? account.email : "");
    writer.member("avatar_url", "");
    writer.member("html_url", fmt::format("{}/{}", base, account.name));
    writer.member("language", "");
    writer.member("is_admin", account.admin);
    writer.member("last_login", zero_time);
    writer.member("created", account.created_at);
    writer.member("restricted", false);
    writer.member("active", account.active);
    writer.member("prohibit_login", !account.active);
    writer.member("location", "");
    writer.member("website", "");
    writer.member("description", "");
    writer.member("visibility", "public");
    writer.member("followers_count", 0);
    writer.member("following_count", 0);
    writer.member("starred_repos_count", 0);
    writer.member("username", account.name);
  });
}

void Shape::organization(const Account& account) const {
  writer.object([&] {
    writer.member("id", account.id);
    writer.member("name", account.name);
    writer.member("full_name", account.full_name);
    writer.member("email", "");
    writer.member("avatar_url", "");
    writer.member("description", "");
    writer.member("website", "");
    writer.member("location", "");
    writer.member("visibility", "public");
    writer.member("repo_admin_change_team_access", false);
    writer.member("username", account.name);
  });
}

void Shape::token(const Token& token, std::string_view secret) const {
  writer.object([&] {
    writer.member("id", token.id);
    writer.member("name", token.name);
    writer.member("sha1", secret);
    writer.member("token_last_eight", token.last_eight);
    writer.array("scopes", [&] { writer.value(token.scope == Scope::read ? "read:repository" : "all"); });
    writer.member("created_at", token.created_at);
    writer.member("last_used_at", or_zero(token.last_used_at));
    if (!token.expires_at.empty()) writer.member("expires_at", token.expires_at);
  });
}

void Shape::repository(const Repository& repository, const Account& owner, bool empty) const {
  const std::string html = fmt::format("{}/{}", base, repository.full_name());
  const auto may = [&](Action action) { return judge(viewer, &repository, action) == Verdict::allowed; };
  writer.object([&] {
    writer.member("id", repository.id);
    writer.key("owner");
    user(owner);
    writer.member("name", repository.name);
    writer.member("full_name", repository.full_name());
    writer.member("description", repository.description);
    writer.member("empty", empty);
    writer.member("private", repository.is_private);
    writer.member("fork", false);
    writer.member("template", false);
    writer.member("parent", nullptr);
    writer.member("mirror", false);
    writer.member("size", repository.size / 1024);
    writer.member("language", "");
    writer.member("languages_url", api(repository) + "/languages");
    writer.member("html_url", html);
    writer.member("url", api(repository));
    writer.member("link", "");
    writer.member("ssh_url", "");
    writer.member("clone_url", html + ".git");
    for (const std::string_view word : {"original_url", "website"}) writer.member(word, "");
    for (const std::string_view word :
         {"stars_count", "forks_count", "watchers_count", "open_issues_count", "open_pr_counter", "release_counter"})
      writer.member(word, 0);
    writer.member("default_branch", repository.default_branch);
    writer.member("archived", repository.archived);
    writer.member("created_at", repository.created_at);
    writer.member("updated_at", repository.updated_at);
    writer.member("archived_at", repository.archived ? repository.updated_at : "1970-01-01T00:00:00Z");
    writer.object("permissions", [&] {
      writer.member("admin", may(Action::administer));
      writer.member("push", may(Action::write));
      writer.member("pull", may(Action::read));
    });
    for (const std::string_view word :
         {"has_issues", "has_wiki", "has_pull_requests", "has_projects", "has_releases", "has_packages", "has_actions",
          "ignore_whitespace_conflicts", "allow_merge_commits", "allow_rebase", "allow_rebase_explicit",
          "allow_squash_merge", "allow_fast_forward_only_merge", "allow_rebase_update",
          "default_delete_branch_after_merge"})
      writer.member(word, false);
    writer.member("default_merge_style", "merge");
    writer.member("default_allow_maintainer_edit", false);
    writer.member("avatar_url", "");
    writer.member("internal", false);
    writer.member("mirror_interval", "");
    writer.member("object_format_name", "sha1");
    writer.member("mirror_updated", zero_time);
    writer.member("repo_transfer", nullptr);
    for (const std::string_view word : {"topics", "licenses"}) {
      writer.array(word, [] {});
    }
  });
}

void Shape::commit(const Repository& repository, const git::Commit& commit) const {
  const std::string url = fmt::format("{}/git/commits/{}", api(repository), commit.oid);
  writer.object([&] {
    writer.member("url", url);
    writer.member("sha", commit.oid);
    writer.member("created", time_of(commit.committer));
    writer.member("html_url", fmt::format("{}/{}/commit/{}", base, repository.full_name(), commit.oid));
    writer.object("commit", [&] {
      writer.member("url", url);
      write_person(writer, "author", commit.author);
      write_person(writer, "committer", commit.committer);
      writer.member("message", commit.message);
      writer.object("tree", [&] {
        writer.member("url", fmt::format("{}/git/trees/{}", api(repository), commit.tree));
        writer.member("sha", commit.tree);
        writer.member("created", time_of(commit.committer));
      });
      writer.member("verification", nullptr);
    });
    writer.member("author", nullptr);
    writer.member("committer", nullptr);
    writer.array("parents", [&] {
      for (const git::Oid& parent : commit.parents)
        writer.object([&] {
          writer.member("url", fmt::format("{}/git/commits/{}", api(repository), parent));
          writer.member("sha", parent);
          writer.member("created", zero_time);
        });
    });
  });
}

void Shape::branch(const Repository& repository, std::string_view name, const git::Commit& commit) const {
  writer.object([&] {
    writer.member("name", name);
    writer.object("commit", [&] {
      writer.member("id", commit.oid);
      writer.member("message", commit.message);
      writer.member("url", fmt::format("{}/{}/commit/{}", base, repository.full_name(), commit.oid));
      write_person(writer, "author", commit.author);
      write_person(writer, "committer", commit.committer);
      writer.member("verification", nullptr);
      writer.member("timestamp", time_of(commit.committer));
      writer.member("added", nullptr);
      writer.member("removed", nullptr);
      writer.member("modified", nullptr);
    });
    writer.member("protected", false);
    writer.member("required_approvals", 0);
    writer.member("enable_status_check", false);
    writer.array("status_check_contexts", [] {});
    const bool push = judge(viewer, &repository, Action::write) == Verdict::allowed;
    writer.member("user_can_push", push);
    writer.member("user_can_merge", push);
    writer.member("effective_branch_protection_name", "");
  });
}

void Shape::tag(const Repository& repository, const git::Ref& ref, const git::Commit& commit) const {
  writer.object([&] {
    writer.member("name", std::string_view(ref.name).substr(std::string_view("refs/tags/").size()));
    writer.member("message", commit.message);
    writer.member("id", ref.oid);
    writer.object("commit", [&] {
      writer.member("url", fmt::format("{}/git/commits/{}", api(repository), commit.oid));
      writer.member("sha", commit.oid);
      writer.member("created", time_of(commit.committer));
    });
    writer.member("zipball_url", "");
    writer.member("tarball_url", "");
  });
}

void Shape::entry(const Repository& repository, const git::Entry& entry, std::string_view revision,
                  std::string_view last_commit, const std::string* content) const {
  const std::string path = escaped(entry.path);
  const std::string ref = percent_encode(revision);
  const std::string self = fmt::format("{}/contents/{}?ref={}", api(repository), path, ref);
  const bool folder = entry.kind == git::EntryKind::folder;
  const std::string kind = folder ? "trees" : "blobs";
  const std::string git_url = fmt::format("{}/git/{}/{}", api(repository), kind, entry.oid);
  const std::string html =
      fmt::format("{}/{}/{}/{}/{}", base, repository.full_name(), folder ? "tree" : "blob", ref, path);
  writer.object([&] {
    writer.member("name", git::file_name(entry.path));
    writer.member("path", entry.path);
    writer.member("sha", entry.oid);
    writer.member("last_commit_sha", last_commit);
    writer.member("type", type_of(entry.kind));
    writer.member("size", entry.size);
    writer.key("encoding");
    content != nullptr ? writer.value("base64") : writer.value(nullptr);
    writer.key("content");
    content != nullptr ? writer.value(std::string_view(*content)) : writer.value(nullptr);
    writer.member("target", nullptr);
    writer.member("url", self);
    writer.member("html_url", html);
    writer.member("git_url", git_url);
    writer.key("download_url");
    folder ? writer.value(nullptr)
           : writer.value(std::string_view(fmt::format("{}/raw/{}?ref={}", api(repository), path, ref)));
    writer.member("submodule_git_url", nullptr);
    writer.object("_links", [&] {
      writer.member("self", self);
      writer.member("git", git_url);
      writer.member("html", html);
    });
    if (entry.lfs) {
      writer.member("lfs_oid", entry.lfs->oid);
      writer.member("lfs_size", entry.lfs->size);
    }
  });
}

void Shape::blob(const Repository& repository, std::string_view oid, std::string_view bytes) const {
  writer.object([&] {
    writer.member("content", base64::encode(bytes));
    writer.member("encoding", "base64");
    writer.member("url", fmt::format("{}/git/blobs/{}", api(repository), oid));
    writer.member("sha", oid);
    writer.member("size", static_cast<std::uint64_t>(bytes.size()));
  });
}

void Shape::tree_entry(const Repository& repository, const git::Entry& entry) const {
  const bool folder = entry.kind == git::EntryKind::folder;
  const std::string_view type = folder ? "tree" : entry.kind == git::EntryKind::submodule ? "commit" : "blob";
  writer.object([&] {
    writer.member("path", entry.path);
    writer.member("mode", mode_of(entry.kind));
    writer.member("type", type);
    writer.member("size", entry.size);
    writer.member("sha", entry.oid);
    writer.member("url", fmt::format("{}/git/{}/{}", api(repository), folder ? "trees" : "blobs", entry.oid));
  });
}

}  // namespace stackgate::datastore::gitea
