// Which modules a configuration means: lists of names, and regular expressions as PEFT matches them. Pure.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/schema/pattern.hpp"

namespace stackgate::peft {

/// `target_modules` of adapter_config.json. A name means every module that is called so or ends in ".<name>"; an
/// expression must match the whole path (PEFT, check_target_module_exists).
class Targets {
 public:
  static Targets list(std::vector<std::string> names);
  /// Python's syntax is read as RE2's; the error is for what RE2 does not have (look-ahead, back-references).
  static std::expected<Targets, std::string> expression(std::string_view text);
  static Targets all_linear() { return {}; }

  bool contains(std::string_view module) const;
  const std::vector<std::string>& names() const { return names_; }  // empty for expressions
  bool is_list() const { return is_list_; }

 private:
  std::vector<std::string> names_;
  bool is_list_ = false;
  std::shared_ptr<const validate::schema::Pattern> pattern_;  // neither list nor pattern: everything
};

/// A key of `rank_pattern` or `alpha_pattern`: a name, or an expression for the end of a module's path (PEFT,
/// get_pattern_key: `(.*\.)?(key)$`). Of several that match the first in the document counts.
class ModuleKey {
 public:
  /// The error is for what RE2 does not have.
  static std::expected<ModuleKey, std::string> read(std::string_view key);
  bool matches(std::string_view module) const;

 private:
  std::string name_;  // plain keys are compared as text
  std::shared_ptr<const validate::schema::Pattern> pattern_;
};

/// Expressions among the keys of one pattern; there is no limit for names. A stranger writes them, and each may cost
/// 30 ms and 2 MB when it is read: count them by is_expression() before.
inline constexpr std::size_t most_expressions = 64;
bool is_expression(std::string_view key);

/// `rank_pattern`: the first key that matches says a module's rank.
class RankPattern {
 public:
  /// The error: what ModuleKey cannot read, or one expression more than most_expressions.
  std::expected<void, std::string> add(std::string_view key, std::int64_t rank);
  std::optional<std::int64_t> rank_of(std::string_view module) const;
  std::int64_t largest() const;

 private:
  std::vector<std::pair<ModuleKey, std::int64_t>> items_;
  std::size_t expressions_ = 0;
};

/// The last part of a module's path: "q_proj".
std::string_view suffix_of(std::string_view module);
/// Whether `module` is `name` or ends in ".<name>".
bool is_called(std::string_view module, std::string_view name);
/// The number after "layers." (or "h.", "blocks."); nothing for a module that lies in no layer.
std::optional<std::uint64_t> layer_of(std::string_view module);

}  // namespace stackgate::peft
