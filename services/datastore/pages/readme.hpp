// Rendered Markdown: the README of a folder, or a file that is opened.
#pragma once
#include <vector>

#include "services/datastore/pages/place.hpp"

namespace stackgate::datastore::pages {

/// The README among a folder's entries, in a box of its own; nothing when there is none.
Html readme_of(const Visit& visit, const Place& place, const std::vector<git::Entry>& entries);
/// A document at a path; as plain text where it is too large or too strange to render.
Html rendered_document(const Place& place, std::string_view path, std::string_view text);

}  // namespace stackgate::datastore::pages
