#include "cluster_state/pruning.hpp"

#include <charconv>

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

}  // namespace stackgate::cluster
