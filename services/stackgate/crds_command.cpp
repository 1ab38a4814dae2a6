#include "services/stackgate/crds_command.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "crds/embedded.hpp"
#include "crds/kinds.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/json/write.hpp"
#include "services/stackgate/crds_apply.hpp"

namespace stackgate {

namespace {

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// As kubectl takes them: by kind, plural, singular or short name, with or without the group; case does not count.
std::optional<crds::Kind> find_kind(std::string_view word) {
  if (const std::size_t dot = word.find('.'); dot != std::string_view::npos && word.substr(dot + 1) == crds::api_group)
    word = word.substr(0, dot);
  for (const crds::KindInfo& each : crds::kinds)
    if (same_word(word, each.name) || same_word(word, each.plural) || same_word(word, each.short_name))
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
        w.key("items");
        w.array([&] {
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
