#include "services/kit/kube/pod_log.hpp"

#include <mutex>

#include "services/kit/kube/client.hpp"

namespace stackgate::kube {
namespace {

constexpr std::size_t most_refusal = 64 * 1024;

}  // namespace

std::string pod_log_path(std::string_view ns, std::string_view pod, const PodLogOptions& options) {
  const auto flag = [](bool on) { return on ? "true" : ""; };
  return object_path({"", "v1", "pods"}, ns, pod, "log") +
         Query()
             .add("container", options.container)
             .add("follow", flag(options.follow))
             .add("previous", flag(options.previous))
             .add("timestamps", flag(options.timestamps))
             .add("sinceTime", options.since_time)
             .add("tailLines", options.tail_lines ? std::to_string(*options.tail_lines) : std::string())
             .text();
}

class PodLog::Receiving final : public Receiver {
 public:
  Receiving(Reader reader, std::string what) : reader_(std::move(reader)), what_(std::move(what)) {}

  bool data(const HttpHead& head, std::string_view bytes) override {
    const std::scoped_lock lock(mutex_);
    if (closed_) return false;
    if (head.status >= 300) {
      if (line_.size() < most_refusal) line_ += bytes;
      return true;
    }
    for (std::size_t end; (end = bytes.find('\n')) != std::string_view::npos; bytes.remove_prefix(end + 1)) {
      append(bytes.substr(0, end));
      pass_on();
    }
    append(bytes);
    return true;
  }

  void done(const HttpHead& head, const TransportError* error) override {
    const std::scoped_lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    if (error == nullptr && head.status >= 300)
      return reader_.ended(std::unexpected(error_from_answer(what_, head.status, line_, head.retry_after)));
    if (!line_.empty()) (reader_.rest ? reader_.rest : reader_.line)(line_);
    if (error != nullptr) return reader_.ended(std::unexpected(error_from_transport(what_, *error)));
    reader_.ended({});
  }

  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }

 private:
  void append(std::string_view bytes) { line_ += bytes.substr(0, longest_line - line_.size()); }
  void pass_on() {
    reader_.line(line_);
    line_.clear();
  }

  std::mutex mutex_;
  const Reader reader_;
  const std::string what_;
  std::string line_;  // what has come of it, or of a refusal
  bool closed_ = false;
};

PodLog::PodLog(Transport& transport, std::string_view ns, std::string_view pod, const PodLogOptions& options,
               Reader reader)
    : transport_(transport) {
  Request request;
  request.path = pod_log_path(ns, pod, options);
  request.accept = "application/json, */*";  // a refusal is a Status object, the log is text
  if (options.follow) {
    request.timeout = std::chrono::milliseconds(0);
    request.endless = true;
  }
  receiving_ = std::make_shared<Receiving>(std::move(reader), "GET " + request.path);
  exchange_ = transport.send(std::move(request), receiving_);
}

PodLog::~PodLog() {
  receiving_->close();
  transport_.cancel(exchange_);
}

}  // namespace stackgate::kube
