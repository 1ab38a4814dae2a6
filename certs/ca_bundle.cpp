#include "certs/ca_bundle.hpp"

#include <set>

#include <fmt/format.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::certs {
namespace {

constexpr std::string_view injection_annotations[] = {
    "cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret", "cert-manager.io/inject-apiserver-ca"};

/// The base64 bodies of the certificates, without line breaks and blanks.
std::set<std::string> certificate_bodies(std::string_view pem) {
  constexpr std::string_view begin = "-----BEGIN CERTIFICATE-----", end = "-----END CERTIFICATE-----";
  std::set<std::string> out;
  for (std::size_t at = pem.find(begin); at != std::string_view::npos; at = pem.find(begin, at)) {
    at += begin.size();
    const std::size_t stop = pem.find(end, at);
    if (stop == std::string_view::npos) break;
    std::string body;
    for (const char c : pem.substr(at, stop - at))
      if (c > ' ') body += c;
    out.insert(std::move(body));
  }
  return out;
}

}  // namespace

bool same_certificates(std::string_view pem_a, std::string_view pem_b) {
  return certificate_bodies(pem_a) == certificate_bodies(pem_b);
}

std::expected<std::optional<std::string>, Error> bundle_patch(const json::Value& configuration,
                                                              std::string_view wanted) {
  if (const json::Value* annotations = json::at(&configuration, {"metadata", "annotations"}); annotations != nullptr)
    for (const std::string_view each : injection_annotations)
      if (annotations->find(each) != nullptr)
        return std::unexpected(
            Error{fmt::format("{} carries the annotation {}: remove it, or serve cert-manager's certificate with "
                              "--tls-cert and --tls-key",
                              kube::metadata(configuration, "name"), each)});
  const json::Value* webhooks = configuration.find("webhooks");
  if (webhooks == nullptr) return std::nullopt;

  const std::string encoded = base64::encode(wanted);
  std::string out;
  json::Writer w(out);
  bool any = false;
  const auto operation = [&w](std::string_view op, std::string_view path, std::string_view value) {
    w.object([&] {
      w.member("op", op);
      w.member("path", path);
      w.member("value", value);
    });
  };
  w.array([&] {
    operation("test", "/metadata/resourceVersion", kube::metadata(configuration, "resourceVersion"));
    for (std::size_t i = 0; i < webhooks->items().size(); ++i) {
      const auto have = base64::decode(json::text(&webhooks->items()[i], {"clientConfig", "caBundle"}));
      if (have && same_certificates(*have, wanted)) continue;
      any = true;
      operation("add", fmt::format("/webhooks/{}/clientConfig/caBundle", i), encoded);
    }
  });
  if (!any) return std::nullopt;
  return out;
}

}  // namespace stackgate::certs
