#include <algorithm>
#include <set>

#include "services/guardrail/configuration/folder.hpp"
#include "services/guardrail/configuration/parts.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/concat.hpp"
#include "services/kit/yaml/parse.hpp"

namespace stackgate::guardrail {
namespace {

constexpr json::ParseLimits limits{.max_depth = 48, .max_bytes = 1U << 20U};

bool is_secret_name(std::string_view key) {
  std::string name = ascii::to_lower(key);
  std::ranges::replace(name, '-', '_');
  for (const std::string_view each :
       {"api_key", "apikey", "token", "password", "secret", "authorization", "credential"})
    if (name == each || name.ends_with(concat({"_", each})) || (each == "api_key" && name.contains(each)))
      return !name.ends_with("_env_var") && name != "mask_token";
  return false;
}

/// "https://name:password@host".
bool has_user_information(std::string_view text) {
  const std::size_t scheme = text.find("://");
  if (scheme > 10) return false;  // none, or a long one
  const std::string_view host = text.substr(scheme + 3, text.find_first_of("/?#", scheme + 3) - scheme - 3);
  return host.contains('@');
}

void check_secrets(const Tree& tree, const std::string& path, Report& report) {
  for (std::size_t i = 0; i < tree.items.size(); ++i)
    check_secrets(tree.items[i], concat({path, "[", std::to_string(i), "]"}), report);
  if (tree.is(json::Type::string) && has_user_information(tree.text))
    report.error(rule::secret, tree.origin, path, "has user information in its address",
                 "write the address without it, and the key's environment variable into api_key_env_var");
  for (const Tree& each : tree.members) {
    const std::string below = path.empty() ? each.key : concat({path, ".", each.key});
    const bool holds = !each.is_null() && !each.is(json::Type::boolean) && !each.scalar().empty();
    if (holds && is_secret_name(each.key))
      report.error(rule::secret, each.key_origin, below, "holds a secret, which does not belong into a file",
                   below.starts_with("models") ? "remove it, and name the environment variable that holds it: "
                                                 "api_key_env_var: OPENAI_API_KEY, beside engine"
                                               : "remove it; code of your own reads it from the environment");
    else
      check_secrets(each, below, report);
  }
}

void read_file(const File& file, std::uint32_t number, Tree& into, std::vector<Conflict>& conflicts, Report& report) {
  const yaml::Stream stream = yaml::parse(file.text, limits);
  if (stream.failed)
    return report.error(rule::yaml, {number, stream.error.offset}, {}, stream.error.message, "correct the YAML");
  for (const json::Document& document : stream.documents) {
    if (document.root.is_null()) continue;
    if (document.root.is_object())
      join(into, tree_of(document.root, number), conflicts);
    else
      report.error(rule::type, {number, document.root.offset()}, {}, "must be a mapping of keys",
                   "write keys such as `models:` and `rails:`");
  }
}

Tree* member(Tree& of, std::string_view key) {
  const auto found = std::ranges::find(of.members, key, &Tree::key);
  return found == of.members.end() ? nullptr : &*found;
}

/// Whether a configuration has a model of the same type.
bool defines(const Tree& root, const Tree& model) {
  const Tree* models = root.find("models");
  return models != nullptr && std::ranges::any_of(models->items, [&](const Tree& each) {
           return text_of(&each, "type") == text_of(&model, "type");
         });
}

void drop_equal_texts(Tree& tree) {
  std::set<std::string, std::less<>> seen;
  std::erase_if(tree.items,
                [&](const Tree& each) { return each.is(json::Type::string) && !seen.insert(each.text).second; });
  for (Tree& each : tree.members) drop_equal_texts(each);
}

}  // namespace

Tree read_yaml(const std::vector<File>& files, const std::vector<std::size_t>& parts, Report& report) {
  Tree root{.type = json::Type::object};
  std::vector<Conflict> conflicts;
  std::uint32_t file = 0;
  for (const std::size_t count : parts) {
    Tree part{.type = json::Type::object};
    for (const std::uint32_t end = file + static_cast<std::uint32_t>(count); file < end; ++file)
      if (kind_of(files[file].name) == FileKind::yaml) read_file(files[file], file, part, conflicts, report);
    if (Tree* models = member(root, "models"))
      std::erase_if(models->items, [&](const Tree& model) { return defines(part, model); });
    join(root, std::move(part), conflicts);
    if (Tree* rails = member(root, "rails"); rails != nullptr && parts.size() > 1) drop_equal_texts(*rails);
  }
  for (const Conflict& each : conflicts)
    report.error(rule::conflict, each.later, each.path,
                 concat({"is of another type than at ", report.where(each.earlier)}),
                 "give the key the same type in all files");
  return root;
}

void check_secrets(const Tree& root, Report& report) { check_secrets(root, {}, report); }

std::string text_of(const Tree* tree, std::string_view key, std::string_view fallback) {
  const Tree* found = tree == nullptr ? nullptr : tree->find(key);
  return found != nullptr && found->is(json::Type::string) ? found->text : std::string(fallback);
}
bool flag_of(const Tree* tree, std::string_view key, bool fallback) {
  const Tree* found = tree == nullptr ? nullptr : tree->find(key);
  return found != nullptr && found->is(json::Type::boolean) ? found->flag : fallback;
}
double number_of(const Tree* tree, std::string_view key, double fallback) {
  const Tree* found = tree == nullptr ? nullptr : tree->find(key);
  return found != nullptr && found->is_number() ? found->number : fallback;
}
std::vector<std::string> texts_of(const Tree* tree, std::string_view key) {
  std::vector<std::string> out;
  const Tree* found = tree == nullptr ? nullptr : tree->find(key);
  if (found == nullptr) return out;
  for (const Tree& each : found->items)
    if (each.is(json::Type::string)) out.push_back(each.text);
  return out;
}

}  // namespace stackgate::guardrail
