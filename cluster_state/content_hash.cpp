#include "cluster_state/content_hash.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "services/kit/kube/object.hpp"

namespace stackgate::cluster {

std::string content_hash(const json::Value& object) {
  std::vector<std::pair<std::string_view, std::string_view>> entries;
  for (const char* part : {"data", "binaryData"})
    if (const json::Value* found = object.find(part); found != nullptr)
      for (const json::Member& each : found->members()) entries.emplace_back(each.key, each.value.string());
  std::ranges::sort(entries);
  // Every piece with its length before it: "a","bc" is not "ab","c".
  std::string text;
  const auto add = [&](std::string_view piece) {
    fmt::format_to(std::back_inserter(text), "{}:{}", piece.size(), piece);
  };
  add(kube::metadata(object, "name"));
  for (const auto& [key, value] : entries) {
    add(key);
    add(value);
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) fmt::format_to(std::back_inserter(out), "{:02x}", digest[i]);
  return out;
}

}  // namespace stackgate::cluster
