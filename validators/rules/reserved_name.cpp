#include "validators/rules/reserved_name.hpp"

namespace stackgate::validate {

// Sources: the ServiceAccount controller makes "default" in every namespace and makes it anew when it is deleted
// (kubernetes.io, "Managing Service Accounts"); kube-apiserver keeps the Service "kubernetes" in namespace "default".
void check_reserved_names(Context& context, const Field& name, const Field& spec, std::string_view ns) {
  const auto text = name.text();
  if (text == "default" && spec["serviceAccountName"].text().value_or("").empty() &&
      !spec.has_misspelt("serviceAccountName"))
    context.report(rule::name_reserved, name,
                   "every namespace has a ServiceAccount of this name already, which is not the operator's to change",
                   "choose another name, or name the ServiceAccount to use in serviceAccountName");
  if (text == "kubernetes" && ns == "default")
    context.report(rule::name_reserved, name, "in this namespace the API server has its own Service under this name",
                   "choose another name, or another namespace");
}

}  // namespace stackgate::validate
