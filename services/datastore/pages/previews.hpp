// What is in a file, shown as fits it: rows, tensors, a picture, a document, lines of text; and the README of a folder.
#pragma once
#include <vector>

#include "services/datastore/pages/content.hpp"
#include "services/datastore/pages/place.hpp"

namespace stackgate::datastore::pages {

/// `plain`: as text even where there is a better way.
html::Html preview_of(const Visit& visit, const Place& place, const git::Entry& entry, bool plain);
/// Whether preview_of() has another way than lines of text for a file of this name.
bool has_rich_preview(std::string_view path);

/// previews_safetensors.cpp: from the file's header alone.
html::Html safetensors_preview(const Visit& visit, const Place& place, const git::Entry& entry);

/// The README among a folder's entries, in a box of its own; nothing when there is none.
html::Html readme_of(const Visit& visit, const Place& place, const std::vector<git::Entry>& entries);
/// A document at a path; as plain text where it is too large or too strange to render.
html::Html rendered_document(const Place& place, std::string_view path, std::string_view text);

}  // namespace stackgate::datastore::pages
