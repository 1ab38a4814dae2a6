// Why an image is not there, in the words of kubelet (1.20 to 1.36), containerd and CRI-O.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/pod_problems/pod_causes.hpp"
#include "services/kit/pod_problems/text.hpp"

namespace stackgate::pods::causes {
namespace {

constexpr std::size_t longest_detail = 300;

enum class Answer : std::uint8_t { refused, absent, unreachable, untrusted, limited, full, platform };

struct Sign {
  std::string_view text;  // in lower case
  Answer answer;
};
/// The first that is found decides. "not found" comes after "denied": some registries report both of a private image.
constexpr std::array<Sign, 24> signs{{
    {"unauthorized", Answer::refused},
    {"authentication required", Answer::refused},
    {"no basic auth credentials", Answer::refused},
    {"403 forbidden", Answer::refused},
    {"denied", Answer::refused},
    {"insufficient_scope", Answer::refused},
    {"toomanyrequests", Answer::limited},
    {"429 too many requests", Answer::limited},
    {"no match for platform", Answer::platform},
    {"no image found in manifest list for architecture", Answer::platform},
    {"x509", Answer::untrusted},
    {"server gave http response to https client", Answer::untrusted},
    {"no space left on device", Answer::full},
    {"manifest unknown", Answer::absent},
    {"name unknown", Answer::absent},
    {"not found", Answer::absent},
    {"no such host", Answer::unreachable},
    {"temporary failure in name resolution", Answer::unreachable},
    {"server misbehaving", Answer::unreachable},
    {"connection refused", Answer::unreachable},
    {"connection reset", Answer::unreachable},
    {"no route to host", Answer::unreachable},
    {"network is unreachable", Answer::unreachable},
    {"timeout", Answer::unreachable},
}};

std::string refusal(const json::Value& pod) {
  std::vector<std::string_view> secrets;
  for (const json::Value& each : json::items(&pod, {"spec", "imagePullSecrets"}))
    secrets.push_back(json::text(&each, {"name"}));
  if (secrets.empty())
    return "the registry refused it (401 Unauthorized): no pull secret is named, or there is no such image";
  return fmt::format("the pull secret {} was refused by the registry (401 Unauthorized), or there is no such image",
                     fmt::join(secrets, ", "));
}

std::string in_words(Answer answer, const json::Value& pod) {
  if (answer == Answer::refused) return refusal(pod);
  constexpr std::array<std::string_view, 7> words{"",
                                                  "the registry has no such image; check its name and tag",
                                                  "the registry cannot be reached from the node",
                                                  "the node does not trust the registry's certificate",
                                                  "the registry limits the number of pulls (429); they are tried again",
                                                  "the node has no space left for it",
                                                  "it is not built for the node's architecture"};
  return std::string(words[static_cast<std::size_t>(answer)]);
}

/// Behind "Back-off pulling image "x"" newer kubelets add ": ErrImagePull: " and the cause; older ones nothing.
std::string_view cause_in(std::string_view message) {
  if (!message.starts_with("Back-off pulling image")) return message;
  constexpr std::string_view head = "ErrImagePull: ";
  const std::size_t at = message.find(head);
  return at == std::string_view::npos ? std::string_view{} : message.substr(at + head.size());
}

/// The cause, or empty when none is given. An image's own name may hold any of the signs: it is taken out first.
std::string detail_of(const Container& container, std::string_view image, std::string_view message) {
  const std::string_view cause = cause_in(message);
  std::string text = ascii::to_lower(cause);
  const std::string name = ascii::to_lower(image);
  for (std::size_t at = name.empty() ? std::string::npos : text.find(name); at != std::string::npos;
       at = text.find(name, at))
    text.erase(at, name.size());
  for (const Sign& sign : signs)
    if (text.contains(sign.text)) return in_words(sign.answer, container.pod);
  return shortened(cause, longest_detail);
}

}  // namespace

std::optional<Problem> of_image(const Container& container, std::string_view reason, std::string_view message) {
  std::string_view image = json::text(container.spec, {"image"});
  if (image.empty()) image = json::text(&container.status, {"image"});
  if (reason == "InvalidImageName" || reason == "ErrInvalidImageName")
    return Problem{.reason = "InvalidImageName",
                   .message = fmt::format("the image name {} is not valid; correct it", image),
                   .lasting = true};
  if (reason == "ErrImageNeverPull")
    return Problem{
        .reason = "ImageNeverPulled",
        .message = fmt::format("the image {} is not on the node, and pullPolicy Never forbids to pull it", image)};
  constexpr std::array<std::string_view, 5> pulls{"ImagePullBackOff", "ErrImagePull", "RegistryUnavailable",
                                                  "ImageInspectError", "SignatureValidationFailed"};
  if (std::ranges::find(pulls, reason) == pulls.end()) return std::nullopt;
  std::string text = fmt::format("the image {} cannot be pulled", image);
  if (const std::string detail = detail_of(container, image, message); !detail.empty()) text += ": " + detail;
  return Problem{.reason = "ImagePullBackOff", .message = text};
}

}  // namespace stackgate::pods::causes
