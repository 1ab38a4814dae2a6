#include "services/guardrail/api/inline_config.hpp"

#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {

std::vector<File> inline_files(const json::Value& config, std::string_view path) {
  std::string yaml(config.string());
  if (config.is_object()) yaml = json::object_text([&](json::Writer& w) { w.members(config, {"colang_content"}); });
  std::vector<File> out{{.name = "config.yml", .text = std::move(yaml), .shown = std::string(path)}};
  const std::string_view colang = json::text_at(config, "colang_content");
  if (!colang.empty())
    out.push_back(
        {.name = "config.co", .text = std::string(colang), .shown = std::string(path).append(".colang_content")});
  return out;
}

}  // namespace stackgate::guardrail
