#include "services/kit/run/metrics.hpp"

#include <charconv>
#include <cstdint>
#include <ctime>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "services/kit/base/version.hpp"
#include "services/kit/http/message.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::run {
namespace process_detail {

std::string read_small(const char* path) {
  char text[4096];
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t n = ::read(fd, text, sizeof text);
  ::close(fd);
  return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : std::string();
}

// Field `index` (1 = pid, as proc(5) counts) of /proc/self/stat; the command in brackets may hold anything.
double stat_field(int index) {
  const std::string text = read_small("/proc/self/stat");
  std::size_t at = text.rfind(')');
  if (at == std::string::npos) return 0;
  at += 2;  // field 3
  for (int i = 3; i < index && at < text.size(); ++i) at = text.find(' ', at) + 1;
  double value = 0;
  if (at < text.size()) std::from_chars(text.data() + at, text.data() + text.size(), value);
  return value;
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double open_descriptors() {
  DIR* directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  int count = 0;
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count - 3;  // ".", ".." and the directory's own
}

double max_descriptors() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : 0;
}

// Seconds since the epoch: boot time plus the start in clock ticks.
double start_time() {
  timespec real{}, since_boot{};
  ::clock_gettime(CLOCK_REALTIME, &real);
  ::clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const auto seconds = [](const timespec& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
  };
  return seconds(real) - seconds(since_boot) + stat_field(22) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace process_detail

void add_process_metrics(metrics::Registry& registry) {
  using namespace process_detail;
  const double page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  const double started = start_time();
  registry.gauge("stackgate_build_info", "Always 1; its label is the version that runs.", {"version"})
      .at({version})
      .set(1);
  registry.counter_from("process_cpu_seconds_total", "User and system CPU time spent.", cpu_seconds);
  registry.gauge_from("process_resident_memory_bytes", "Resident memory.", [page] { return stat_field(24) * page; });
  registry.gauge_from("process_virtual_memory_bytes", "Virtual memory.", [] { return stat_field(23); });
  registry.gauge_from("process_open_fds", "Open file descriptors.", open_descriptors);
  registry.gauge_from("process_max_fds", "Limit of open file descriptors.", max_descriptors);
  registry.gauge_from("process_start_time_seconds", "Start of the process, seconds since the epoch.",
                      [started] { return started; });
  registry.counter_from("log_lost_lines_total", "Log lines that the sink did not take.",
                        [] { return static_cast<double>(log::lost_lines()); });
}

void add_server_metrics(metrics::Registry& registry, std::string_view prefix, const http::Server& server) {
  add_server_metrics(registry, prefix, [&server] { return server.stats(); });
}

void add_server_metrics(metrics::Registry& registry, std::string_view prefix,
                        const std::function<http::ServerStats()>& read) {
  const auto add = [&](std::string_view name, std::string_view help, std::uint64_t http::ServerStats::* member) {
    registry.counter_from(std::string(prefix) + std::string(name), help,
                          [read, member] { return static_cast<double>(read().*member); });
  };
  add("_connections_total", "Connections accepted.", &http::ServerStats::connections_total);
  add("_tls_handshakes_total", "TLS handshakes completed.", &http::ServerStats::handshakes_total);
  add("_tls_handshake_failures_total", "TLS handshakes failed.", &http::ServerStats::handshake_failures_total);
  add("_requests_total", "Requests given to the handler.", &http::ServerStats::requests_total);
  add("_rejected_requests_total", "Requests malformed, too large or too slow.", &http::ServerStats::rejected_total);
  add("_read_bytes_total", "Bytes of requests.", &http::ServerStats::bytes_read_total);
  add("_written_bytes_total", "Bytes of answers.", &http::ServerStats::bytes_written_total);
  registry.gauge_from(std::string(prefix) + "_open_connections", "Connections open now.",
                      [read] { return static_cast<double>(read().connections_open); });
}

http::Response metrics_answer(const metrics::Registry& registry) {
  return {200, std::string(metrics::content_type), {}, registry.render()};
}

http::Handler metrics_handler(const metrics::Registry& registry) {
  return [&registry](const http::Request& request, http::Responder respond) {
    if (request.method != "GET" && request.method != "HEAD") return respond(http::not_allowed("GET, HEAD"));
    if (request.path != "/metrics") return respond(http::text_answer(404, "404 here is /metrics\n"));
    respond(metrics_answer(registry));
  };
}

}  // namespace stackgate::run
