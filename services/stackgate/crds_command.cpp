#include "services/stackgate/crds_command.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "crds/embedded.hpp"
#include "crds/kinds.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/kube/client.hpp"
#include "services/kit/kube/config.hpp"
#include "services/stackgate/console.hpp"
#include "services/stackgate/crds_upgrade.hpp"

namespace stackgate {

namespace {

// `stackgate crds --apply`: the definitions in this program, put into a cluster.

using Clock = std::chrono::steady_clock;
constexpr kube::ResourceType type = kube::types::custom_resource_definitions;

struct Definition {
  std::string name;
  std::string_view text;
  json::Document document;
  std::optional<kube::Object> stored;  // as it was before
};

class Run {
 public:
  Run(kube::Client& client, const CrdsOptions& options, const Console& console)
      : client_(client), options_(options), console_(console) {}

  int operator()(const std::vector<crds::Kind>& kinds) {
    bool rules = true;
    const auto version = client_.request("GET", "/version", {}, {}, true);
    if (!version) return fail(version.error().message);
    json::Document parsed;
    if (json::parse(version->body, parsed)) rules = crds_upgrade::knows_validation_rules(parsed.root);
    if (!rules)
      console_.out << "This API server is older than 1.23: the definitions go in without their validation rules, which "
                      "the admission controller holds as well.\n";

    std::vector<Definition> all(kinds.size());
    bool refused = false;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (const auto fault = look(kinds[i], all[i])) {
        fail(*fault);
        refused = true;
      }
    }
    if (refused) {
      console_.err << "Nothing was changed.\n";
      return 1;
    }
    for (Definition& each : all)
      if (const auto fault = apply(each, rules)) return fail(*fault);
    return 0;
  }

 private:
  int fail(std::string_view message) const {
    console_.err << "stackgate crds: " << message << '\n';
    return 1;
  }

  std::optional<std::string> look(crds::Kind kind, Definition& out) {
    out.text = crds::definition_json(kind);
    if (!json::parse(out.text, out.document)) return "the definition in this program is broken";
    out.name = kube::metadata(out.document.root, "name");
    auto stored = client_.get(type, {}, out.name);
    if (!stored) {
      if (stored.error().not_found()) return std::nullopt;
      return stored.error().message;
    }
    out.stored = std::move(*stored);
    return crds_upgrade::refusal(out.stored->root(), out.document.root);
  }

  std::optional<std::string> apply(const Definition& definition, bool rules) {
    auto applied = client_.apply(
        type, {}, definition.name,
        rules ? std::string(definition.text) : crds_upgrade::without_validation_rules(definition.document.root),
        {.dry_run = options_.dry_run});
    if (!applied) return applied.error().message;
    const char* would = options_.dry_run ? "would be " : "";
    if (!definition.stored) {
      console_.out << fmt::format("{} {}created\n", definition.name, would);
    } else if (const auto lines = crds_upgrade::changes(definition.stored->root(), applied->root()); lines.empty()) {
      console_.out << fmt::format("{} unchanged\n", definition.name);
    } else {
      console_.out << fmt::format("{} {}changed\n", definition.name, would);
      for (const std::string& line : lines) console_.out << "  " << line << '\n';
    }
    console_.out.flush();
    return options_.dry_run ? std::nullopt : wait_until_served(definition.name, std::move(*applied));
  }

  std::optional<std::string> wait_until_served(const std::string& name, kube::Object object) {
    const auto deadline = Clock::now() + std::chrono::seconds(options_.timeout_seconds);
    for (;;) {
      std::string why;
      if (crds_upgrade::established(object.root(), why)) return std::nullopt;
      if (Clock::now() >= deadline)
        return fmt::format("{} is not served after {} s{}{}", name, options_.timeout_seconds, why.empty() ? "" : ": ",
                           why);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      auto now = client_.get(type, {}, name);
      if (!now) return now.error().message;
      object = std::move(*now);
    }
  }

  kube::Client& client_;
  const CrdsOptions& options_;
  const Console& console_;
};

/// Looks at all first and changes nothing when one of them must not be replaced; then applies each (server-side, field
/// manager "stackgate") and waits until the API server serves it. What is the same already is not written. Prints what
/// changed. 0, or 1 when something was refused or failed: running it again goes on where it stopped.
int apply_crds(const std::vector<crds::Kind>& kinds, const CrdsOptions& options, const Console& console) {
  const auto fail = [&](std::string_view message) {
    console.err << "stackgate crds: " << message << '\n';
    return 1;
  };
  auto config = kube::find_config(options.kubeconfig, options.context);
  if (!config) return fail(config.error().message);
  for (const std::string& warning : config->warnings) console.err << "warning: " << warning << '\n';
  auto client = kube::Client::connect(std::move(*config));
  if (!client) return fail(client.error().message);
  return Run(**client, options, console)(kinds);
}

/// As kubectl takes them: by kind, plural, singular or short name, with or without the group; case does not count.
std::optional<crds::Kind> find_kind(std::string_view word) {
  if (const std::size_t dot = word.find('.'); dot != std::string_view::npos && word.substr(dot + 1) == crds::api_group)
    word = word.substr(0, dot);
  for (const crds::KindInfo& each : crds::kinds)
    if (ascii::equal_ignoring_case(word, each.name) || ascii::equal_ignoring_case(word, each.plural) ||
        ascii::equal_ignoring_case(word, each.short_name))
      return each.kind;
  return std::nullopt;
}

std::string_view nearest_kind_word(std::string_view word) {
  std::vector<std::string_view> names;
  for (const crds::KindInfo& each : crds::kinds) names.insert(names.end(), {each.name, each.plural, each.short_name});
  return validate::nearest(word, names);
}

}  // namespace

int run_crds(const CrdsOptions& options, const Console& console) {
  std::vector<crds::Kind> kinds;
  for (const std::string& word : options.kinds) {
    const auto kind = find_kind(word);
    if (!kind) {
      console.err << "stackgate: there is no kind '" << word << "'";
      if (const std::string_view near = nearest_kind_word(word); !near.empty())
        console.err << "; did you mean '" << near << "'?";
      console.err << "\nThere are";
      for (const crds::KindInfo& each : crds::kinds) console.err << ' ' << each.name << " (" << each.short_name << ')';
      console.err << ".\n";
      return 2;
    }
    if (std::ranges::find(kinds, *kind) == kinds.end()) kinds.push_back(*kind);
  }
  if (options.kinds.empty())
    for (const crds::KindInfo& each : crds::kinds) kinds.push_back(each.kind);
  if (options.apply) return apply_crds(kinds, options, console);

  std::string out;
  if (options.json) {
    json::Writer w(out);
    const auto write = [&](crds::Kind kind) { w.raw(crds::definition_json(kind)); };
    if (kinds.size() == 1) {
      write(kinds.front());
    } else {
      w.object([&] {
        w.member("apiVersion", "v1");
        w.member("kind", "List");
        w.array("items", [&] {
          for (const crds::Kind kind : kinds) write(kind);
        });
      });
    }
    out += '\n';
  } else {
    for (const crds::Kind kind : kinds) {
      if (!out.empty()) out += "---\n";
      out += crds::definition_yaml(kind);
      if (!out.ends_with('\n')) out += '\n';
    }
  }
  console.out << out;
  return 0;
}

}  // namespace stackgate
