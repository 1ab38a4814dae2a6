// One sequence under a grammar: which tokens may come next, and where it stands.
//   auto grammar = compile_schema(schema);                     // or json_object_grammar()
//   Constraint constraint(*grammar, trie, end_ids);
//   sampler.choose(row, {…, .allowed = constraint.allowed()}); constraint.accept(token);
#pragma once
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "services/inference/constrain/automaton.hpp"
#include "services/inference/constrain/token_trie.hpp"

namespace stackgate::inference {

/// Not thread-safe; the grammar and the trie may be shared by any number of them.
class Constraint {
 public:
  Constraint(std::shared_ptr<const Grammar> grammar, std::shared_ptr<const TokenTrie> trie,
             std::vector<TokenId> end_ids);

  /// End ids are among them when a whole value has been written. All zero: nothing may come, which only a vocabulary
  /// that lacks bytes, or a value beyond the limits of Automaton, brings about. The view holds until the next call.
  const TokenMask& allowed();
  /// False: it was not allowed.
  bool accept(TokenId id);
  /// The same for text that is no token of its own.
  bool accept(std::string_view bytes);
  /// Whether what was accepted is a whole value.
  bool complete() const { return automaton_.complete(state_); }
  /// Whether a whole value was written and nothing can be added: the sequence may end without an end id.
  bool finished() const { return complete() && !automaton_.goes_on(state_); }

 private:
  Automaton automaton_;
  std::shared_ptr<const TokenTrie> trie_;
  std::vector<TokenId> end_ids_;
  Automaton::State state_;
  std::unordered_map<Automaton::State, TokenMask> masks_;  // of states seen before: a string stays in one
};

}  // namespace stackgate::inference
