// What to do about YAML or JSON that cannot be read, in words of manifests: the reader's own name what it stumbled
// over, which is often lines behind the slip.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace stackgate {

/// `problem`: the reader's; `offset`: where in `text` it gave up. Never empty. Mentions, too, when documents behind the
/// fault went unread.
std::string syntax_cure(std::string_view problem, std::string_view text, std::size_t offset);

}  // namespace stackgate
