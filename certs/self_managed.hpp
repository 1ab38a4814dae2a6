// The webhook's TLS identity for clusters without cert-manager: a CA and a leaf of our own in a Secret, shared by all
// replicas, and the caBundle of the webhook configurations.
//
// Every replica runs the same pass: read the configurations, then the Secret, decide (self_managed_plan.hpp), write
// what is missing. Each write holds only against the version that was read; whoever loses reads again. So any number of
// replicas may start at once, and they agree because the Secret alone decides.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "certs/file_identity.hpp"
#include "certs/self_managed_plan.hpp"
#include "services/kit/http/server.hpp"
#include "services/kit/kube/client.hpp"

namespace stackgate::certs {

struct SelfManagedOptions {
  std::string ns = "stackgate-system";
  std::string secret = "stackgate-webhook-cert";
  /// Both a ValidatingWebhookConfiguration and a MutatingWebhookConfiguration of each name, where they exist.
  std::vector<std::string> configurations{"stackgate-gate"};
  SelfManagedPolicy policy;
  /// Between passes when no watch and no date calls for one.
  std::chrono::seconds check{600};
};

/// The names under which an API server reaches the Service.
std::vector<std::string> service_names(const std::string& service, const std::string& ns);

/// Thread-safe. Has a thread of its own from start() to destruction.
class SelfManaged final : public http::TlsSource {
 public:
  /// Returns at once; current() is nullptr until the first pass has succeeded. The client must outlive it.
  static std::shared_ptr<SelfManaged> start(kube::Client& client, SelfManagedOptions options);
  ~SelfManaged() override;

  std::shared_ptr<ssl_ctx_st> current() const override;
  /// For readiness and metrics, as for FileIdentity. `error`: of the last pass.
  IdentityStatus status() const;
  /// Every configuration that exists trusted our CAs at the end of the last pass, and there was at least one.
  bool published() const;

 private:
  struct Impl;
  explicit SelfManaged(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace stackgate::certs
