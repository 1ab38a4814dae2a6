#include "services/puller/plan/failure.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "services/kit/base/utf8.hpp"

namespace stackgate::puller {
namespace failure_detail {

constexpr std::size_t longest_words = 300;

/// One line, without control characters: it goes to logs and into a status.
std::string plain(std::string_view text) {
  std::string out(text.substr(0, longest_words));
  // No half character at the cut.
  while (text.size() > longest_words && !out.empty() && utf8::sequence_length(text.substr(out.size())) == 0)
    out.pop_back();
  std::ranges::replace_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return out;
}

std::string_view name_of(int status) {
  switch (status) {
    case 401:
      return "401 Unauthorized";
    case 403:
      return "403 Forbidden";
    case 404:
      return "404 Not Found";
    case 407:
      return "407 Proxy Authentication Required";
    case 408:
      return "408 Request Timeout";
    case 410:
      return "410 Gone";
    case 429:
      return "429 Too Many Requests";
    case 500:
      return "500 Internal Server Error";
    case 502:
      return "502 Bad Gateway";
    case 503:
      return "503 Service Unavailable";
    case 504:
      return "504 Gateway Timeout";
    default:
      return {};
  }
}

constexpr std::string_view proxy_cure = "give the proxy's user and password in HTTPS_PROXY, or ask who runs the proxy";

struct Meaning {
  Cause cause;
  std::string cure;
};

Meaning meaning_of(int status, std::string_view retry_after) {
  switch (status) {
    case 401:
      return {Cause::refused, "check the key: REGISTRY_API_KEY, or DATASTORE_USERNAME and DATASTORE_PASSWORD"};
    case 403:
      return {Cause::refused, "ask for access to the model with this key, or accept its licence at the registry"};
    case 404:
    case 410:
      return {Cause::missing,
              "check endpoint, model and revision; some servers say this of models that the key may not see"};
    case 407:
      return {Cause::refused, std::string(proxy_cure)};
    case 429:
      return {Cause::network, retry_after.empty()
                                  ? std::string("the server is asked too often; try again later")
                                  : fmt::format("the server asks to wait (Retry-After: {})", plain(retry_after))};
    default:
      break;
  }
  if (status == 408 || status >= 500) return {Cause::network, "the server is in trouble; try again later"};
  return {Cause::bad_answer, "check that the endpoint is what --source says it is"};
}

}  // namespace failure_detail

int exit_code(Cause cause) { return static_cast<int>(cause); }

bool may_pass(Cause cause) { return cause == Cause::network || cause == Cause::stopped; }

std::string_view reason(Cause cause) {
  switch (cause) {
    case Cause::network:
      return "Unreachable";
    case Cause::settings:
      return "WrongSettings";
    case Cause::refused:
      return "Unauthorized";
    case Cause::no_space:
      return "VolumeFull";
    case Cause::missing:
      return "ModelNotFound";
    case Cause::checksum:
      return "ChecksumMismatch";
    case Cause::volume:
      return "PermissionDenied";
    case Cause::bad_answer:
      return "BadAnswer";
    case Cause::stopped:
      return "Stopped";
  }
  return {};
}

std::string sentence(const Failure& failure) {
  return failure_detail::plain(failure.message) +
         (failure.cure.empty() ? "" : "; " + failure_detail::plain(failure.cure));
}

std::optional<Failure> failure_of_status(int status, std::string_view what, std::string_view words,
                                         std::string_view retry_after) {
  using namespace failure_detail;
  if (status < 400) return std::nullopt;
  auto [cause, cure] = meaning_of(status, retry_after);
  const std::string_view name = name_of(status);
  std::string message = name.empty() ? fmt::format("status {}", status) : std::string(name);
  message += fmt::format(": {}", what);
  if (!words.empty()) message += fmt::format(" ({})", plain(words));
  return Failure{cause, std::move(message), std::move(cure)};
}

Failure failure_of_call(std::string_view why) {
  using failure_detail::proxy_cure;
  // With a blank, so that no name in a URL is taken for it.
  const auto mentions = [why](std::initializer_list<std::string_view> signs) {
    return std::ranges::any_of(signs, [why](std::string_view sign) { return why.contains(sign); });
  };
  if (mentions({"response 407", "code 407"}))
    return {Cause::refused, fmt::format("407 Proxy Authentication Required: {}", why), std::string(proxy_cure)};
  if (mentions({"SSL ", "TLS ", "SSL: ", " certificate"}))
    return {
        Cause::network, std::string(why),
        "name the authority that the server's certificate is from in --ca-file or --ca-dir (spec.proxy.caConfigMap)"};
  if (mentions({"resolve host", "resolve proxy"}))
    return {Cause::network, std::string(why), "check the host in the endpoint and the cluster's DNS"};
  return {Cause::network, std::string(why), "check endpoint, proxy and network policies; it is tried again"};
}

Failure failure_of_system(std::string_view what, int error) {
  const std::string message = fmt::format("{}: {}", what, std::strerror(error));
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return {Cause::no_space, message, "make the volume larger (storage.pvc.size); what was downloaded is kept"};
    case EROFS:
      return {Cause::volume, message, "mount the volume for writing: a claim that is ReadOnlyMany takes no download"};
    case EACCES:
    case EPERM:
      return {Cause::volume, message, "let this user write there (userID and groupID of the cache)"};
    default:
      return {Cause::volume, message, "look at the volume and its node"};
  }
}

}  // namespace stackgate::puller
