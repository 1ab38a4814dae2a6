// Small text files of a commit.
#pragma once
#include <optional>
#include <string>

#include "services/datastore/git/objects.hpp"

namespace stackgate::datastore::hub {

/// Nothing when there is no such file, or it has more than 1 MiB.
inline std::optional<std::string> text_at(git::Repository& git, const git::Oid& commit, std::string_view path) {
  if (commit.empty()) return {};
  const auto entry = git.entry(commit, path);
  if (!entry || (entry->kind != git::EntryKind::file && entry->kind != git::EntryKind::executable)) return {};
  auto text = git.blob(entry->oid, 1024 * 1024);
  if (!text) return {};
  return std::move(*text);
}

}  // namespace stackgate::datastore::hub
