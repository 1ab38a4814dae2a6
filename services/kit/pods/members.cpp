#include "services/kit/pods/members.hpp"

namespace stackgate::pods {

void member_text(json::Writer& out, std::string_view key, std::string_view text) {
  if (!text.empty()) out.member(key, text);
}

void member_map(json::Writer& out, std::string_view key, const TextMap& map) {
  if (map.empty()) return;
  out.object(key, [&] {
    for (const auto& [name, value] : map) out.member(name, std::string_view(value));
  });
}

void member_list(json::Writer& out, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  out.array(key, [&] {
    for (const std::string& text : texts) out.value(std::string_view(text));
  });
}

void member_json(json::Writer& out, std::string_view key, std::string_view json) {
  if (json.empty()) return;
  out.key(key);
  out.raw(json);
}

}  // namespace stackgate::pods
