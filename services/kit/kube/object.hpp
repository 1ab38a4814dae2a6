// A parsed answer together with everything it views.
#pragma once
#include <memory>
#include <string>

#include "services/kit/json/document.hpp"

namespace stackgate::kube {

/// Movable; views stay valid while it lives. A moved-from Object is null.
class Object {
 public:
  Object() = default;
  /// Null when the text is not JSON: `valid` tells.
  static Object parse(std::string text, bool& valid);

  const json::Value& root() const;
  /// Members of metadata; empty when absent.
  std::string_view name() const;
  std::string_view resource_version() const;

 private:
  struct Data {
    std::string text;
    json::Document document;
  };
  std::unique_ptr<Data> data_;
};

/// object.metadata[key] as text, or empty.
std::string_view metadata(const json::Value& object, std::string_view key);

}  // namespace stackgate::kube
