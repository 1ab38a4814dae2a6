// A grammar over bytes: rules that are automata, whose edges read a byte or call a rule. What a rule may nest in is
// kept on a stack, so that JSON's nesting needs no copies of the rules.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace stackgate::inference {

using NodeId = std::uint32_t;
using RuleId = std::uint32_t;

struct Edge {
  enum class Kind : std::uint8_t { bytes, call, free };
  Kind kind = Kind::free;
  std::uint8_t low = 0, high = 0;  // bytes: both inclusive
  RuleId rule = 0;                 // call
  NodeId to = 0;
};

struct Rule {
  NodeId start = 0, end = 0;
};

struct Grammar {
  std::vector<std::vector<Edge>> edges;  // by node
  std::vector<Rule> rules;
  RuleId start = 0;
  NodeId text = 0;                  // inside a JSON string of any length: each whole character leads back to it
  std::vector<std::uint32_t> need;  // by node: how many calls deep the shortest way to the rule's end goes
};

/// Writes a grammar. Each function adds edges from a node, and gives the node that they lead to.
class GrammarBuilder {
 public:
  NodeId node();
  RuleId rule();
  const Rule& at(RuleId rule) const { return out_.rules[rule]; }

  void bytes(NodeId from, unsigned low, unsigned high, NodeId to);
  NodeId byte(NodeId from, char c);
  void free(NodeId from, NodeId to);
  void call(NodeId from, RuleId rule, NodeId to);
  NodeId call(NodeId from, RuleId rule);
  NodeId literal(NodeId from, std::string_view text);

  std::size_t size() const { return out_.edges.size(); }
  Grammar& grammar() { return out_; }

 private:
  Grammar out_;
};

inline constexpr std::uint32_t deepest_call = 64;  // calls inside of calls
inline constexpr std::uint32_t endless = 1U << 30U;

/// Fills in `need`; `endless` for what never ends, or only deeper than that.
void measure(Grammar& grammar);

/// Whether a rule calls itself before it has read a byte.
bool calls_itself_at_once(const Grammar& grammar);

}  // namespace stackgate::inference
