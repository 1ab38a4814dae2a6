#include "services/kit/grammar/image.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "services/kit/grammar/characters.hpp"
#include "services/kit/grammar/host.hpp"

namespace stackgate::validate::grammar {
namespace {

constexpr std::string_view image_example = "write an image such as \"registry.example.com/team/app:1.0\"";
constexpr std::string_view path_cure = "use lower-case letters and digits, with '.', '_', '__' or '-' between them";
constexpr std::size_t longest_name = 255;

// path-component: runs of lower-case letters and digits, separated by one of '.', '_', '__' or any number of '-'.
std::size_t first_fault_in_component(std::string_view part) {
  std::size_t at = 0;
  while (true) {
    const std::size_t begin = at;
    while (at < part.size() && is_lower_alphanumeric(part[at])) ++at;
    if (at == begin) return at;
    if (at == part.size()) return std::string_view::npos;
    if (part[at] == '-') {
      while (at < part.size() && part[at] == '-') ++at;
    } else if (part[at] == '_') {
      ++at;
      if (at < part.size() && part[at] == '_') ++at;
    } else if (part[at] == '.') {
      ++at;
    } else {
      return at;
    }
  }
}

// Which first part names a registry: the rule that every container runtime follows.
bool is_registry(std::string_view part) {
  return part == "localhost" || part.find_first_of(".:[") != std::string_view::npos ||
         std::ranges::any_of(part, is_upper);
}

std::optional<Problem> check_registry(std::string_view text) {
  std::string_view host = text;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos)
      return Problem{"has '[' without ']' in its registry", std::string(image_example)};
    host = text.substr(0, close + 1);
  } else {
    host = text.substr(0, std::min(text.find(':'), text.size()));
  }
  const std::string_view port = text.substr(host.size());
  if (!host.empty() && !host.starts_with('[') &&
      std::ranges::all_of(host, [](char c) { return is_digit(c) || c == '.'; })) {
    if (const auto address = parse_ipv4(host); !address) return address.error();
  } else if (auto problem = check_host(host)) {
    problem->problem = "names a registry that " + problem->problem;
    return problem;
  }
  if (host.ends_with('.')) return Problem{"names a registry that ends with '.'", "write the registry without it"};
  if (port.empty()) return std::nullopt;
  if (port[0] != ':') return Problem{"has something other than a port behind its registry", std::string(image_example)};
  const auto number = parse_port(port.substr(1));
  return number ? std::nullopt : std::optional(number.error());
}

std::optional<Problem> check_digest(std::string_view text) {
  const std::string example = "write for example \"@sha256:\" and 64 hexadecimal digits";
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return Problem{"has a digest without ':'", example};
  const std::string_view algorithm = text.substr(0, colon);
  const std::string_view hex = text.substr(colon + 1);
  const std::size_t digits = algorithm == "sha256" ? 64 : algorithm == "sha384" ? 96 : algorithm == "sha512" ? 128 : 0;
  if (digits == 0) return Problem{"has a digest of an unknown algorithm", example};
  if (hex.size() != digits)
    return Problem{fmt::format("has a digest of {} digits, but {} has {}", hex.size(), algorithm, digits),
                   "copy the whole digest"};
  if (!std::ranges::all_of(hex, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }))
    return Problem{"has a digest with characters other than 0-9 and a-f", "copy the digest in lower case"};
  return std::nullopt;
}

// "user:password@registry/app": no digest holds a '/', nor a '.' without ':' in front of its digits.
bool is_user_info(std::string_view behind_sign) {
  return behind_sign.find_first_of("/@") != std::string_view::npos ||
         (behind_sign.find('.') != std::string_view::npos && behind_sign.find(':') == std::string_view::npos);
}

std::unexpected<Problem> no_image(std::string problem, std::string fix = std::string(image_example)) {
  return std::unexpected(Problem{std::move(problem), std::move(fix)});
}

}  // namespace

std::expected<Image, Problem> parse_image(std::string_view text) {
  if (text.empty()) return no_image("must be an image, but is empty");
  if (trim(text).size() != text.size())
    return no_image("must not have spaces around the image", "write the image without them");
  if (text.find("://") != std::string_view::npos)
    return no_image("must be an image, but is a URL",
                    "write it without the scheme, as in \"registry.example.com/team/app:1.0\"");
  Image out;
  std::string_view name = text;
  if (const std::size_t sign = name.find('@'); sign != std::string_view::npos) {
    out.digest = name.substr(sign + 1);
    if (is_user_info(out.digest))
      return no_image("must not contain user information",
                      "leave out what stands in front of '@', and put the registry's credentials into a pull secret");
    name = name.substr(0, sign);
    if (auto problem = check_digest(out.digest)) return std::unexpected(*problem);
  }
  // A ':' behind the last '/' begins the tag; one before it belongs to the registry.
  const std::size_t last_slash = name.rfind('/');
  const std::size_t colon = name.find(':', last_slash == std::string_view::npos ? 0 : last_slash);
  if (colon != std::string_view::npos) {
    out.tag = name.substr(colon + 1);
    name = name.substr(0, colon);
    if (auto problem = check_image_tag(out.tag)) {
      problem->problem = "has a tag that " + problem->problem;
      return std::unexpected(*problem);
    }
  }
  if (const std::size_t slash = name.find('/'); slash != std::string_view::npos && is_registry(name.substr(0, slash))) {
    out.registry = name.substr(0, slash);
    name = name.substr(slash + 1);
    if (auto problem = check_registry(out.registry)) return std::unexpected(*problem);
  }
  out.repository = name;
  if (name.empty())
    return no_image(out.registry.empty() ? "has no name in front of ':' or '@'" : "has no name behind its registry");
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (part.empty())
      return no_image(begin == 0           ? "must not begin with '/'"
                      : end == name.size() ? "must not end with '/'"
                                           : "must not contain \"//\"");
    if (const std::size_t at = first_fault_in_component(part); at != std::string_view::npos) {
      const std::size_t place = static_cast<std::size_t>(part.data() - text.data()) + at;
      const bool capital = at < part.size() && is_upper(part[at]);
      std::string fix(path_cure);
      if (capital) {
        const std::string prefix(text.substr(0, static_cast<std::size_t>(name.data() - text.data())));
        const std::string lowered = prefix + to_lower(name) + std::string(text.substr(prefix.size() + name.size()));
        if (parse_image(lowered) && !quote_short(lowered).empty()) fix = fmt::format("write {}", quote_short(lowered));
      }
      if (at == part.size())
        return no_image(fmt::format("has a part that ends with {}", name_character(part, at - 1)), fix);
      return no_image(capital ? fmt::format("must be lower-case, but has {}", place_character(text, place))
                              : fmt::format("must not have {} there", place_character(text, place)),
                      fix);
    }
    begin = end + 1;
  }
  if (name.size() > longest_name)
    return no_image(fmt::format("has a repository of {} characters", name.size()),
                    "write one of at most 255 characters");
  if (out.tag.empty() && out.digest.empty() && out.registry.empty() && name.size() == 64 &&
      std::ranges::all_of(name, is_hex))
    return no_image("is an image id, which cannot be pulled", std::string(image_example));
  return out;
}

std::optional<Problem> check_image_repository(std::string_view text) {
  const auto image = parse_image(text);
  if (!image) {
    Problem problem = image.error();
    if (const std::size_t scheme = text.find("://"); scheme != std::string_view::npos) {
      const std::string bare = quote_short(text.substr(scheme + 3));
      const bool good = !bare.empty() && !check_image_repository(text.substr(scheme + 3));
      problem.fix =
          good ? fmt::format("write {}", bare) : "write it without the scheme, as in \"registry.example.com/team/app\"";
    } else if (problem.fix == image_example) {
      problem.fix = "write a repository such as \"registry.example.com/team/app\"";
    }
    return problem;
  }
  if (image->tag.empty() && image->digest.empty()) return std::nullopt;
  const std::string bare = quote_short(
      text.substr(0, static_cast<std::size_t>(image->repository.data() + image->repository.size() - text.data())));
  const std::string_view what = image->digest.empty() ? "a tag" : "a digest";
  return Problem{fmt::format("must not contain {}", what),
                 fmt::format("write {}{}", bare.empty() ? "the repository alone" : bare,
                             image->digest.empty() ? ", and the tag in the field beside it" : "")};
}

std::optional<Problem> check_image_tag(std::string_view text) {
  if (text.empty()) return Problem{"is empty", "write a tag, for example \"1.0\""};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_alphanumeric(c) || c == '_' || (i > 0 && (c == '.' || c == '-'))) continue;
    if (c == '.' || c == '-')
      return Problem{fmt::format("begins with '{}'", c), "begin it with a letter, a digit or '_'"};
    if (c == ':' && (text.starts_with("sha256:") || text.starts_with("sha512:")))
      return Problem{"is a digest, not a tag", "write the tag of that image, for example \"1.4.2\""};
    if (c == ':' && i == 0) return Problem{"begins with ':'", "write the tag without ':'"};
    return Problem{fmt::format("contains {}", place_character(text, i)), "use letters, digits, '_', '.' and '-'"};
  }
  if (text.size() > 128)
    return Problem{fmt::format("has {} characters", text.size()), "write one of at most 128 characters"};
  return std::nullopt;
}

}  // namespace stackgate::validate::grammar
