// A fast reader for the YAML that manifests are written in: block mappings and lists, scalars on one line, block
// scalars, flow collections on one line, comments. It never reports a fault: whatever it does not know for certain, a
// fault included, it leaves to libyaml.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "services/kit/json/document.hpp"

namespace stackgate::yaml {

/// Reads the one document that stands in [begin, end) of `whole`: from behind a `---` to before the next one, or to
/// the end of the stream. Offsets count from the beginning of `whole`. False when libyaml has to read it; `document`
/// then holds nothing. The root is null when the document is empty.
bool read_plain(std::string_view whole, std::size_t begin, std::size_t end, std::uint32_t max_depth,
                json::Document& document);

}  // namespace stackgate::yaml
