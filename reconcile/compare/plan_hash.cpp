#include "reconcile/compare/plan_hash.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "reconcile/labels.hpp"
#include "services/kit/base/fnv.hpp"
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

void write_spec_without_replicas(json::Writer& writer, const json::Value& spec) {
  writer.object([&] {
    for (const json::Member& member : spec.members())
      if (member.key != "replicas") writer.member(member.key, member.value);
  });
}

void write_stamped_metadata(json::Writer& writer, const json::Value& metadata, std::string_view hash) {
  writer.object([&] {
    for (const json::Member& member : metadata.members())
      if (member.key != "annotations") writer.member(member.key, member.value);
    writer.key("annotations");
    writer.object([&] {
      if (const json::Value* annotations = metadata.find("annotations"); annotations != nullptr)
        for (const json::Member& each : annotations->members())
          if (each.key != plan_annotation) writer.member(each.key, each.value);
      writer.member(plan_annotation, hash);
    });
  });
}

}  // namespace

std::string plan_hash(const json::Value& body, bool without_replicas) {
  std::string text;
  json::Writer writer(text);
  writer.object([&] {
    for (const json::Member& member : body.members()) {
      writer.key(member.key);
      if (without_replicas && member.key == "spec")
        write_spec_without_replicas(writer, member.value);
      else
        writer.value(member.value);
    }
  });
  return fmt::format("{:016x}.{:016x}", fnv1a(text), shape_hash(body, fnv1a("")));
}

bool same_shape(std::string_view hash, std::string_view other) {
  const std::size_t dot = hash.find('.');
  return dot != std::string_view::npos && other.size() > dot && hash.substr(dot) == other.substr(dot);
}

std::string with_plan_hash(const json::Value& body, std::string_view hash, std::string_view data) {
  std::string out;
  json::Writer writer(out);
  writer.object([&] {
    for (const json::Member& member : body.members()) {
      if (member.key == "data" && !data.empty()) continue;
      writer.key(member.key);
      if (member.key == "metadata")
        write_stamped_metadata(writer, member.value, hash);
      else
        writer.value(member.value);
    }
    if (data.empty()) return;
    writer.key("data");
    writer.raw(data);
  });
  return out;
}

std::string_view plan_hash_of(const json::Value& object) {
  const json::Value* metadata = object.find("metadata");
  const json::Value* annotations = metadata == nullptr ? nullptr : metadata->find("annotations");
  const json::Value* hash = annotations == nullptr ? nullptr : annotations->find(plan_annotation);
  return hash == nullptr ? std::string_view{} : hash->string();
}

}  // namespace stackgate::reconcile
