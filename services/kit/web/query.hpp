// Pairs of a query string or an application/x-www-form-urlencoded body (WHATWG URL, 5.1). Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stackgate::web {

/// %XX decoded; '+' stays '+'. Nothing when an escape is broken or gives NUL.
std::optional<std::string> percent_decode(std::string_view text);

class Query {
 public:
  Query() = default;
  /// '+' is a space. Broken escapes are kept as they stand. At most 1,000 pairs are read.
  static Query parse(std::string_view text);

  /// The first of that name.
  std::optional<std::string_view> get(std::string_view name) const;
  std::vector<std::string_view> all(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& pairs() const { return pairs_; }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace stackgate::web
