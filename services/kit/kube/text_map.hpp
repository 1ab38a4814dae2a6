// Hash maps that are asked with a string_view, without making a string.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stackgate::kube {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
template <class T>
using TextMap = std::unordered_map<std::string, T, TextHash, std::equal_to<>>;

}  // namespace stackgate::kube
