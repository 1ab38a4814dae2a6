// Whatever a kubeconfig, a credential plugin's answer or a Status object holds: no crash.
#include <cstdint>
#include <string_view>

#include "services/kit/base/time.hpp"
#include "services/kit/kube/api_error.hpp"
#include "services/kit/kube/config.hpp"
#include "services/kit/kube/exec_plugin.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stackgate::kube;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_kubeconfig(text, "/dir");
  (void)parse_exec_credential(text, "client.authentication.k8s.io/v1");
  (void)error_from_answer("GET /", 500, text, std::chrono::seconds(0)).object_missing("x");
  (void)stackgate::from_rfc3339(text);
  return 0;
}
