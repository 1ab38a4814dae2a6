#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/grammar/host.hpp"
#include "services/kit/grammar/integer_text.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/common/single_values.hpp"
#include "validators/rules/context.hpp"
#include "validators/rules/kinds.hpp"

namespace stackgate::validate {

namespace {

std::optional<grammar::Problem> parallelism_problem(std::string_view text) {
  auto number = grammar::parse_positive_integer(text);
  if (!number) return number.error();
  if (*number > 1024)
    return grammar::Problem{"is more GPUs than any group has", "write the number of GPUs, for example \"8\""};
  return std::nullopt;
}

std::optional<grammar::Problem> repository_problem(std::string_view text) {
  const auto part_is_good = [](std::string_view part) {
    return !part.empty() && part != "." && part != ".." && !part.ends_with(".git") &&
           std::ranges::all_of(part,
                               [](char c) { return ascii::is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
  };
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos && part_is_good(text.substr(0, slash)) && part_is_good(text.substr(slash + 1)))
    return std::nullopt;
  return grammar::Problem{"must be <owner>/<name> of letters, digits, '-', '_' and '.'",
                          "write for example models/llm-8b"};
}

/// git-check-ref-format(1), as far as it concerns one branch, tag or commit.
std::optional<grammar::Problem> revision_problem(std::string_view text) {
  const bool bad_character = std::ranges::any_of(text, [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f ||
           std::string_view("~^:?*[\\").find(c) != std::string_view::npos;
  });
  const bool bad_form = text.starts_with('-') || text.starts_with('/') || text.ends_with('/') || text.ends_with('.') ||
                        text.ends_with(".lock") || text.find("..") != std::string_view::npos ||
                        text.find("@{") != std::string_view::npos || text.find("//") != std::string_view::npos;
  if (!bad_character && !bad_form) return std::nullopt;
  return grammar::Problem{"is no name that Git takes for a branch, tag or commit", "write for example main or v1.0"};
}

void check_model(Context& context, const Field& model) {
  if (model.absent()) return;
  check_text(context, rule::cache_tensor_parallelism, model["tensorParallelism"], parallelism_problem);
  const Field profiles = model["profiles"];
  if (profiles.size() == 0) return;
  for (const char* filter : {"engine", "tensorParallelism", "precision", "lora"})
    if (const Field field = model[filter]; field.present())
      context.report(rule::cache_profiles_and_filters, field, "has no effect: the profiles are named one by one",
                     "take it out, or take profiles out");
  for (const Field profile : profiles.items())
    if (profile.text() == "all" && profiles.size() > 1)
      context.report(rule::cache_profiles_and_filters, profile, "means every profile and needs no others beside it",
                     "write profiles: [all], or take all out");
}

void check_cache_source(Context& context, const Field& source) {
  if (source.absent() || !source.value()->is_object()) return;
  const Field registry = source["registry"];
  const Field datastore = source["datastore"];
  if (registry.present() && datastore.present())
    context.report(rule::cache_source_exactly_one, source, "registry and datastore are both named",
                   "keep the one that the model comes from");
  else if (registry.absent() && datastore.absent() && !source.has_misspelt("registry") &&
           !source.has_misspelt("datastore"))
    context.report(rule::cache_source_exactly_one, source, "names no source", "add registry or datastore");
  check_image_reference(context, registry["modelPuller"]);
  check_object_name(context, registry["pullSecret"]);
  check_object_name(context, registry["authSecret"]);
  check_endpoint(context, registry["endpoint"]);
  check_model(context, registry["model"]);
  check_endpoint(context, datastore["endpoint"]);
  check_text(context, rule::repository_name, datastore["repository"], repository_problem);
  check_text(context, rule::git_revision, datastore["revision"], revision_problem);
  check_object_name(context, datastore["authSecret"]);
}

constexpr std::size_t longest_entry = 80;  // of what is quoted; the grammar stops at 20 faults

void check_proxy(Context& context, const Field& proxy) {
  if (proxy.absent()) return;
  check_endpoint(context, proxy["httpProxy"]);
  check_endpoint(context, proxy["httpsProxy"]);
  check_object_name(context, proxy["caConfigMap"]);
  const Field list = proxy["noProxy"];
  if (!list.present() || !list.value()->is_string()) return;
  const std::string_view text = list.value()->string();
  for (grammar::TokenProblem& each : grammar::check_no_proxy(text))
    context.report(
        rule::no_proxy, list,
        fmt::format("\"{}\" {}", text.substr(each.offset, std::min(each.length, longest_entry)), each.problem.problem),
        std::move(each.problem.fix));
}

void check_owner(Context& context, const Field& id, const char* what) {
  if (id.present() && id.integer() == 0)
    context.report(rule::cache_identity_root, id,
                   fmt::format("{} 0 is root's, and the download does not run as root", what),
                   "write another number, for example 1000, or take it out");
}

}  // namespace

void check_inference_cache(Context& context, Field object) {
  const Field spec = object["spec"];
  check_cache_source(context, spec["source"]);
  const Field pvc = spec["storage"]["pvc"];
  check_claim(context, pvc);
  if (const Field mode = pvc["volumeAccessMode"]; mode.text() == "ReadOnlyMany")
    context.report(rule::cache_volume_read_only, mode, "nothing can be downloaded to a volume that is read only",
                   "write ReadWriteMany, or ReadWriteOnce for servers on one node");
  check_proxy(context, spec["proxy"]);
  check_owner(context, spec["userID"], "user");
  check_owner(context, spec["groupID"], "group");
  check_resources(context, spec["resources"]);
  check_tolerations(context, spec["tolerations"]);
  check_labels(context, spec["nodeSelector"]);
}

}  // namespace stackgate::validate
