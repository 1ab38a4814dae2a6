// One JSON object as a text.
#pragma once
#include <concepts>
#include <string>

#include "services/kit/json/write.hpp"

namespace stackgate::json {

/// `members` writes them.
template <std::invocable<Writer&> Members>
std::string object_text(Members&& members) {
  std::string out;
  Writer writer(out);
  writer.object([&] { members(writer); });
  return out;
}

}  // namespace stackgate::json
