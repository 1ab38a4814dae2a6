#include "cluster_state/pruning.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/kube/object.hpp"
#include "validators/rules/last_applied.hpp"

namespace stackgate::cluster {

std::string pruned_json(const json::Value& object, const Keep& keep) {
  std::string out;
  json::Writer writer(out);
  const auto left_out = [&](std::string_view key) {
    return (key == "status" && !keep.status) ||
           (!keep.content && (key == "data" || key == "stringData" || key == "binaryData"));
  };
  writer.object([&] {
    for (const json::Member& member : object.members()) {
      if (left_out(member.key)) continue;
      writer.key(member.key);
      if (member.key != "metadata") {
        writer.value(member.value);
        continue;
      }
      writer.object([&] {
        writer.members(member.value, {"managedFields", "selfLink", "annotations"});
        if (const json::Value* annotations = member.value.find("annotations"); annotations != nullptr)
          writer.object("annotations", [&] { writer.members(*annotations, {validate::last_applied_annotation}); });
      });
    }
  });
  out.shrink_to_fit();
  return out;
}

int create_entry(const json::Value& object) {
  const auto entries = json::items(&object, {"metadata", "managedFields"});
  const auto found = std::ranges::find_if(entries, [](const json::Value& entry) {
    return json::text(&entry, {"manager"}) == "stackgate" && json::text(&entry, {"operation"}) == "Update" &&
           entry.find("subresource") == nullptr;
  });
  return found == entries.end() ? -1 : static_cast<int>(found - entries.begin());
}

std::uint64_t version_of(const json::Value& object) {
  const std::string_view text = kube::metadata(object, "resourceVersion");
  std::uint64_t out = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc{} && end == text.data() + text.size() ? out : 0;
}

std::string content_hash(const json::Value& object) {
  std::vector<std::pair<std::string_view, std::string_view>> entries;
  for (const char* part : {"data", "binaryData"})
    for (const json::Member& each : json::members(&object, {part})) entries.emplace_back(each.key, each.value.string());
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
