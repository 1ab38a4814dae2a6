// Patterns as tokenizer.json has them (Oniguruma, Ruby's syntax: https://github.com/kkos/oniguruma/blob/master/doc/RE)
// written for PCRE2.
#pragma once
#include <expected>
#include <string>
#include <string_view>

namespace stackgate::tokenizer {

/// The same pattern for PCRE2 with UTF and UCP. `\s`, `\w` and `\h` and their complements become the sets that
/// Oniguruma means, in classes too; `x{1,3}+` becomes `(?:x{1,3})+`. The error is a sentence: what PCRE2 reads
/// differently or what a tokenizer has no use for (set operations in classes, flags but i, groups with names,
/// recursion, verbs).
std::expected<std::string, std::string> to_pcre(std::string_view pattern);

}  // namespace stackgate::tokenizer
