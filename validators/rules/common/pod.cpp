// What users may set on the pods themselves.
#include <array>
#include <unordered_set>

#include <fmt/format.h>

#include "services/kit/grammar/names.hpp"
#include "services/kit/grammar/path_names.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"

namespace stackgate::validate {
namespace {

/// The labels of every child: selectors depend on them.
constexpr std::array<std::string_view, 6> operator_labels{"app",
                                                          "app.kubernetes.io/name",
                                                          "app.kubernetes.io/instance",
                                                          "app.kubernetes.io/component",
                                                          "app.kubernetes.io/part-of",
                                                          "app.kubernetes.io/managed-by"};

/// k8s.io/kubernetes/pkg/apis/core/validation, SysctlFmt: parts of lower-case letters, digits, '-' and '_', between
/// dots or slashes.
std::optional<grammar::Problem> sysctl_problem(std::string_view name) {
  grammar::Problem bad{"is no name of a kernel setting", "write for example net.ipv4.tcp_syncookies"};
  bool inside = false;
  for (const char c : name) {
    const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (c == '.' || c == '/') {
      if (!inside) return bad;
      inside = false;
    } else if (alphanumeric || ((c == '-' || c == '_') && inside)) {
      inside = true;
    } else {
      return bad;
    }
  }
  if (!inside || name.ends_with('-') || name.ends_with('_')) return bad;
  return std::nullopt;
}

}  // namespace

void check_security_context(Context& context, Field security_context) {
  if (security_context.absent()) return;
  const Field user = security_context["runAsUser"];
  if (security_context["runAsNonRoot"].flag().value_or(false) && user.present() && user.integer() == 0)
    context.report(rule::root_with_non_root, user, "user 0 is root, which runAsNonRoot: true refuses",
                   "write another user, for example 1000, or runAsNonRoot: false");
  const Field seccomp = security_context["seccompProfile"];
  const Field profile = seccomp["localhostProfile"];
  const auto type = seccomp["type"].text();
  if (type == "Localhost" && profile.absent() && !seccomp.has_misspelt("localhostProfile"))
    context.report(rule::seccomp_profile, profile, "type Localhost needs the file of its profile",
                   "add localhostProfile: profiles/<name>.json");
  else if (type && type != "Localhost" && profile.present())
    context.report(rule::seccomp_profile, profile, fmt::format("type {} reads no file", *type),
                   "take localhostProfile out, or write type: Localhost");
  if (type == "Localhost") check_text(context, rule::seccomp_profile, profile, grammar::check_relative_sub_path);
  std::unordered_set<std::string_view> settings;
  for (const Field sysctl : security_context["sysctls"].items()) {
    const Field name = sysctl["name"];
    check_text(context, rule::sysctl_name, name, sysctl_problem);
    if (name.present() && name.text() && !settings.insert(*name.text()).second)
      context.report(rule::sysctl_name, name, "is set twice", "keep one of the two entries");
  }
}

void check_pod_knobs(Context& context, Field spec) {
  check_labels(context, spec["nodeSelector"]);
  check_tolerations(context, spec["tolerations"]);
  check_affinity(context, spec["affinity"]);
  if (const Field labels = spec["labels"]; labels.present()) {
    check_labels(context, labels);
    for (const std::string_view own : operator_labels)
      if (const Field label = labels[own]; label.present())
        context.report(rule::label_reserved, label, "the operator sets this label itself", "take it out");
  }
  check_annotations(context, spec["annotations"]);
  check_security_context(context, spec["podSecurityContext"]);
  for (const char* name : {"serviceAccountName", "priorityClassName", "runtimeClassName"})
    check_object_name(context, spec[name]);
}

}  // namespace stackgate::validate
