#include "validators/field.hpp"

namespace stackgate::validate {

Field Field::root(Walk& walk, const json::Value& object, const schema::Node* node) {
  return {walk, &object, node, nullptr, object.offset()};
}

Field Field::operator[](std::string_view key) const {
  const json::Member* member = value_ == nullptr ? nullptr : value_->find_member(key);
  const schema::Node* child = nullptr;
  if (node_ != nullptr) {
    child = node_->property(key);
    if (child == nullptr) child = node_->additional;
  }
  // The document's own key outlives the walk; the caller's may be a temporary.
  if (member != nullptr) {
    return {*walk_, &member->value, child, walk_->arena.make<Path>(path_, member->key), member->key_offset};
  }
  return {*walk_, nullptr, child, walk_->arena.make<Path>(path_, walk_->arena.copy(key)), offset_};
}

Field Field::at(std::size_t index) const {
  const auto items = value_ == nullptr ? std::span<const json::Value>{} : value_->items();
  const Path* path = walk_->arena.make<Path>(path_, std::string_view{}, static_cast<std::int64_t>(index));
  const schema::Node* child = node_ == nullptr ? nullptr : node_->items;
  if (index >= items.size()) return {*walk_, nullptr, child, path, offset_};
  return {*walk_, &items[index], child, path, items[index].offset()};
}

Field Field::entry(std::size_t index) const {
  const json::Member& member = value_->members()[index];
  const schema::Node* child = nullptr;
  if (node_ != nullptr) {
    child = node_->property(member.key);
    if (child == nullptr) child = node_->additional;
  }
  return {*walk_, &member.value, child, walk_->arena.make<Path>(path_, member.key), member.key_offset};
}

const json::Value* Field::effective() const {
  if (present()) return value_;
  return node_ == nullptr ? nullptr : node_->default_value;
}

std::optional<std::string_view> Field::text() const {
  const json::Value* value = effective();
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->string();
}

std::optional<std::int64_t> Field::integer() const {
  const json::Value* value = effective();
  if (value == nullptr || !value->is_integer()) return std::nullopt;
  return value->integer();
}

std::optional<bool> Field::flag() const {
  const json::Value* value = effective();
  if (value == nullptr || !value->is_boolean()) return std::nullopt;
  return value->boolean();
}

std::size_t Field::size() const {
  if (value_ == nullptr) return 0;
  return value_->is_object() ? map_size() : list_size();
}

std::size_t Field::list_size() const { return value_ == nullptr ? 0 : value_->items().size(); }
std::size_t Field::map_size() const { return value_ == nullptr ? 0 : value_->members().size(); }

}  // namespace stackgate::validate
