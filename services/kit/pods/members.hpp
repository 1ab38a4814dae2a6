// Members of Kubernetes objects as Go's `omitempty` writes them: what is empty is left out, so that a written object
// compares equal to what the API server gives back. Pure and thread-safe.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/json/write.hpp"

namespace stackgate::pods {

/// Labels, annotations, data of a ConfigMap; written in the order of the keys.
using TextMap = std::map<std::string, std::string, std::less<>>;

void member_text(json::Writer& out, std::string_view key, std::string_view text);
void member_map(json::Writer& out, std::string_view key, const TextMap& map);
void member_list(json::Writer& out, std::string_view key, const std::vector<std::string>& texts);
/// `json` is a value as JSON text.
void member_json(json::Writer& out, std::string_view key, std::string_view json);

}  // namespace stackgate::pods
