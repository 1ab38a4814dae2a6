// "Did you mean …": the known word that a misspelt one may stand for.
#pragma once
#include <span>
#include <string_view>

namespace stackgate::validate {

/// The known word nearest to `word` by edit distance, or empty when none is near: for "did you mean".
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// The known field that `word` may stand for: the nearest, or else the only one that contains it or that it contains
/// ("accessMode" for volumeAccessMode).
std::string_view similar_field(std::string_view word, std::span<const std::string_view> known);

}  // namespace stackgate::validate
