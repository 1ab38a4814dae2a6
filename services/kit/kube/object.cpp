#include "services/kit/kube/object.hpp"

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

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
  return json::text(&object, {"metadata", key});
}

}  // namespace stackgate::kube
