// Which adapters each engine should have, and what is to be done so that it has them. Pure and thread-safe.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/inference/upstream/plan/answers.hpp"

namespace stackgate::inference::upstream {

/// A name that requests may use, as inference::NamedAdapter gives it. Several names may mean the same version.
struct OfferedAdapter {
  std::string name;  // "support", "support@1.0.0"
  std::uint64_t key = 0;
  std::string directory;  // on our disk, another one for each version
  bool has_patterns = false;
};

/// One version, as engines should have it.
struct WantedAdapter {
  std::string name;  // there: the shortest of its names
  std::string path;  // of its directory, as engines see it
  std::uint64_t key = 0;
  std::vector<std::string> names;  // all that requests may use
  std::string hindrance;           // why no engine gets it; empty: it may be handed over
};

/// By name. Directories below `ours` are handed over as those below `theirs`; an empty `theirs` changes nothing.
/// vLLM and SGLang scale all modules alike, so adapters with rank_pattern or alpha_pattern are not for them.
std::vector<WantedAdapter> wanted_adapters(std::span<const OfferedAdapter> offered, Kind kind, std::string_view ours,
                                           std::string_view theirs);

struct Step {
  enum class Action : std::uint8_t { load, replace, unload } action = Action::load;
  std::string name;
  std::string path{};  // not of unload
  bool operator==(const Step&) const = default;
};

/// What an engine that takes adapters lacks and has too much, by its list of models; a restarted one has lost all. An
/// adapter that it lists without a directory is what `handed` says, the path of each name that we have loaded there.
/// Those that others have loaded, from outside `theirs` and not by us, stay unless one of ours has their name.
/// Unloading comes first.
std::vector<Step> steps(const std::vector<WantedAdapter>& wanted, const std::vector<ListedModel>& listed,
                        const std::map<std::string, std::string, std::less<>>& handed, std::string_view theirs);

/// Of `listed`, what is not ours: models, and adapters that steps() lets stay. In their order.
std::vector<ListedModel> of_others(const std::vector<WantedAdapter>& wanted, const std::vector<ListedModel>& listed,
                                   const std::map<std::string, std::string, std::less<>>& handed,
                                   std::string_view theirs);

/// Of a call about an adapter: what comes next. Older versions do not know load_inplace, and say that it is there.
enum class Next : std::uint8_t { done, unload_and_load, failed };
Next after(Step::Action action, int status, std::string_view body);

}  // namespace stackgate::inference::upstream
