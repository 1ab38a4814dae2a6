#include "services/kit/grammar/dataset_reference.hpp"

#include <algorithm>
#include <ranges>
#include <string>

#include "services/kit/base/concat.hpp"
#include "services/kit/grammar/characters.hpp"

namespace stackgate::validate::grammar {
namespace {

constexpr std::string_view dataset_scheme = "hf://datasets/";
constexpr std::string_view forms =
    "write \"<namespace>/<name>\" or \"hf://datasets/<namespace>/<name>/<path>\", "
    "each with \"@<revision>\" where it is not the main branch";

std::unexpected<Problem> wrong(std::string problem, std::string_view fix = forms) {
  return std::unexpected(Problem{std::move(problem), std::string(fix)});
}

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && is_alphanumeric(name.front()) && !name.ends_with('.') &&
         std::ranges::all_of(name, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// Cuts what follows the first '@' off `text`.
std::optional<std::string_view> cut_revision(std::string_view& text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view revision = text.substr(at + 1);
  text = text.substr(0, at);
  return revision;
}

}  // namespace

std::optional<Problem> check_repository_path(std::string_view text) {
  const auto fault = [](std::string problem) {
    return Problem{std::move(problem),
                   "write the path of a file or folder of the repository, such as \"data/test.jsonl\""};
  };
  if (text.empty()) return fault("must not be empty");
  if (text.size() > 1024) return fault("is longer than 1024 bytes");
  if (std::ranges::any_of(text, is_control)) return fault("has a control character");
  for (const auto part : std::views::split(text, '/')) {
    const std::string_view name(part.begin(), part.end());
    if (name.empty()) return fault("has an empty part");
    if (name == "." || name == "..") return fault(concat({"has the part \"", name, "\""}));
  }
  return std::nullopt;
}

std::optional<Problem> check_revision(std::string_view text) {
  const auto fault = [](std::string problem) {
    return Problem{std::move(problem), "write a branch, a tag or a commit"};
  };
  constexpr std::string_view forbidden = " ~^:?*[\\@";
  if (text.empty()) return fault("must not be empty");
  if (text.size() > 255) return fault("is longer than 255 bytes");
  if (text.front() == '-' || text.front() == '/' || text.ends_with('/') || text.ends_with(".lock") ||
      text.ends_with('.') || text.contains("..") || text.contains("//") || text.contains("/.") || text.front() == '.')
    return fault("is no name of a branch, tag or commit");
  if (std::ranges::any_of(text, [&](char c) { return is_control(c) || forbidden.contains(c); }))
    return fault("has a character that no branch, tag or commit has");
  return std::nullopt;
}

std::expected<DatasetReference, Problem> parse_dataset_reference(std::string_view text) {
  std::string_view rest = text;
  const bool hub = rest.starts_with(dataset_scheme);
  if (!hub && rest.contains("://")) return wrong("is of a kind of URL that is not served");
  if (hub) rest.remove_prefix(dataset_scheme.size());
  DatasetReference out;
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos) return wrong("names no repository");
  const std::size_t end = rest.find_first_of("/@", slash + 1);
  out.repository = rest.substr(0, end);
  const std::string_view space = rest.substr(0, slash), name = out.repository.substr(slash + 1);
  if (!is_name(space) || !is_name(name)) return wrong("names no repository");
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);

  if (rest.starts_with('@')) {
    // A branch may have slashes, but here the first one ends it, where a path may follow.
    const std::size_t path = hub ? rest.find('/') : std::string_view::npos;
    out.revision = rest.substr(1, path == std::string_view::npos ? path : path - 1);
    if (auto fault = check_revision(out.revision)) return wrong("revision " + fault->problem, fault->fix);
    rest = path == std::string_view::npos ? std::string_view() : rest.substr(path);
    if (rest.empty()) return out;
  } else if (const auto revision = cut_revision(rest)) {
    out.revision = *revision;
    if (auto fault = check_revision(out.revision)) return wrong("revision " + fault->problem, fault->fix);
  }
  if (rest.empty()) return out;
  if (!hub) return wrong("has a path", "write \"hf://datasets/<namespace>/<name>/<path>\"");
  out.path = rest.substr(1);
  if (auto fault = check_repository_path(out.path)) return wrong("path " + fault->problem, fault->fix);
  return out;
}

}  // namespace stackgate::validate::grammar
