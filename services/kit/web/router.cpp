#include "services/kit/web/router.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "services/kit/http/text.hpp"

namespace stackgate::web {
namespace router_detail {

// One place in the tree of segments. Every edge takes exactly one segment of the path (or all that are left), so a
// search visits each node at most once, whatever the path is.
struct Node {
  std::vector<std::pair<std::string_view, std::unique_ptr<Node>>> literals;  // sorted
  std::vector<std::pair<std::string_view, std::unique_ptr<Node>>> ends;      // "{name}.git"; longest first
  std::unique_ptr<Node> parameter, rest;
  std::vector<std::size_t> routes;  // that end here, one for each method
};

Node& child(std::vector<std::pair<std::string_view, std::unique_ptr<Node>>>& edges, std::string_view text) {
  for (auto& [known, node] : edges) {
    if (known == text) return *node;
  }
  return *edges.emplace_back(text, std::make_unique<Node>()).second;
}

Node& child(std::unique_ptr<Node>& edge) {
  if (!edge) edge = std::make_unique<Node>();
  return *edge;
}

Node& child(Node& node, const Segment& segment) {
  if (segment.kind == Segment::Kind::literal) return child(node.literals, segment.text);
  if (segment.kind == Segment::Kind::rest) return child(node.rest);
  return segment.end.empty() ? child(node.parameter) : child(node.ends, segment.end);
}

void put_in_order(Node& node) {
  std::ranges::sort(node.literals, {}, [](const auto& edge) { return edge.first; });
  std::ranges::stable_sort(node.ends, std::ranges::greater(), [](const auto& edge) { return edge.first.size(); });
  for (auto* edges : {&node.literals, &node.ends}) {
    for (auto& edge : *edges) put_in_order(*edge.second);
  }
  if (node.parameter) put_in_order(*node.parameter);
}

// What a pattern begins with before its first parameter, up to the last slash: "/v1/hf/".
std::string_view fixed_beginning(std::string_view pattern) {
  pattern = pattern.substr(0, pattern.find('{'));
  return pattern.substr(0, pattern.rfind('/') + 1);
}

}  // namespace router_detail

struct Router::Table {
  struct Entry {
    std::vector<std::string_view> names;  // of parameters, in order
    std::string_view beginning;
  };
  std::vector<Route> routes;
  std::vector<Entry> entries;
  router_detail::Node root;

  std::optional<Error> add(std::size_t index);
  Dialect nearest_dialect(std::string_view path) const;
};

namespace router_detail {

// Depth first in order of precedence.
struct Search {
  std::span<const Route> routes;
  std::string_view method;
  std::array<std::string_view, max_parameters> raw{};
  std::size_t count = 0;
  std::optional<std::size_t> found{};
  std::vector<std::size_t> other{};  // routes of the same path under other methods

  bool serves(const Route& route) const {
    return route.method == method || (method == "HEAD" && route.method == "GET");
  }

  bool end_at(const Node& node) {
    for (const std::size_t index : node.routes) {  // HEAD's own handler before GET's
      if (serves(routes[index]) && (!found || routes[index].method == method)) found = index;
    }
    if (!found) other.insert(other.end(), node.routes.begin(), node.routes.end());
    return found.has_value();
  }

  bool with_parameter(const Node& node, std::string_view value, std::optional<std::string_view> rest) {
    raw[count++] = value;
    if (rest ? enter(node, *rest) : end_at(node)) return true;
    --count;
    return false;
  }

  // `path`: what is left behind a slash.
  bool enter(const Node& node, std::string_view path) {
    const auto slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    const bool last = slash == std::string_view::npos;
    const auto rest = last ? std::nullopt : std::optional(path.substr(slash + 1));

    const auto literal =
        std::ranges::lower_bound(node.literals, segment, {}, [](const auto& edge) { return edge.first; });
    if (literal != node.literals.end() && literal->first == segment &&
        (rest ? enter(*literal->second, *rest) : end_at(*literal->second)))
      return true;
    for (const auto& [end, next] : node.ends) {
      if (segment.size() > end.size() && segment.ends_with(end) &&
          with_parameter(*next, segment.substr(0, segment.size() - end.size()), rest))
        return true;
    }
    if (node.parameter && !segment.empty() && with_parameter(*node.parameter, segment, rest)) return true;
    return node.rest && with_parameter(*node.rest, path, std::nullopt);
  }
};

std::string methods_of(std::span<const Route> routes, std::span<const std::size_t> indices) {
  std::vector<std::string_view> methods;
  for (const std::size_t index : indices) {
    methods.push_back(routes[index].method);
    if (routes[index].method == "GET") methods.emplace_back("HEAD");
  }
  methods.emplace_back("OPTIONS");
  std::ranges::sort(methods);
  const auto twice = std::ranges::unique(methods);
  methods.erase(twice.begin(), twice.end());
  return fmt::format("{}", fmt::join(methods, ", "));
}

}  // namespace router_detail

std::optional<Error> Router::Table::add(std::size_t index) {
  const Route& route = routes[index];
  const auto wrong = [&route](std::string_view reason) {
    return Error{fmt::format("route {} {}: {}", route.method, route.pattern, reason)};
  };
  if (route.method.empty() ||
      !std::ranges::all_of(route.method, [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; }))
    return wrong("a method is written in capital letters");
  if (!route.handler) return wrong("it has no handler");
  const auto segments = parse_pattern(route.pattern);
  if (!segments) return wrong(segments.error().message);
  router_detail::Node* node = &root;
  for (const Segment& segment : *segments) {
    if (segment.kind != Segment::Kind::literal) entries[index].names.push_back(segment.text);
    node = &router_detail::child(*node, segment);
  }
  entries[index].beginning = router_detail::fixed_beginning(route.pattern);
  for (const std::size_t other : node->routes) {
    if (routes[other].method == route.method)
      return wrong(fmt::format("{} takes the same paths", routes[other].pattern));
  }
  node->routes.push_back(index);
  return {};
}

Dialect Router::Table::nearest_dialect(std::string_view path) const {
  std::size_t longest = 1;  // "/" is too short
  Dialect dialect = Dialect::plain;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const std::string_view beginning = entries[i].beginning;
    if (routes[i].options.quiet || beginning.size() <= longest || !path.starts_with(beginning)) continue;
    longest = beginning.size();
    dialect = routes[i].options.dialect;
  }
  return dialect;
}

std::expected<Router, Error> Router::compile(std::vector<Route> routes) {
  auto table = std::make_unique<Table>();
  table->routes = std::move(routes);
  table->entries.resize(table->routes.size());
  for (std::size_t i = 0; i < table->routes.size(); ++i) {
    if (auto error = table->add(i)) return std::unexpected(std::move(*error));
  }
  router_detail::put_in_order(table->root);
  return Router(std::move(table));
}

Router::Router(std::unique_ptr<Table> table) : table_(std::move(table)) {}
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;
Router::~Router() = default;

std::span<const Route> Router::routes() const { return table_->routes; }

Match Router::match(std::string_view method, std::string_view path) const {
  Match match;
  router_detail::Search search{table_->routes, method};
  if (path.starts_with('/')) search.enter(table_->root, path.substr(1));
  if (!search.found) {
    if (search.other.empty()) {
      match.dialect = table_->nearest_dialect(path);
    } else {
      match.allowed = router_detail::methods_of(table_->routes, search.other);
      match.dialect = table_->routes[search.other.front()].options.dialect;
    }
    return match;
  }
  match.index = *search.found;
  match.route = &table_->routes[match.index];
  match.dialect = match.route->options.dialect;
  const auto& names = table_->entries[match.index].names;
  for (std::size_t i = 0; i < names.size(); ++i) match.parameters.pairs[i] = {names[i], search.raw[i]};
  match.parameters.count = names.size();
  return match;
}

}  // namespace stackgate::web
