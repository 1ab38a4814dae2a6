#include "cluster_state/asker.hpp"

#include <fmt/format.h>

#include "cluster_state/facts.hpp"
#include "validators/children.hpp"

namespace stackgate::cluster {

using std::chrono::milliseconds;

AskedReference ReferenceAsker::find(validate::ReferenceKind reference_kind, std::string_view ns, std::string_view name,
                                    milliseconds limit) {
  const std::string key = fmt::format("{}/{}/{}", static_cast<int>(reference_kind), ns, name);
  return references_.run(key, [&] { return ask(reference_kind, ns, name, limit); });
}

AskedReference ReferenceAsker::ask(validate::ReferenceKind reference_kind, std::string_view ns, std::string_view name,
                                   milliseconds limit) {
  AskedReference out;
  // An empty or impossible name would ask for a whole collection or another path.
  if (name.empty()) return out;
  const auto object = client_.get(resource_type(reference_kind), ns, name, kube::CallOptions::once(limit));
  if (object) {
    out.referred = referred_of(reference_kind, object->root());
    out.server_reached = true;
    return out;
  }
  out.error = object.error().message;
  out.server_reached = object.error().code != 0 && object.error().code < 500;
  if (object.error().object_missing(name)) out.referred.presence = validate::Presence::absent;
  return out;
}

ReferenceAsker::AskedContents ReferenceAsker::contents(std::string_view ns, std::string_view config_map,
                                                       milliseconds limit) {
  return contents_.run(fmt::format("{}/{}", ns, config_map), [&] { return ask_contents(ns, config_map, limit); });
}

ReferenceAsker::AskedContents ReferenceAsker::ask_contents(std::string_view ns, std::string_view config_map,
                                                           milliseconds limit) {
  AskedContents out;
  const auto object = client_.get(kube::types::config_maps, ns, config_map, kube::CallOptions::once(limit));
  if (object) {
    out.entries = contents_of(object->root());
    out.server_reached = true;
  } else {
    out.error = object.error().message;
    out.server_reached = object.error().code != 0 && object.error().code < 500;
  }
  return out;
}

ReferenceAsker::AskedNeighbours ReferenceAsker::neighbours(std::string_view ns, milliseconds limit) {
  return neighbours_.run(std::string(ns), [&] { return ask_neighbours(ns, limit); });
}

ReferenceAsker::AskedNeighbours ReferenceAsker::ask_neighbours(std::string_view ns, milliseconds limit) {
  AskedNeighbours out;
  std::vector<validate::Neighbour> list;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (const crds::KindInfo& kind : crds::kinds) {
    const auto left = std::chrono::floor<milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      out.error = "the API server is too slow";
      return out;
    }
    const auto listed = client_.list(
        resource_type(kind.kind), ns, {},
        [&](const json::Value& object) { list.push_back(validate::neighbour_of(kind.kind, object)); },
        kube::CallOptions::once(left));
    if (listed || listed.error().not_found()) continue;  // a kind that the server does not know has no objects
    out.error = listed.error().message;
    out.server_reached = listed.error().code != 0 && listed.error().code < 500;
    return out;
  }
  out.server_reached = true;
  out.list = std::move(list);
  return out;
}

}  // namespace stackgate::cluster
