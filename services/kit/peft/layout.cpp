#include "services/kit/peft/layout.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/archive/entry_name.hpp"
#include "services/kit/peft/finding.hpp"

namespace stackgate::peft {
namespace layout_detail {

using archive::Entry;

/// NeMo's own packing: a model_config.yaml beside a checkpoint, or a .nemo inside the archive.
bool is_nemo(const std::vector<Entry>& files) {
  const auto has = [&](std::string_view end) {
    return std::ranges::any_of(files, [end](const Entry& e) { return e.name.ends_with(end); });
  };
  return has(".nemo") || (has("model_config.yaml") && (has(".ckpt") || has("model_weights.ckpt")));
}

std::string elsewhere(const std::vector<Entry>& files, std::string_view name) {
  const auto found = std::ranges::find_if(files, [name](const Entry& e) {
    return e.name.ends_with(name) && (e.name.size() == name.size() || e.name[e.name.size() - name.size() - 1] == '/');
  });
  return found == files.end() ? std::string() : found->name;
}

}  // namespace layout_detail

validate::Finding nemo_finding() {
  return {.rule = "adapter-archive-nemo",
          .path = "adapter",
          .problem = "is a NeMo checkpoint, which this store does not serve",
          .fix = "convert it to the PEFT format (adapter_config.json and adapter_model.safetensors)"};
}

bool may_be(std::string_view entry, std::string_view name) {
  const auto slash = entry.find('/');
  return entry == name || (slash != std::string_view::npos && entry.substr(slash + 1) == name);
}

Layout read_layout(const std::vector<archive::Entry>& files, std::span<const std::string_view> reserved) {
  namespace d = layout_detail;
  Layout out;
  if (files.empty()) {
    add(out.findings, "adapter-archive-empty", "adapter", "holds no files",
        fmt::format("pack {} and {}", config_name, weights_name));
    return out;
  }
  if (d::is_nemo(files)) {
    out.findings.push_back(nemo_finding());
    return out;
  }
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const archive::Entry& file : files) names.push_back(file.name);
  out.folder = archive::common_folder(names);
  const auto has = [&](std::string_view name) {
    return std::ranges::find(names, out.folder + std::string(name)) != names.end();
  };
  out.has_config = has(config_name);
  out.has_weights = has(weights_name);
  out.has_pickle = has(pickle_name);
  const auto missing = [&](std::string_view name) {
    const std::string other = d::elsewhere(files, name);
    add(out.findings, "adapter-file-missing", fmt::format("adapter[{}]", name),
        other.empty() ? std::string("is missing") : fmt::format("is missing; \"{}\" lies too deep", other),
        "pack it at the archive's root or in one folder");
  };
  if (!out.has_config) missing(config_name);
  if (!out.has_weights && !out.has_pickle) missing(weights_name);
  if (out.has_pickle)
    warn(out.findings, "adapter-pickle", fmt::format("adapter[{}]", pickle_name),
         "is a pickle, which can run code where it is loaded; it is stored but was not checked",
         "save the weights as safetensors");
  for (const std::string_view taken : reserved)
    if (has(taken))
      add(out.findings, "adapter-archive-name", fmt::format("adapter[{}]", taken),
          "has a name that this store gives to a file of its own", "give it another name");
  return out;
}

}  // namespace stackgate::peft
