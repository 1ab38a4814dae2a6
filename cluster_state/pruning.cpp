#include "cluster_state/pruning.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "services/kit/json/write.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::cluster {
namespace {

constexpr std::string_view last_applied = "kubectl.kubernetes.io/last-applied-configuration";

void write_metadata(json::Writer& writer, const json::Value& metadata) {
  writer.object([&] {
    for (const json::Member& member : metadata.members()) {
      if (member.key == "managedFields" || member.key == "selfLink") continue;
      writer.key(member.key);
      if (member.key != "annotations") {
        writer.value(member.value);
        continue;
      }
      writer.object([&] {
        for (const json::Member& each : member.value.members())
          if (each.key != last_applied) writer.member(each.key, each.value);
      });
    }
  });
}

bool is_content(std::string_view key) { return key == "data" || key == "stringData" || key == "binaryData"; }

}  // namespace

std::string pruned_json(const json::Value& object, const Keep& keep) {
  std::string out;
  json::Writer writer(out);
  writer.object([&] {
    for (const json::Member& member : object.members()) {
      if (member.key == "status" && !keep.status) continue;
      if (!keep.content && is_content(member.key)) continue;
      writer.key(member.key);
      if (member.key == "metadata")
        write_metadata(writer, member.value);
      else
        writer.value(member.value);
    }
  });
  out.shrink_to_fit();
  return out;
}

int create_entry(const json::Value& object) {
  const json::Value* entries = kube::at(object, {"metadata", "managedFields"});
  if (entries == nullptr) return -1;
  const auto says = [](const json::Value& entry, std::string_view key, std::string_view text) {
    const json::Value* found = entry.find(key);
    return found != nullptr && found->string() == text;
  };
  for (std::size_t i = 0; i < entries->items().size(); ++i) {
    const json::Value& entry = entries->items()[i];
    if (says(entry, "manager", "stackgate") && says(entry, "operation", "Update") &&
        entry.find("subresource") == nullptr)
      return static_cast<int>(i);
  }
  return -1;
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
