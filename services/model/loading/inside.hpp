// Files of a directory whose links may lead anywhere. The findings' path is the file's name.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "services/kit/files/mapped_file.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::model {

/// Where `name` of `directory` lies without links, when that is inside of it. The finding: it leads out of it, or it is
/// not there.
std::expected<std::string, validate::Finding> place_inside(const std::string& directory, std::string_view name);

/// The text of a file of at most `most` bytes.
std::expected<std::string, validate::Finding> read_inside(const std::string& directory, std::string_view name,
                                                          std::uint64_t most);

/// The file, mapped.
std::expected<files::MappedFile, validate::Finding> map_inside(const std::string& directory, std::string_view name);

}  // namespace stackgate::model
