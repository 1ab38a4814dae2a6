#include "services/kit/schema/schema.hpp"

namespace stackgate::validate::schema {
namespace {

/// nullptr for what the schema does not know.
const Node* node_at(const Node& root, const Path* base, const Path* at) {  // NOLINT(misc-no-recursion)
  if (at == base) return &root;
  if (at == nullptr) return nullptr;
  const Node* parent = node_at(root, base, at->parent);
  if (parent == nullptr) return nullptr;
  if (at->index >= 0) return parent->items;
  const Node* child = parent->property(at->key);
  return child == nullptr ? parent->additional : child;
}

}  // namespace

const Property* property_at(const Node& root, const Path* base, const Path* at) {
  if (at == base || at == nullptr || at->index >= 0) return nullptr;
  const Node* parent = node_at(root, base, at->parent);
  return parent == nullptr ? nullptr : parent->find(at->key);
}

}  // namespace stackgate::validate::schema
