#include "validators/field.hpp"

#include "services/kit/schema/check.hpp"

namespace stackgate::validate {

Field::Field(Walk& walk, const json::Value* value, const Field* parent, std::string_view key, std::int64_t index,
             std::uint32_t offset)
    : walk_(&walk), value_(value), key_(key), index_(index), offset_(offset) {
  if (parent == nullptr) return;
  node_ = parent->node();
  path_ = parent->path();
}

Field Field::root(Walk& walk, const json::Value& object, const schema::Node* node) {
  Field root(walk, &object, nullptr, {}, -1, object.offset());
  root.node_ = node;
  root.own_node_ = root.own_path_ = true;
  return root;
}

Field Field::operator[](std::string_view key) const {
  const json::Member* member = value_ == nullptr ? nullptr : value_->find_member(key);
  if (member != nullptr) return {*walk_, &member->value, this, member->key, -1, member->key_offset};
  return {*walk_, nullptr, this, key, -1, offset_};
}

Field Field::at(std::size_t index) const {
  const auto items = value_ == nullptr ? std::span<const json::Value>{} : value_->items();
  const auto position = static_cast<std::int64_t>(index);
  if (index >= items.size()) return {*walk_, nullptr, this, {}, position, offset_};
  return {*walk_, &items[index], this, {}, position, items[index].offset()};
}

Field Field::entry(std::size_t index) const {
  const json::Member& member = value_->members()[index];
  return {*walk_, &member.value, this, member.key, -1, member.key_offset};
}

const schema::Node* Field::node() const {
  if (own_node_) return node_;
  own_node_ = true;
  if (node_ == nullptr) return nullptr;
  const schema::Node& parent = *node_;
  if (index_ >= 0) return node_ = parent.items;
  const schema::Node* child = parent.property(key_);
  return node_ = child == nullptr ? parent.additional : child;
}

const Path* Field::path() const {
  if (own_path_) return path_;
  own_path_ = true;
  return path_ = walk_->arena.make<Path>(path_, key_, index_);
}

const json::Value* Field::effective() const {
  if (present()) return value_;
  const schema::Node* described = node();
  return described == nullptr ? nullptr : described->default_value;
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

bool Field::has_misspelt(std::string_view name) const {
  return value_ != nullptr && node() != nullptr && schema::is_misspelt(*node(), *value_, name);
}

std::size_t Field::size() const {
  if (value_ == nullptr) return 0;
  return value_->is_object() ? map_size() : list_size();
}

std::size_t Field::list_size() const { return value_ == nullptr ? 0 : value_->items().size(); }
std::size_t Field::map_size() const { return value_ == nullptr ? 0 : value_->members().size(); }

}  // namespace stackgate::validate
