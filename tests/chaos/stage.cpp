#include "tests/chaos/stage.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "crds/kinds.hpp"
#include "reconcile/child_types.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::chaos {
namespace {

struct Watched {
  kube::ResourceType type;
  std::string_view kind;
  bool ours;  // one of the eight kinds
};

const std::vector<Watched>& watched() {
  static const std::vector<Watched> all = [] {
    std::vector<Watched> out;
    for (const crds::KindInfo& each : crds::kinds)
      out.push_back({{crds::api_group, crds::api_version, each.plural}, each.name, true});
    for (const reconcile::ChildTypeInfo& each : reconcile::child_types) {
      if (each.type == reconcile::ChildType::inference_service) continue;
      kube::ResourceType type = each.resource();
      if (each.type == reconcile::ChildType::horizontal_pod_autoscaler) type.version = "v2beta2";
      out.push_back({type, each.kind, false});
    }
    return out;
  }();
  return all;
}

const Watched& watched_as(std::string_view plural, std::string_view kind) {
  const auto found = std::ranges::find_if(
      watched(), [&](const Watched& each) { return each.type.plural == plural || each.kind == kind; });
  if (found == watched().end()) throw std::runtime_error(fmt::format("unknown: {}{}", plural, kind));
  return *found;
}

template <class T>
T must(kube::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

std::string text_at(const json::Value& object, std::initializer_list<std::string_view> path) {
  const json::Value* found = json::at(&object, path);
  return found == nullptr ? std::string() : std::string(found->string());
}
std::int64_t number_at(const json::Value& object, std::initializer_list<std::string_view> path) {
  const json::Value* found = json::at(&object, path);
  return found == nullptr ? 0 : found->integer();
}

/// Members by name: what a person may have written in another order is the same.
void write_sorted(json::Writer& writer, const json::Value& value, const auto& dropped) {
  if (value.is_array()) {
    writer.array([&] {
      for (const json::Value& each : value.items()) write_sorted(writer, each, dropped);
    });
    return;
  }
  if (!value.is_object()) return writer.value(value);
  std::vector<const json::Member*> members;
  for (const json::Member& each : value.members())
    if (!dropped(each.key)) members.push_back(&each);
  std::ranges::sort(members, {}, [](const json::Member* each) { return each->key; });
  writer.object([&] {
    for (const json::Member* each : members) {
      writer.key(each->key);
      write_sorted(writer, each->value, dropped);
    }
  });
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;) text.replace(at, from.size(), to);
}

std::string normal(const Watched& type, const json::Value& object, const std::string& ns) {
  // What the API server or a controller puts in, and what is drawn at random.
  constexpr std::array<std::string_view, 21> dropped{"uid",
                                                     "resourceVersion",
                                                     "creationTimestamp",
                                                     "managedFields",
                                                     "selfLink",
                                                     "generation",
                                                     "clusterIP",
                                                     "clusterIPs",
                                                     "lastTransitionTime",
                                                     "stackgate.dev/plan",
                                                     "nodePort",
                                                     "lastUpdateTime",
                                                     "controller-uid",
                                                     "namespace",
                                                     "apiVersion",
                                                     "volumeName",
                                                     "healthCheckNodePort",
                                                     "id",
                                                     "id.pub",
                                                     "observedGeneration",
                                                     "stackgate.dev/config"};
  const bool drop_status = !type.ours;
  std::string out;
  json::Writer writer(out);
  write_sorted(writer, object, [&](std::string_view key) {
    return std::ranges::find(dropped, key) != dropped.end() || (drop_status && key == "status");
  });
  replace_all(out, ns, "NAMESPACE");
  return out;
}

/// Written by somebody who is not the operator: the API server keeps account of who set which field.
kube::Result<kube::Response> as_another(kube::Client& client, kube::Request request) {
  replace_all(request.path, "fieldManager=stackgate", "fieldManager=chaos");
  return client.send(std::move(request));
}

std::string member_text(const json::Value& line, std::string_view key) {
  const json::Value* found = line.find(key);
  if (found == nullptr) return {};
  return found->is_string() ? std::string(found->string()) : json::to_json(*found);
}

}  // namespace

std::vector<Change> read_scenario(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file);
  std::vector<Change> out;
  for (std::string line; std::getline(in, line);) {
    json::Document document;
    if (!json::parse(line, document)) throw std::runtime_error("not JSON: " + line);
    const json::Value& root = document.root;
    const json::Value* patch = root.find("patch");
    out.push_back({.stage = member_text(root, "stage"),
                   .create = member_text(root, "create"),
                   .plural = member_text(root, "plural"),
                   .name = member_text(root, "name"),
                   .patch = member_text(root, "patch"),
                   .json_patch = patch != nullptr && patch->is_array()});
  }
  return out;
}

std::string difference(const State& wanted, const State& found) {
  std::string out;
  const auto add = [&](std::string_view mark, const std::string& key, const std::string& text, std::size_t from = 0) {
    if (out.size() < 6'000) out += fmt::format("  {} {} …{}\n", mark, key, text.substr(from, 300));
  };
  for (const auto& [key, text] : wanted) {
    const auto other = found.find(key);
    if (other != found.end() && other->second == text) continue;
    if (other == found.end()) {
      add("missing", key, text);
      continue;
    }
    const auto place = static_cast<std::size_t>(std::ranges::mismatch(text, other->second).in1 - text.begin());
    const std::size_t from = place < 60 ? 0 : place - 60;
    add("wanted", key, text, from);
    add("found ", key, other->second, std::min(from, other->second.size()));
  }
  for (const auto& [key, text] : found)
    if (!wanted.contains(key)) add("beside", key, text);
  return out;
}

Stage::Stage(kube::Client& client, std::string ns) : client_(client), ns_(std::move(ns)) {}

void Stage::make_namespace() {
  must(client_.create(kube::types::namespaces, {},
                      fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})", ns_)));
}

void Stage::carry_out(const Change& change) {
  if (!change.create.empty()) {
    json::Document document;
    if (!json::parse(change.create, document)) throw std::runtime_error("not JSON: " + change.create);
    const kube::ResourceType& made = watched_as("-", text_at(document.root, {"kind"})).type;
    must(as_another(client_, kube::Request::create(made, ns_, change.create)));
    return;
  }
  const kube::ResourceType& type = watched_as(change.plural, "-").type;
  if (change.patch.empty())
    must(client_.remove(type, ns_, change.name));
  else
    must(as_another(client_, kube::Request::patch(type, ns_, change.name,
                                                  change.json_patch ? kube::PatchType::json : kube::PatchType::merge,
                                                  change.patch)));
}

State Stage::look() {
  State out;
  all_told_ = true;
  std::vector<kube::Request> requests;
  for (const Watched& each : watched())
    requests.push_back({.method = "GET", .path = kube::collection_path(each.type, ns_), .idempotent = true});
  kube::CallOptions options;
  options.timeout = std::chrono::seconds(10);
  const auto answers = client_.send_many(std::move(requests), options);
  std::vector<std::string> uids;  // of the eight kinds, which come first: some children speak of them
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Watched& each = watched()[i];
    if (!answers[i]) {
      if (answers[i].error().not_found()) continue;  // an optional API
      throw std::runtime_error(answers[i].error().message);
    }
    json::Document document;
    if (!json::parse(answers[i]->body, document)) throw std::runtime_error("the API server answers no JSON");
    for (const json::Value& object : document.root.find("items")->items()) {
      const std::string_view name = kube::metadata(object, "name");
      if (name == "default" || name == "kube-root-ca.crt") continue;
      play(each.type.plural, object);
      if (each.ours)
        all_told_ &=
            number_at(object, {"status", "observedGeneration"}) == number_at(object, {"metadata", "generation"});
      if (each.ours) uids.emplace_back(kube::metadata(object, "uid"));
      std::string text = normal(each, object, ns_);
      for (const std::string& uid : uids) replace_all(text, uid, "UID");
      out[fmt::format("{}/{}", each.type.plural, name)] = std::move(text);
    }
  }
  return out;
}

void Stage::play(std::string_view plural, const json::Value& object) {
  std::string status;
  if (plural == "deployments") {
    const auto generation = number_at(object, {"metadata", "generation"}),
               replicas = number_at(object, {"spec", "replicas"});
    if (number_at(object, {"status", "observedGeneration"}) != generation ||
        number_at(object, {"status", "availableReplicas"}) != replicas)
      status = fmt::format(
          R"({{"observedGeneration":{0},"replicas":{1},"updatedReplicas":{1},"readyReplicas":{1},"availableReplicas":{1}}})",
          generation, replicas);
  } else if (plural == "jobs" && number_at(object, {"status", "succeeded"}) == 0 && can_start(object)) {
    const std::string now = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                        std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
    status = fmt::format(
        R"({{"startTime":"{0}","completionTime":"{0}","succeeded":1,"conditions":[{{"type":"Complete","status":"True"}}]}})",
        now);
  } else if (plural == "persistentvolumeclaims") {
    if (text_at(object, {"status", "phase"}) == "Bound")
      bound_.insert(std::string(kube::metadata(object, "name")));
    else
      status = R"({"phase":"Bound"})";
  }
  if (status.empty()) return;
  // One that is gone meanwhile, or was changed: the next look sees it.
  (void)as_another(client_,
                   kube::Request::patch(watched_as(plural, "-").type, ns_, kube::metadata(object, "name"),
                                        kube::PatchType::merge, fmt::format(R"({{"status":{}}})", status), "status"));
}

bool Stage::can_start(const json::Value& job) const {
  const json::Value* volumes = json::at(&job, {"spec", "template", "spec", "volumes"});
  if (volumes == nullptr) return true;
  return std::ranges::all_of(volumes->items(), [&](const json::Value& volume) {
    const std::string claim = text_at(volume, {"persistentVolumeClaim", "claimName"});
    return claim.empty() || bound_.contains(claim);
  });
}

void Stage::clean_up() {
  std::vector<kube::Request> requests;
  for (const Watched& each : watched()) {
    if (each.type.plural == "services") continue;  // has no deletecollection
    requests.push_back({.method = "DELETE", .path = kube::collection_path(each.type, ns_), .idempotent = true});
  }
  (void)client_.send_many(std::move(requests));
}

}  // namespace stackgate::chaos
