// The text of a message's content: a string, or its text parts one behind the other. Pure.
#pragma once
#include <string>

#include "services/kit/json/read.hpp"

namespace stackgate::guardrail {

inline std::string content_text(const json::Value& content) {
  std::string out(content.string());
  for (const json::Value& part : content.items()) out += json::text(&part, {"text"});
  return out;
}

}  // namespace stackgate::guardrail
