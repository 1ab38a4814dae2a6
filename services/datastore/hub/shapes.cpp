#include "services/datastore/hub/shapes.hpp"

#include <chrono>

#include <fmt/format.h>

#include "services/kit/base/time.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::datastore::hub {

namespace {

/// Ids of the hub are 24 hex digits.
std::string hub_id(std::int64_t id) { return fmt::format("{:024x}", id); }

std::string_view rest_of(std::string_view message) {
  const auto line = message.find('\n');
  if (line == std::string_view::npos) return {};
  message.remove_prefix(line);
  message.remove_prefix(std::min(message.find_first_not_of('\n'), message.size()));
  return message;
}

}  // namespace

std::string plural(RepositoryType type) { return std::string(to_word(type)) + "s"; }

std::string prefix(RepositoryType type) { return type == RepositoryType::model ? "" : plural(type) + "/"; }

std::string format_date(std::int64_t seconds) {
  std::string text = to_rfc3339(std::chrono::sys_seconds(std::chrono::seconds(seconds)));
  return text.insert(text.size() - 1, ".000");
}

std::string format_date(std::string_view time) {
  if (!time.ends_with('Z') || time.contains('.')) return std::string(time);
  time.remove_suffix(1);
  return std::string(time) + ".000Z";
}

std::string whoami(const Account& account, Scope scope, const std::vector<Account>& organizations) {
  return json::object_text([&](json::Writer& w) {
    w.member("type", "user");
    w.member("id", hub_id(account.id));
    w.member("name", account.name);
    w.member("fullname", account.full_name.empty() ? account.name : account.full_name);
    w.member("email", account.email);
    w.member("emailVerified", true);
    w.member("canPay", false);
    w.member("isPro", false);
    w.member("periodEnd", nullptr);
    w.member("avatarUrl", "");
    w.array("orgs", [&] {
      for (const Account& organization : organizations)
        w.object([&] {
          w.member("type", "org");
          w.member("id", hub_id(organization.id));
          w.member("name", organization.name);
          w.member("fullname", organization.full_name.empty() ? organization.name : organization.full_name);
          w.member("email", nullptr);
          w.member("canPay", false);
          w.member("periodEnd", nullptr);
          w.member("avatarUrl", "");
          w.member("roleInOrg", "admin");
        });
    });
    w.object("auth", [&] {
      w.member("type", "access_token");
      w.object("accessToken", [&] {
        w.member("displayName", "stackgate");
        w.member("role", scope == Scope::write ? "write" : "read");
        w.member("createdAt", format_date(account.created_at));
      });
    });
  });
}

void write_entry(json::Writer& w, const git::Entry& entry, const LastCommit* last) {
  const bool folder = entry.kind == git::EntryKind::folder || entry.kind == git::EntryKind::submodule;
  w.object([&] {
    w.member("type", folder ? "directory" : "file");
    w.member("oid", entry.oid);
    w.member("size", entry.lfs ? entry.lfs->size : entry.size);
    w.member("path", entry.path);
    if (entry.lfs) {
      w.object("lfs", [&] {
        w.member("oid", entry.lfs->oid);
        w.member("size", entry.lfs->size);
        w.member("pointerSize", entry.lfs->pointer_size);
      });
    }
    if (last == nullptr) return;
    w.object("lastCommit", [&] {
      w.member("id", last->id);
      w.member("title", last->title);
      w.member("date", format_date(last->seconds));
    });
  });
}

void write_info(json::Writer& w, const Info& info) {
  const Repository& repository = info.repository;
  w.object([&] {
    w.member("_id", hub_id(repository.id));
    w.member("id", repository.full_name());
    if (info.type == RepositoryType::model) w.member("modelId", repository.full_name());
    w.member("author", repository.owner);
    if (info.sha.empty()) {
      w.member("sha", nullptr);
      w.member("lastModified", format_date(repository.updated_at));
    } else {
      w.member("sha", info.sha);
      w.member("lastModified", format_date(info.modified));
    }
    w.member("createdAt", format_date(repository.created_at));
    w.member("private", repository.is_private);
    w.member("disabled", false);
    w.member("gated", false);
    w.member("downloads", 0);
    w.member("likes", 0);
    if (!repository.description.empty()) w.member("description", repository.description);
    w.array("tags", [&] {
      if (info.tags == nullptr) return;
      for (const std::string& tag : *info.tags) w.value(std::string_view(tag));
    });
    if (info.siblings == nullptr) return;
    w.array("siblings", [&] {
      for (const git::Entry& entry : *info.siblings) {
        if (entry.kind == git::EntryKind::folder || entry.kind == git::EntryKind::submodule) continue;
        w.object([&] {
          w.member("rfilename", entry.path);
          if (!info.blobs) return;
          w.member("size", entry.lfs ? entry.lfs->size : entry.size);
          w.member("blobId", entry.oid);
          if (!entry.lfs) return;
          w.object("lfs", [&] {
            w.member("sha256", entry.lfs->oid);
            w.member("size", entry.lfs->size);
            w.member("pointerSize", entry.lfs->pointer_size);
          });
        });
      }
    });
  });
}

void write_commit(json::Writer& w, const git::Commit& commit) {
  w.object([&] {
    w.member("id", commit.oid);
    w.member("title", commit.title());
    w.member("message", rest_of(commit.message));
    w.array("authors", [&] {
      w.object([&] {
        w.member("user", commit.author.name);
        w.member("avatar", "");
      });
    });
    w.member("date", format_date(commit.committer.seconds));
  });
}

std::string refs(std::span<const git::Ref> all, bool with_pull_requests) {
  constexpr std::string_view heads = "refs/heads/", tags = "refs/tags/";
  std::string out;
  json::Writer w(out);
  const auto write = [&](std::string_view key, std::string_view kind) {
    w.array(key, [&] {
      for (const git::Ref& ref : all) {
        if (!ref.name.starts_with(kind)) continue;
        w.object([&] {
          w.member("name", std::string_view(ref.name).substr(kind.size()));
          w.member("ref", ref.name);
          w.member("targetCommit", ref.peeled.empty() ? ref.oid : ref.peeled);
        });
      }
    });
  };
  w.object([&] {
    write("branches", heads);
    w.array("converts", [] {});
    write("tags", tags);
    if (with_pull_requests) {
      w.array("pullRequests", [] {});
    }
  });
  return out;
}

std::string committed(const Committed& commit) {
  return json::object_text([&](json::Writer& w) {
    w.member("success", true);
    w.member("commitOid", commit.oid);
    w.member("commitUrl", commit.url);
    w.member("hookOutput", "");
  });
}

std::string created(std::string_view url, std::string_view id, std::string_view error) {
  return json::object_text([&](json::Writer& w) {
    if (!error.empty()) w.member("error", error);
    w.member("url", url);
    w.member("id", id);
    w.member("name", id);
  });
}

}  // namespace stackgate::datastore::hub
