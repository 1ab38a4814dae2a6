#include "services/kit/peft/modules.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::peft {
namespace modules_detail {

constexpr std::size_t longest_expression = 2048;

std::expected<std::shared_ptr<const validate::schema::Pattern>, std::string> compile(std::string_view text,
                                                                                     std::string_view before) {
  if (text.size() > longest_expression)
    return std::unexpected(fmt::format("has {} bytes; the most is {}", text.size(), longest_expression));
  std::string error;
  auto pattern = validate::schema::Pattern::compile(fmt::format("^{}(?:{})$", before, text), error);
  if (!pattern) return std::unexpected(error);
  return pattern;
}

}  // namespace modules_detail

Targets Targets::list(std::vector<std::string> names) {
  Targets out;
  out.names_ = std::move(names);
  out.is_list_ = true;
  return out;
}

std::expected<Targets, std::string> Targets::expression(std::string_view text) {
  auto pattern = TRY(modules_detail::compile(text, ""));
  Targets out;
  out.pattern_ = std::move(pattern);
  return out;
}

bool Targets::contains(std::string_view module) const {
  if (is_list_) return std::ranges::any_of(names_, [&](const auto& name) { return is_called(module, name); });
  return !pattern_ || pattern_->matches(module);
}

bool is_expression(std::string_view key) { return key.find_first_of("^$*+?()[]{}|\\") != std::string_view::npos; }

std::expected<ModuleKey, std::string> ModuleKey::read(std::string_view key) {
  ModuleKey out;
  out.name_ = key;
  if (is_expression(key)) out.pattern_ = TRY(modules_detail::compile(key, "(?:.*\\.)?"));
  return out;
}

bool ModuleKey::matches(std::string_view module) const {
  return pattern_ ? pattern_->matches(module) : is_called(module, name_);
}

std::expected<void, std::string> RankPattern::add(std::string_view key, std::int64_t rank) {
  if (is_expression(key) && ++expressions_ > most_expressions)
    return std::unexpected(fmt::format("there are more than {} expressions", most_expressions));
  auto read = TRY(ModuleKey::read(key));
  items_.emplace_back(std::move(read), rank);
  return {};
}

std::optional<std::int64_t> RankPattern::rank_of(std::string_view module) const {
  for (const auto& [key, rank] : items_)
    if (key.matches(module)) return rank;
  return std::nullopt;
}

std::int64_t RankPattern::largest() const {
  std::int64_t most = 0;
  for (const auto& [key, rank] : items_) most = std::max(most, rank);
  return most;
}

std::string_view suffix_of(std::string_view module) {
  const auto dot = module.rfind('.');
  return dot == std::string_view::npos ? module : module.substr(dot + 1);
}

bool is_called(std::string_view module, std::string_view name) {
  return module.ends_with(name) && (module.size() == name.size() || module[module.size() - name.size() - 1] == '.');
}

std::optional<std::uint64_t> layer_of(std::string_view module) {
  for (const std::string_view word : {"layers.", "h.", "blocks.", "layer."}) {
    for (auto at = module.find(word); at != std::string_view::npos; at = module.find(word, at + 1)) {
      if (at > 0 && module[at - 1] != '.') continue;
      const std::string_view rest = module.substr(at + word.size());
      if (const auto number = to_number<std::uint64_t>(rest.substr(0, rest.find('.')))) return number;
    }
  }
  return std::nullopt;
}

}  // namespace stackgate::peft
