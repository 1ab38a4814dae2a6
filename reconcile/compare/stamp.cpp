#include "reconcile/compare/stamp.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "services/kit/json/write.hpp"

namespace stackgate::reconcile {
namespace {

class Fnv1a {
 public:
  void add(std::string_view text) {
    for (const char c : text) add(static_cast<unsigned char>(c));
  }
  void add(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3U; }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

/// By which the API tells the items of its lists apart.
constexpr std::array<std::string_view, 6> identities{"name", "mountPath", "containerPort", "port", "protocol", "uid"};

void add_shape(Fnv1a& hash, const json::Value& value) {
  hash.add(static_cast<unsigned char>(value.type()));
  for (const json::Value& item : value.items()) add_shape(hash, item);
  for (const json::Member& member : value.members()) {
    hash.add(member.key);
    hash.add('=');
    if (std::ranges::find(identities, member.key) != identities.end()) hash.add(json::to_json(member.value));
    add_shape(hash, member.value);
  }
  hash.add(';');
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
  Fnv1a whole, shape;
  whole.add(text);
  add_shape(shape, body);
  return fmt::format("{:016x}.{:016x}", whole.value(), shape.value());
}

bool same_shape(std::string_view hash, std::string_view other) {
  const std::size_t dot = hash.find('.');
  return dot != std::string_view::npos && other.size() > dot && hash.substr(dot) == other.substr(dot);
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
