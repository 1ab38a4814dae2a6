#include <algorithm>
#include <array>
#include <ranges>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "services/kit/findings/nearest.hpp"
#include "services/kit/grammar/characters.hpp"
#include "services/kit/grammar/names.hpp"
#include "services/kit/grammar/path_names.hpp"
#include "services/kit/schema/check.hpp"
#include "validators/rules/common.hpp"
#include "validators/rules/stack_parts.hpp"

namespace stackgate::validate {
namespace training_rules {

/// Filled in for each pod when a job starts: what the launchers of PyTorch read.
constexpr std::array<std::string_view, 8> set_for_each_pod{
    "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "LOCAL_RANK", "NNODES", "NODE_RANK", "NPROC_PER_NODE"};

/// NCCL and its plugins, UCX, UCC, HCOLL, Gloo, MPI, libfabric, verbs, PyTorch's own switches for them.
constexpr std::array<std::string_view, 16> network_prefixes{
    "NCCL_",  "RCCL_", "OFI_NCCL_", "TORCH_NCCL_", "UCX_", "UCC_",  "TORCH_UCC_", "HCOLL_",
    "SHARP_", "GLOO_", "OMPI_MCA_", "FI_",         "IBV_", "MLX5_", "RDMAV_",     "PMIX_MCA_"};

constexpr std::string_view own_folder = "write a folder of its own, for example \"/pvc/workspace\"";

/// Of the kernel, and where pods get their tokens: nothing below them either.
constexpr std::array<std::string_view, 5> closed_folders{"/dev", "/proc", "/sys", "/run/secrets", "/var/run/secrets"};

/// What an image's programs and libraries stand in. A folder below may be a volume: /usr/local/models.
constexpr std::array<std::string_view, 15> image_folders{
    "/bin", "/boot",    "/etc",     "/lib",       "/lib32",     "/lib64",    "/run",    "/sbin",
    "/usr", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/local", "/usr/sbin", "/var/run"};

constexpr std::int64_t shortest_sensible_timeout = 60;

bool has_network_prefix(std::string_view name) {
  return std::ranges::any_of(network_prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// "NCLL_DEBUG" → "NCCL_DEBUG", when the part before the first '_' is close to a known prefix.
std::string corrected_prefix(std::string_view name) {
  std::string upper = [&] {
    std::string out(name);
    std::ranges::transform(out, out.begin(),
                           [](char c) { return grammar::is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c; });
    return out;
  }();
  if (has_network_prefix(upper)) return upper;
  const std::size_t end = upper.find('_');
  if (end == std::string::npos) return {};
  const std::string_view near = nearest(std::string_view(upper).substr(0, end + 1), network_prefixes);
  return near.empty() ? std::string{} : std::string(near) + upper.substr(end + 1);
}

void check_reserved(Context& context, const Field& list) {
  for (const Field item : list.items()) {
    const Field name = item["name"];
    const auto text = name.text();
    if (text && std::ranges::find(set_for_each_pod, *text) != set_for_each_pod.end())
      context.report(rule::training_env_reserved, name, fmt::format("{} is set for each pod when a job starts", *text),
                     "remove this entry");
  }
}

void check_overlap(Context& context, const Field& env, const Field& network) {
  if (env.size() == 0 || network.size() == 0) return;
  std::unordered_map<std::string_view, Field> first;
  for (const Field item : env.items())
    if (const auto text = item["name"].text()) first.emplace(*text, item["name"]);
  for (const Field item : network.items()) {
    const Field name = item["name"];
    const auto text = name.text();
    if (!text) continue;
    if (const auto twin = first.find(*text); twin != first.end())
      context.report(rule::training_env_overlap, name,
                     fmt::format("{} is set in {} too", *text, to_string(twin->second.path())),
                     "keep one of the two entries");
  }
}

void check_network_names(Context& context, const Field& network) {
  for (const Field item : network.items()) {
    const Field name = item["name"];
    const auto text = name.text();
    if (!text || text->empty() || has_network_prefix(*text) || grammar::check_env_name(*text)) continue;
    if (std::ranges::find(set_for_each_pod, *text) != set_for_each_pod.end()) continue;  // training-env-reserved
    const std::string better = corrected_prefix(*text);
    context.report(rule::network_variable_unknown, name, "is no variable of a communication library, by its prefix",
                   better.empty() ? "write one that begins with NCCL_, UCX_ or the like, or move it to env"
                                  : fmt::format("did you mean {}?", better));
  }
}

/// "//usr/./lib/" → "/usr/lib"; empty for the root.
std::string plain_path(std::string_view path) {
  std::string out;
  for (const auto each : std::views::split(path, '/'))
    if (const std::string_view part(each); !part.empty() && part != ".") out.append("/").append(part);
  return out;
}

std::string_view covered_system_folder(std::string_view folder) {
  for (const std::string_view closed : closed_folders)
    if (folder == closed || (folder.starts_with(closed) && folder[closed.size()] == '/')) return closed;
  const auto image = std::ranges::find(image_folders, folder);
  return image == image_folders.end() ? std::string_view{} : *image;
}

/// "workspace", for which "/workspace" is the cure; not "usr". What is wrong in another way has a cure of its own.
bool may_be_made_absolute(std::string_view path) {
  if (path.empty() || path.starts_with('/')) return true;
  const std::string folder = plain_path(path);
  return !folder.empty() && covered_system_folder(folder).empty();
}

void check_workspace(Context& context, const Field& workspace) {
  check_claim_size(context, workspace["size"]);
  const Field path = workspace["mountPath"];
  const auto text = path.text();
  if (!text) return;
  if (const auto bad = grammar::check_mount_path(*text))
    return context.report(rule::mount_path_invalid, path, bad->problem,
                          may_be_made_absolute(*text) ? bad->fix : std::string(own_folder));
  const std::string folder = plain_path(*text);
  if (folder.empty())
    return context.report(rule::mount_path_invalid, path, "a volume cannot be mounted over the whole image",
                          std::string(own_folder));
  const std::string_view system = covered_system_folder(folder);
  if (system.empty()) return;
  context.report(rule::mount_path_invalid, path,
                 folder == system ? fmt::format("a volume must not cover the system folder {}", system)
                                  : fmt::format("a volume must not be mounted inside the system folder {}", system),
                 std::string(own_folder));
}

void check_claim_names(Context& context, const Field& training) {
  check_claim(context, training["modelPVC"]);
  const Field storage_class = training["workspacePVC"]["storageClass"];
  if (const auto text = storage_class.text(); text && !text->empty()) check_object_name(context, storage_class);
}

}  // namespace training_rules

void check_training(Context& context, Field training) {
  using namespace training_rules;
  if (!training) return;
  check_object_name(context, training["configMap"]["name"]);
  check_claim_names(context, training);
  check_workspace(context, training["workspacePVC"]);
  check_image(context, training["image"]);
  const Field env = training["env"];
  const Field network = training["networkConfig"];
  check_env(context, env);
  check_env(context, network);
  check_reserved(context, env);
  check_reserved(context, network);
  check_overlap(context, env, network);
  check_network_names(context, network);
  check_tolerations(context, training["tolerations"]);
  const Field timeout = training["timeout"];
  if (const auto seconds = timeout.integer(); seconds && *seconds >= 1 && *seconds < shortest_sensible_timeout)
    context.report(rule::training_timeout_short, timeout,
                   fmt::format("each training job would be stopped after {} seconds", *seconds),
                   "write seconds, for example 86400 for a day");
}

}  // namespace stackgate::validate
