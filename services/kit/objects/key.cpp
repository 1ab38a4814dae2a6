#include "services/kit/base/ascii.hpp"
#include "services/kit/objects/store.hpp"

namespace stackgate::objects {

bool valid_key(std::string_view key) {
  static constexpr std::size_t longest_key = 512;
  static constexpr std::size_t longest_segment = 255;  // NAME_MAX
  if (key.empty() || key.size() > longest_key) return false;
  while (true) {
    const std::size_t end = key.find('/');
    const std::string_view segment = key.substr(0, end);
    if (segment.empty() || segment.size() > longest_segment || segment == "." || segment == "..") return false;
    for (const char c : segment) {
      const bool plain = ascii::is_alphanumeric(c) || c == '.' || c == '_' || c == '=' || c == '-';
      if (!plain) return false;
    }
    if (end == std::string_view::npos) return true;
    key.remove_prefix(end + 1);
  }
}

}  // namespace stackgate::objects
