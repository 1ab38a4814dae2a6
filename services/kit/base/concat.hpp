// Texts put together in one allocation.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

namespace stackgate {

/// The parts one behind the other. For sentences that hold nothing but texts, where a refusal's price is counted: a
/// format string is read anew each time, which costs several times as much. fmt where numbers want a form.
inline std::string concat(std::initializer_list<std::string_view> parts) {
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  std::string out;
  out.reserve(size);
  for (const std::string_view part : parts) out.append(part);
  return out;
}

}  // namespace stackgate
