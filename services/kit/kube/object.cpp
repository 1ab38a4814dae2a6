#include "services/kit/kube/object.hpp"

#include "services/kit/json/parse.hpp"

namespace stackgate::kube {

Object Object::parse(std::string text, bool& valid) {
  Object out;
  out.data_ = std::make_unique<Data>();
  out.data_->text = std::move(text);
  valid = json::parse(out.data_->text, out.data_->document).has_value();
  if (!valid) out.data_.reset();
  return out;
}

const json::Value& Object::root() const {
  static const json::Value none{};
  return data_ == nullptr ? none : data_->document.root;
}

std::string_view Object::name() const { return metadata(root(), "name"); }
std::string_view Object::resource_version() const { return metadata(root(), "resourceVersion"); }

std::string_view metadata(const json::Value& object, std::string_view key) {
  const json::Value* value = at(object, {"metadata", key});
  return value == nullptr ? std::string_view{} : value->string();
}

const json::Value* at(const json::Value& object, std::initializer_list<std::string_view> path) {
  const json::Value* value = &object;
  for (const std::string_view key : path) {
    value = value->find(key);
    if (value == nullptr) return nullptr;
  }
  return value;
}

}  // namespace stackgate::kube
