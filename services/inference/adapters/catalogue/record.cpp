#include "services/inference/adapters/catalogue/record.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/utf8.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::inference {

bool is_adapter_id(std::string_view id) {
  return !id.empty() && id.size() <= 128 && ascii::is_alphanumeric(id[0]) &&
         std::ranges::all_of(id, [](char c) { return ascii::is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_adapter_name(std::string_view name) {
  return !name.empty() && name.size() <= 200 && utf8::is_valid(name) && std::ranges::all_of(name, [](char c) {
    return static_cast<unsigned char>(c) > ' ' && c != '\x7f' && c != '@';
  });
}

std::string folder_id(std::string_view name, std::span<const FileIdentity> files) {
  std::string text(name);
  for (const FileIdentity& each : files) text += fmt::format("\n{} {} {}", each.changed, each.size, each.inode);
  return "folder-" + crypto::to_hex(crypto::sha256(text)).substr(0, 32);
}

}  // namespace stackgate::inference
