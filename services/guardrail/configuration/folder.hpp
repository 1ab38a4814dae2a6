// Which file of a configuration is what. Pure.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "services/guardrail/configuration/configuration.hpp"

namespace stackgate::guardrail {

enum class FileKind : std::uint8_t {
  yaml,       // *.yml, *.yaml, in any folder but that of the knowledge base
  colang,     // *.co
  python,     // actions.py, config.py, *.py of the folder actions/
  knowledge,  // *.md of kb/
  ignore,     // .railsignore
  other,
};
/// `folder` is that of the knowledge base.
FileKind kind_of(std::string_view name, std::string_view folder = "kb");

/// Patterns of .railsignore, a line each: names or paths with *, ? and [a-z]; lines with # and empty ones say nothing.
class IgnoredFiles {
 public:
  explicit IgnoredFiles(std::string_view text);
  bool contains(std::string_view name) const;

 private:
  std::vector<std::string> patterns_;
};

/// Whether a shell's pattern fits all of a text.
bool fits(std::string_view pattern, std::string_view text);

}  // namespace stackgate::guardrail
