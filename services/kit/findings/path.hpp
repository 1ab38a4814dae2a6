// A place inside an object: `spec.env[2].name`, `metadata.labels[app.kubernetes.io/name]`.
//
// A path is a chain of links that live on the stack or in an arena while the object is walked; text is made only when
// a fault is reported.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace stackgate::validate {

struct Path {
  const Path* parent = nullptr;
  std::string_view key;     // a member's name, when index < 0
  std::int64_t index = -1;  // an item's position
};

/// nullptr is the object itself and renders as "". A key that is no plain identifier stands in brackets.
std::string to_string(const Path* path);

}  // namespace stackgate::validate
