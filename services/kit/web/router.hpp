// The routing table compiled, and a path matched against it. Pure: README.md of this folder has the rules.
#pragma once
#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/base/error.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::web {

inline constexpr std::size_t max_parameters = 8;

/// What a path's parameters are, still escaped; views into the path and the pattern.
struct Parameters {
  struct Pair {
    std::string_view name, raw;
  };
  std::array<Pair, max_parameters> pairs{};
  std::size_t count = 0;
  std::span<const Pair> all() const { return {pairs.data(), count}; }
};

struct Match {
  const Route* route = nullptr;  // null: see below
  std::size_t index = 0;         // of the route in the table
  Parameters parameters{};
  /// No route: the methods that the path knows ("GET, HEAD, OPTIONS"; 405, or 204 for OPTIONS), empty for 404.
  std::string allowed{};
  /// No route: the dialect of the answer: the nearest neighbour's.
  Dialect dialect = Dialect::plain;
};

/// Immutable after compile(); thread-safe.
class Router {
 public:
  /// The error names the pattern and what is wrong with it: malformed, too many parameters, a name twice, or the same
  /// method and shape as another route.
  static std::expected<Router, Error> compile(std::vector<Route> routes);
  ~Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;

  /// `path`: raw, as it stands in the request line.
  Match match(std::string_view method, std::string_view path) const;
  std::span<const Route> routes() const;

 private:
  struct Table;
  explicit Router(std::unique_ptr<Table> table);
  std::unique_ptr<Table> table_;
};

// --- A route's pattern as segments (pattern.cpp) ---

struct Segment {
  enum class Kind : std::uint8_t { literal, parameter, rest };
  Kind kind = Kind::literal;
  std::string_view text;   // the literal, or the parameter's name
  std::string_view end{};  // of a parameter: what stands behind it in the segment
};

/// Views into `pattern`. The error does not name the pattern.
std::expected<std::vector<Segment>, Error> parse_pattern(std::string_view pattern);

}  // namespace stackgate::web
