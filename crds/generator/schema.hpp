// From authored schemas to structural ones: fragments are put in, shorthand is written out.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "crds/generator/tree.hpp"

namespace stackgate::crds::generator {

/// Named schema parts that others take in with `$use: name` or `$use: [a, b]`.
class Fragments {
 public:
  /// Every *.yaml in `folder` maps names to schemas. A name given twice is a SourceError.
  explicit Fragments(const std::filesystem::path& folder);

  /// A complete schema from an authored one:
  ///  * `$use` fragments first, in order, then what is written beside it: maps are merged, `required` and
  ///    `x-kubernetes-validations` are appended, everything else replaces, and `key: ~` removes;
  ///  * `type` is implied by `properties`, `additionalProperties` and `items`;
  ///  * keywords come in one fixed order.
  /// Unknown keywords, fields without a description and `required` names that are no fields are SourceErrors; `where`
  /// is the path that they name.
  Tree expand(const Tree& authored, const std::string& where) const;

 private:
  Tree with_fragments(const Tree& authored, const std::string& where, std::size_t depth) const;
  const Tree& named(const std::string& name, const std::string& where) const;
  Tree members_;
};

/// Which grammar a pattern states, by its expression; an empty name for the patterns that state none.
using Grammars = std::map<std::string, std::string>;

/// Moves every `$grammar` of a complete schema, which stands beside a `pattern`, to `grammars`. A pattern with two
/// different grammars is a SourceError.
void take_grammars(Tree& schema, Grammars& grammars, const std::string& where);

}  // namespace stackgate::crds::generator
