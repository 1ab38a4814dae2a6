// API requests as values, and what a request path means.
// Sources: https://kubernetes.io/docs/reference/using-api/api-concepts/,
//          https://kubernetes.io/docs/reference/using-api/server-side-apply/
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "services/kit/kube/resource.hpp"

namespace stackgate::kube {

struct ApplyOptions {
  std::string_view field_manager = "stackgate";
  bool force = true;  // take fields over from other managers
  bool dry_run = false;
  std::string_view subresource = {};
};

enum class PatchType : std::uint8_t { json, merge, strategic };

struct DeleteOptions {
  std::string_view propagation = "Background";  // Foreground, Orphan
  std::string_view uid = {};                    // preconditions: only this very object …
  std::string_view resource_version = {};       // … in this very state
  bool dry_run = false;
};

struct Request {
  std::string method = "GET";
  std::string path;  // from the first slash, with its query; escaped already
  std::string body;
  std::string content_type = "application/json";  // sent when there is a body
  std::string accept = "application/json";
  bool idempotent = false;  // whether it may be sent twice; see may_retry()

  // For Transport::send(); a Client sets them by its CallOptions.
  std::chrono::milliseconds timeout{30'000};  // of the whole exchange; 0: none
  std::chrono::milliseconds connect_timeout{5'000};
  bool endless = false;           // a watch: most of the time nothing comes
  bool fresh_connection = false;  // after a stall: the pooled connection may be dead

  static Request get(const ResourceType& type, std::string_view ns, std::string_view name);
  static Request create(const ResourceType& type, std::string_view ns, std::string json, bool dry_run = false);
  /// PUT: with metadata.resourceVersion in `json`, a stored object that has moved on answers Conflict.
  static Request replace(const ResourceType& type, std::string_view ns, std::string_view name, std::string json,
                         std::string_view subresource = {});
  /// Server-side apply. `json` needs apiVersion, kind and metadata.name.
  static Request apply(const ResourceType& type, std::string_view ns, std::string_view name, std::string json,
                       const ApplyOptions& options = {});
  /// A JSON patch whose "test" fails answers 422; one on a list index that is not there, too.
  static Request patch(const ResourceType& type, std::string_view ns, std::string_view name, PatchType patch_type,
                       std::string json, std::string_view subresource = {});
  static Request remove(const ResourceType& type, std::string_view ns, std::string_view name,
                        const DeleteOptions& options = {});

  /// The answer shall hold apiVersion, kind and metadata only (PartialObjectMetadata).
  Request&& metadata_only() &&;
};

/// What a request is about, in the words of the API server's own metrics. The views are into its argument's text.
struct RequestInfo {
  std::string_view verb;  // get, list, watch, create, update, patch, apply, delete, deletecollection
  std::string resource;   // "configmaps", "leases.coordination.k8s.io"; "" for paths like /version
  std::string_view subresource;
};
RequestInfo request_info(std::string_view method, std::string_view path, std::string_view content_type);

}  // namespace stackgate::kube
