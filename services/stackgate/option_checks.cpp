#include "services/stackgate/option_checks.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "validators/grammar/image.hpp"
#include "validators/grammar/names.hpp"

namespace stackgate {

OptionCheck one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return {};
    return fmt::format("'{}' is none of {}", text, fmt::join(words, ", "));
  };
}

OptionCheck number_between(unsigned least, unsigned most) {
  return [=](const std::string& text) -> std::string {
    unsigned value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code == std::errc{} && end == text.data() + text.size() && value >= least && value <= most) return {};
    return fmt::format("'{}' is no number between {} and {}", text, least, most);
  };
}

OptionCheck host_and_port() {
  return [](const std::string& text) -> std::string {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) return fmt::format("write HOST:PORT, not '{}'", text);
    const std::string port = text.substr(colon + 1);
    const bool digits = !port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos;
    if (digits && std::stoul(port) <= 65535) return {};
    return fmt::format("'{}' is no port; write HOST:PORT with a port up to 65535", port);
  };
}

OptionCheck image_reference() {
  return [](const std::string& text) -> std::string {
    const auto image = validate::grammar::parse_image(text);
    return image ? std::string() : fmt::format("'{}' {}; {}", text, image.error().problem, image.error().fix);
  };
}

OptionCheck namespace_name() {
  return [](const std::string& text) -> std::string {
    const auto problem = validate::grammar::check_dns_label(text);
    return problem ? fmt::format("'{}' {}; {}", text, problem->problem, problem->fix) : std::string();
  };
}

}  // namespace stackgate
