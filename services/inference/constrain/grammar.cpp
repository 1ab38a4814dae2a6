#include "services/inference/constrain/grammar.hpp"

#include <algorithm>

namespace stackgate::inference {

NodeId GrammarBuilder::node() {
  out_.edges.emplace_back();
  return static_cast<NodeId>(out_.edges.size() - 1);
}

RuleId GrammarBuilder::rule() {
  const NodeId start = node(), end = node();
  out_.rules.push_back({start, end});
  return static_cast<RuleId>(out_.rules.size() - 1);
}

void GrammarBuilder::bytes(NodeId from, unsigned low, unsigned high, NodeId to) {
  out_.edges[from].push_back({.kind = Edge::Kind::bytes,
                              .low = static_cast<std::uint8_t>(low),
                              .high = static_cast<std::uint8_t>(high),
                              .to = to});
}

NodeId GrammarBuilder::byte(NodeId from, char c) {
  const NodeId to = node();
  bytes(from, static_cast<unsigned char>(c), static_cast<unsigned char>(c), to);
  return to;
}

void GrammarBuilder::free(NodeId from, NodeId to) { out_.edges[from].push_back({.to = to}); }

void GrammarBuilder::call(NodeId from, RuleId rule, NodeId to) {
  out_.edges[from].push_back({.kind = Edge::Kind::call, .rule = rule, .to = to});
}

NodeId GrammarBuilder::call(NodeId from, RuleId rule) {
  const NodeId to = node();
  call(from, rule, to);
  return to;
}

NodeId GrammarBuilder::literal(NodeId from, std::string_view text) {
  for (const char c : text) from = byte(from, c);
  return from;
}

namespace {

/// Which nodes look at what is known of a node.
std::vector<std::vector<NodeId>> observers(const Grammar& grammar) {
  std::vector<std::vector<NodeId>> out(grammar.edges.size());
  for (NodeId node = 0; node < grammar.edges.size(); ++node)
    for (const Edge& edge : grammar.edges[node]) {
      out[edge.to].push_back(node);
      if (edge.kind == Edge::Kind::call) out[grammar.rules[edge.rule].start].push_back(node);
    }
  return out;
}

std::uint32_t need_of(const Grammar& grammar, NodeId node) {
  std::uint32_t least = endless;
  for (const Edge& edge : grammar.edges[node]) {
    std::uint32_t need = grammar.need[edge.to];
    if (edge.kind == Edge::Kind::call) need = std::max(need, grammar.need[grammar.rules[edge.rule].start] + 1);
    least = std::min(least, need);
  }
  return least > deepest_call ? endless : least;
}

/// White space is the only rule that may be nothing, and says so by a direct edge.
bool may_be_nothing(const Grammar& grammar, RuleId rule) {
  const Rule& of = grammar.rules[rule];
  return std::ranges::any_of(grammar.edges[of.start],
                             [&of](const Edge& edge) { return edge.kind == Edge::Kind::free && edge.to == of.end; });
}

/// Where an edge leads without a byte being read.
void add_unread(const Grammar& grammar, const Edge& edge, std::vector<NodeId>& out) {
  if (edge.kind == Edge::Kind::bytes) return;
  if (edge.kind == Edge::Kind::call) out.push_back(grammar.rules[edge.rule].start);
  if (edge.kind == Edge::Kind::free || may_be_nothing(grammar, edge.rule)) out.push_back(edge.to);
}

}  // namespace

void measure(Grammar& grammar) {
  grammar.need.assign(grammar.edges.size(), endless);
  const auto observed_by = observers(grammar);
  std::vector<NodeId> changed;
  for (const Rule& rule : grammar.rules) {
    grammar.need[rule.end] = 0;
    changed.push_back(rule.end);
  }
  while (!changed.empty()) {
    const NodeId node = changed.back();
    changed.pop_back();
    for (const NodeId each : observed_by[node])
      if (const std::uint32_t need = need_of(grammar, each); need < grammar.need[each]) {
        grammar.need[each] = need;
        changed.push_back(each);
      }
  }
}

/// Takes away, again and again, what nothing leads to: a ring stays.
bool calls_itself_at_once(const Grammar& grammar) {
  std::vector<std::uint32_t> leading_here(grammar.edges.size());
  std::vector<NodeId> targets, free;
  for (const auto& edges : grammar.edges)
    for (const Edge& edge : edges) add_unread(grammar, edge, targets);
  for (const NodeId to : targets) ++leading_here[to];
  for (NodeId node = 0; node < grammar.edges.size(); ++node)
    if (leading_here[node] == 0) free.push_back(node);
  std::size_t taken = 0;
  for (; !free.empty(); ++taken) {
    const NodeId node = free.back();
    free.pop_back();
    targets.clear();
    for (const Edge& edge : grammar.edges[node]) add_unread(grammar, edge, targets);
    for (const NodeId to : targets)
      if (--leading_here[to] == 0) free.push_back(to);
  }
  return taken < grammar.edges.size();
}

}  // namespace stackgate::inference
