// Rules of the sub-objects that several kinds share. Each takes the sub-object itself and does nothing when it is
// absent.
#pragma once
#include <string_view>

#include "validators/rules/context.hpp"

namespace stackgate::validate {

// --- Names and other single values (silent when the field is absent or no string) ---
void check_object_name(Context& context, Field name);  // a Secret, ConfigMap, claim, … : DNS-1123 subdomain
void check_secret_key(Context& context, Field key);    // [-._a-zA-Z0-9]+, at most 253
void check_env_name(Context& context, Field name);
void check_image_reference(Context& context,
                           Field image);  // a whole reference in one string: repository[:tag][@digest]

/// An http or https URL with a host and without user information.
void check_endpoint(Context& context, Field url);

// --- Sub-objects ---
void check_image(Context& context, Field image);          // {repository, tag, pullPolicy, pullSecrets}
void check_expose(Context& context, Field expose);        // service, ingress, httpRoute
void check_resources(Context& context, Field resources);  // {requests, limits}
void check_env(Context& context, Field env);              // [{name, value}]: grammar and duplicates
void check_claim(Context& context, Field pvc);        // create needs size and access mode, otherwise a name; subPath
void check_claim_size(Context& context, Field size);  // above 0, whole bytes
void check_database(Context& context, Field database);
void check_metrics(Context& context, Field metrics);
void check_otel(Context& context, Field otel);
void check_tolerations(Context& context, Field tolerations);
void check_security_context(Context& context, Field security_context);  // of a pod: ids, runAsNonRoot
/// nodeSelector, tolerations, affinity, labels, annotations, podSecurityContext, serviceAccountName, priorityClassName,
/// runtimeClassName.
void check_pod_knobs(Context& context, Field spec);
void check_affinity(Context& context, const Field& affinity);
void check_label_selector(Context& context, const Field& selector);  // {matchLabels, matchExpressions}

/// Whether a resource name counts as a GPU: any that ends in "/gpu", and those that are named as such beside it.
bool is_gpu(std::string_view resource_name, const std::vector<std::string>& others);
inline bool is_gpu(const Context& context, std::string_view resource_name) {
  return is_gpu(resource_name, context.options.gpu_resources);
}

}  // namespace stackgate::validate
