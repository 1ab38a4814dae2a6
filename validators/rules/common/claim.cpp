#include "services/kit/grammar/names.hpp"
#include "services/kit/grammar/path_names.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"

namespace stackgate::validate {
namespace {

void check_created_claim(Context& context, const Field& pvc) {
  const Field size = pvc["size"];
  if (size.absent() && !pvc.has_misspelt("size"))
    context.report(rule::pvc_create_incomplete, size, "a claim that is created needs a size",
                   "add size, for example 100Gi");
  if (const Field mode = pvc["volumeAccessMode"]; mode.absent() && !pvc.has_misspelt("volumeAccessMode"))
    context.report(rule::pvc_create_incomplete, mode, "a claim that is created needs an access mode",
                   "add volumeAccessMode: ReadWriteOnce, or ReadWriteMany for pods on several nodes");
}

void check_existing_claim_fields(Context& context, const Field& pvc) {
  if (const Field name = pvc["name"]; name.absent() && !pvc.has_misspelt("name"))
    context.report(rule::pvc_name_missing, name, "without create the claim must exist already, but none is named",
                   "add name with the claim's name, or create: true");
  for (const char* unused : {"size", "storageClass"})
    if (const Field field = pvc[unused]; field.present())
      context.report(rule::pvc_settings_ignored, field, "is ignored: the claim is not created here",
                     "take it out, or write create: true");
}

}  // namespace

void check_claim_size(Context& context, Field size) {
  const auto amount = checked_quantity(context, size);
  if (!amount) return;
  if (amount->sign() == 0)
    context.report(rule::pvc_size_zero, size, "a claim cannot be empty", "write a size above 0, for example 100Gi");
  else
    check_bytes(context, size, *amount, Bytes::of_claim, "100Gi");
}

void check_claim(Context& context, Field pvc) {
  if (pvc.absent() || !pvc.value()->is_object()) return;
  const Field create = pvc["create"];
  if (create.flag().value_or(false))
    check_created_claim(context, pvc);
  else if (create.absent() ? !pvc.has_misspelt("create")
                           : create.value()->is_boolean())  // of another type: what is meant is not known
    check_existing_claim_fields(context, pvc);
  check_object_name(context, pvc["name"]);
  check_claim_size(context, pvc["size"]);
  if (const Field storage_class = pvc["storageClass"]; storage_class.text() && !storage_class.text()->empty())
    check_text(context, rule::storage_class_name, storage_class, grammar::check_dns_subdomain);
  if (const Field sub_path = pvc["subPath"]; sub_path.text() && !sub_path.text()->empty())
    check_text(context, rule::pvc_sub_path, sub_path, grammar::check_relative_sub_path);
}

}  // namespace stackgate::validate
