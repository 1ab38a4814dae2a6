#include "services/kit/kube/request.hpp"

#include <array>
#include <utility>

#include "services/kit/json/write.hpp"

namespace stackgate::kube {
namespace {

constexpr std::string_view our_field_manager = "stackgate";
constexpr std::string_view apply_content_type = "application/apply-patch+yaml";

/// By PatchType.
constexpr std::array<std::string_view, 3> patch_types{"application/json-patch+json", "application/merge-patch+json",
                                                      "application/strategic-merge-patch+json"};

/// Takes the first segment off "a/b/c".
std::string_view take_path_segment(std::string_view& path) {
  const std::size_t slash = path.find('/');
  const std::string_view segment = path.substr(0, slash);
  path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
  return segment;
}

bool asks_to_watch(std::string_view query) {
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    if (pair == "watch=1" || pair == "watch=true") return true;
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
  }
  return false;
}

std::string_view verb_of(std::string_view method, bool named, bool watch, std::string_view content_type) {
  if (method == "GET") return named ? "get" : watch ? "watch" : "list";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return content_type == apply_content_type ? "apply" : "patch";
  if (method == "DELETE") return named ? "delete" : "deletecollection";
  return "other";
}

}  // namespace

Request Request::get(const ResourceType& type, std::string_view ns, std::string_view name) {
  return {.path = object_path(type, ns, name), .idempotent = true};
}

Request Request::create(const ResourceType& type, std::string_view ns, std::string json, bool dry_run) {
  return {.method = "POST",
          .path = collection_path(type, ns) +
                  Query().add("fieldManager", our_field_manager).add("dryRun", dry_run ? "All" : "").text(),
          .body = std::move(json)};
}

Request Request::replace(const ResourceType& type, std::string_view ns, std::string_view name, std::string json,
                         std::string_view subresource) {
  return {.method = "PUT",
          .path = object_path(type, ns, name, subresource) + Query().add("fieldManager", our_field_manager).text(),
          .body = std::move(json)};
}

Request Request::apply(const ResourceType& type, std::string_view ns, std::string_view name, std::string json,
                       const ApplyOptions& options) {
  return {.method = "PATCH",
          .path = object_path(type, ns, name, options.subresource) + Query()
                                                                         .add("fieldManager", options.field_manager)
                                                                         .add("force", options.force ? "true" : "")
                                                                         .add("dryRun", options.dry_run ? "All" : "")
                                                                         .text(),
          .body = std::move(json),
          .content_type = std::string(apply_content_type),
          .idempotent = true};
}

Request Request::patch(const ResourceType& type, std::string_view ns, std::string_view name, PatchType patch_type,
                       std::string json, std::string_view subresource) {
  return {.method = "PATCH",
          .path = object_path(type, ns, name, subresource) + Query().add("fieldManager", our_field_manager).text(),
          .body = std::move(json),
          .content_type = std::string(patch_types[static_cast<std::size_t>(patch_type)])};
}

Request Request::remove(const ResourceType& type, std::string_view ns, std::string_view name,
                        const DeleteOptions& options) {
  std::string body;
  json::Writer w(body);
  w.object([&] {
    w.member("apiVersion", "v1");
    w.member("kind", "DeleteOptions");
    w.member("propagationPolicy", options.propagation);
    if (options.uid.empty() && options.resource_version.empty()) return;
    w.object("preconditions", [&] {
      if (!options.uid.empty()) w.member("uid", options.uid);
      if (!options.resource_version.empty()) w.member("resourceVersion", options.resource_version);
    });
  });
  return {.method = "DELETE",
          .path = object_path(type, ns, name) + Query().add("dryRun", options.dry_run ? "All" : "").text(),
          .body = std::move(body),
          .idempotent = true};
}

Request&& Request::metadata_only() && {
  // A server that does not know the type of answer gives the whole object.
  accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
  return std::move(*this);
}

RequestInfo request_info(std::string_view method, std::string_view path, std::string_view content_type) {
  const std::size_t mark = path.find('?');
  const std::string_view query = mark == std::string_view::npos ? std::string_view{} : path.substr(mark + 1);
  std::string_view rest = path.substr(0, mark);
  if (rest.starts_with('/')) rest.remove_prefix(1);
  RequestInfo out;
  const std::string_view root = take_path_segment(rest);
  const std::string_view group = root == "apis" ? take_path_segment(rest) : std::string_view{};
  const std::string_view version = take_path_segment(rest);
  std::string_view resource = take_path_segment(rest);
  if ((root != "api" && root != "apis") || version.empty() || resource.empty()) {
    out.verb = method == "GET" ? "get" : verb_of(method, true, false, content_type);
    return out;
  }
  // The namespace of something else, or a namespace itself.
  std::string_view name = take_path_segment(rest);
  if (resource == "namespaces" && !rest.empty()) {
    const std::string_view next = rest.substr(0, rest.find('/'));
    if (next != "status" && next != "finalize") {
      resource = take_path_segment(rest);
      name = take_path_segment(rest);
    }
  }
  out.resource = resource;
  if (!group.empty()) out.resource.append(".").append(group);
  out.subresource = take_path_segment(rest);
  out.verb = verb_of(method, !name.empty(), asks_to_watch(query), content_type);
  return out;
}

}  // namespace stackgate::kube
