// Texts in HTML.
#pragma once
#include <string>
#include <string_view>

namespace stackgate {

/// & < > " ' escaped; for texts and quoted attributes. `quote` stands for ", which has two spellings.
std::string escape_html(std::string_view text, std::string_view quote = "&quot;");

}  // namespace stackgate
