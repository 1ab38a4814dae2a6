#include "reconcile/compare/stamp.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "services/kit/json/write.hpp"

namespace stackgate::reconcile {
namespace {

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
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
  return fmt::format("{:016x}", fnv1a(text));
}

std::string stamped(const json::Value& body, std::string_view hash) {
  std::string out;
  json::Writer writer(out);
  writer.object([&] {
    for (const json::Member& member : body.members()) {
      writer.key(member.key);
      if (member.key == "metadata")
        write_stamped_metadata(writer, member.value, hash);
      else
        writer.value(member.value);
    }
  });
  return out;
}

std::string_view stamp_of(const json::Value& object) {
  const json::Value* metadata = object.find("metadata");
  const json::Value* annotations = metadata == nullptr ? nullptr : metadata->find("annotations");
  const json::Value* stamp = annotations == nullptr ? nullptr : annotations->find(plan_annotation);
  return stamp == nullptr ? std::string_view{} : stamp->string();
}

}  // namespace stackgate::reconcile
