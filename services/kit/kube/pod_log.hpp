// The log of a container, line by line, as it is written.
// Source:
// https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#get-read-log-of-the-specified-pod
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "services/kit/kube/transport.hpp"

namespace stackgate::kube {

struct PodLogOptions {
  std::string_view container = {};   // needed where the pod has several
  bool follow = false;               // until the container ends
  bool previous = false;             // of the instance before the last restart
  bool timestamps = false;           // each line begins with its time in RFC 3339 and a space
  std::string_view since_time = {};  // RFC 3339: only what was written since
  std::optional<std::int64_t> tail_lines = {};
};
std::string pod_log_path(std::string_view ns, std::string_view pod, const PodLogOptions& options);

/// A log that is being read; its destruction ends it, and waits for a callback that is under way. Takes one stream of
/// the transport's connection and no thread. The transport must outlive it.
class PodLog {
 public:
  /// Of a longer line the rest is left out.
  static constexpr std::size_t longest_line = 64 * 1024;
  struct Reader {
    /// Without its line feed; valid during the call.
    std::function<void(std::string_view line)> line;
    /// Instead of it, of a last line that lacks its line feed: more of it may be written. Empty: it is a line.
    std::function<void(std::string_view line)> rest = {};
    /// Once, as the last call: the log has ended, or why it could not be read on. A followed log also ends when the
    /// connection to the node breaks: begin again with since_time while the container runs.
    std::function<void(std::expected<void, ApiError>)> ended;
  };

  /// Both are called on the transport's thread: they must not block, nor destroy this.
  PodLog(Transport& transport, std::string_view ns, std::string_view pod, const PodLogOptions& options, Reader reader);
  ~PodLog();
  PodLog(const PodLog&) = delete;
  PodLog& operator=(const PodLog&) = delete;

 private:
  class Receiving;
  Transport& transport_;
  std::shared_ptr<Receiving> receiving_;
  ExchangeId exchange_;
};

}  // namespace stackgate::kube
