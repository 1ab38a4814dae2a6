#include "reconcile/compare/plan_hash.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "reconcile/labels.hpp"
#include "services/kit/base/fnv.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::reconcile {
namespace {

/// By which the API tells the items of its lists apart.
constexpr std::array<std::string_view, 6> identities{"name", "mountPath", "containerPort", "port", "protocol", "uid"};

std::uint64_t shape_hash(const json::Value& value, std::uint64_t hash) {
  const char type = static_cast<char>(value.type());
  hash = fnv1a({&type, 1}, hash);
  for (const json::Value& item : value.items()) hash = shape_hash(item, hash);
  for (const json::Member& member : value.members()) {
    hash = fnv1a("=", fnv1a(member.key, hash));
    if (std::ranges::find(identities, member.key) != identities.end()) hash = fnv1a(json::to_json(member.value), hash);
    hash = shape_hash(member.value, hash);
  }
  return fnv1a(";", hash);
}

}  // namespace

std::string plan_hash(const json::Value& body, bool without_replicas) {
  std::string text;
  json::Writer writer(text);
  writer.object([&] {
    writer.members(body, {without_replicas ? "spec" : ""});
    const json::Value* spec = body.find("spec");
    if (without_replicas && spec != nullptr) writer.object("spec", [&] { writer.members(*spec, {"replicas"}); });
  });
  return fmt::format("{:016x}.{:016x}", fnv1a(text), shape_hash(body, fnv1a("")));
}

bool same_shape(std::string_view hash, std::string_view other) {
  const std::size_t dot = hash.find('.');
  return dot != std::string_view::npos && other.size() > dot && hash.substr(dot) == other.substr(dot);
}

std::string with_plan_hash(const json::Value& body, std::string_view hash, std::string_view data) {
  return json::object_text([&](json::Writer& writer) {
    for (const json::Member& each : body.members()) {
      if (each.key != "metadata") {
        if (each.key != "data" || data.empty()) writer.member(each.key, each.value);
        continue;
      }
      writer.object("metadata", [&] {
        writer.members(each.value, {"annotations"});
        writer.object("annotations", [&] {
          writer.members(json::value_at(&each.value, {"annotations"}), {plan_annotation});
          writer.member(plan_annotation, hash);
        });
      });
    }
    if (data.empty()) return;
    writer.key("data");
    writer.raw(data);
  });
}

std::string_view plan_hash_of(const json::Value& object) {
  return json::text(&object, {"metadata", "annotations", plan_annotation});
}

}  // namespace stackgate::reconcile
