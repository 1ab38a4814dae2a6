// The walk of an object against a compiled schema. One per check; not thread-safe.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "services/kit/grammar/problem.hpp"
#include "services/kit/schema/check.hpp"
#include "services/kit/schema/schema.hpp"

namespace stackgate::validate::schema {

class Walker {
 public:
  /// Without `out` the walk only finds out whether there is a fault, and ends at the first.
  /// `root` is what stands at `base`, where the walk begins: whether a field may be left out is looked up there.
  Walker(std::vector<SchemaFault>* out, const CheckOptions& options, const Node* root = nullptr,
         const Path* base = nullptr)
      : out_(out), options_(options), root_(root), base_(base) {}

  /// `base` is the place's structure when `node` stands inside anyOf, oneOf, allOf or not, else `node` itself: defaults
  /// and nullability are looked up there. nullptr where nothing is known.
  void walk(const Node& node, const Node* base, const json::Value& value, const Path* at);

  void report(Fault fault, const Path* at, std::uint32_t offset, const json::Value* value, grammar::Problem problem);

  std::size_t faults() const { return faults_; }
  bool quiet() const { return out_ == nullptr; }
  const CheckOptions& options() const { return options_; }

 private:
  bool full() const { return out_ != nullptr && out_->size() >= options_.max_faults; }
  bool stopped() const { return faults_ > 0 && (out_ == nullptr || full()); }

  void mismatch(const Pattern& pattern, const json::Value& value, const Path* at);
  void wrong_type(const Node& node, const json::Value& value, const Path* at);
  void report_unknown(const Node& node, const json::Member& member, const Path* at);
  void walk_object(const Node& node, const Node* base, const json::Value& value, const Path* at);
  void walk_required(const Node& node, const Node* base, const json::Value& value, const Path* at);
  void walk_array(const Node& node, const Node* base, const json::Value& value, const Path* at);
  void walk_set(std::span<const json::Value> items, const Path* at);
  void walk_map_keys(const Node& node, std::span<const json::Value> items, const Path* at);
  void walk_string(const Node& node, const json::Value& value, const Path* at);
  void walk_number(const Node& node, const json::Value& value, const Path* at);

  std::vector<SchemaFault>* out_;
  const CheckOptions& options_;
  const Node* root_;
  const Path* base_;
  std::size_t faults_ = 0;
};

/// anyOf, oneOf, allOf and not. (combinations.cpp)
void walk_combinations(Walker& walker, const Node& node, const Node* base, const json::Value& value, const Path* at);

/// The schema of `metadata`, which every object has without saying so. (object_meta.cpp)
/// Source: type ObjectMeta in k8s.io/apimachinery/pkg/apis/meta/v1. Types only: the API server's rules about names,
/// labels and owners are rules of the book.
const Node& object_meta();

/// For apiVersion and kind, where a schema does not describe them.
const Node& type_meta_text();

}  // namespace stackgate::validate::schema
