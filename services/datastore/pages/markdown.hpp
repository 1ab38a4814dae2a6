// README files as HTML (CommonMark with GitHub's tables, task lists, strikethrough and bare links). Pure; libcmark-gfm
// stays behind markdown.cpp.
//
// Nothing that the author wrote becomes markup: raw HTML is left out, links go to http, https, mailto or a file of the
// repository, pictures come from the repository only (a remote one becomes a link).
#pragma once
#include <cstddef>
#include <functional>
#include <string_view>

#include "services/kit/html/html.hpp"

namespace stackgate::datastore::pages {

/// Larger documents are shown as they are written.
inline constexpr std::size_t largest_markdown = 128 * 1024;

struct MarkdownLinks {
  /// The page of a file, and its bytes, for a path in the repository that is normal already.
  std::function<html::Link(std::string_view path)> page, bytes;
};

/// "---" … "---" at the beginning, as cards of models and datasets have it; `text` becomes what follows.
std::string_view take_front_matter(std::string_view& text);

/// `document`: its own path, which relative links begin from. Nothing for what is larger than largest_markdown or
/// nested so deep that rendering it would take long.
bool render_markdown(std::string_view text, std::string_view document, const MarkdownLinks& links, html::Html& out);

}  // namespace stackgate::datastore::pages
