#include "services/kit/telemetry/telemetry.hpp"

#include <cstdio>
#include <thread>

#include "services/kit/http_client/client.hpp"
#include "services/kit/http_client/url.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/telemetry/queue.hpp"
#include "services/kit/telemetry/records.hpp"
#include "services/kit/telemetry/sender.hpp"
#include "services/kit/telemetry/shutdown_deadline.hpp"
#include "services/kit/telemetry/throttled_log.hpp"

namespace stackgate::telemetry {
namespace telemetry_detail {

using std::chrono::milliseconds;

struct ExportMetrics {
  explicit ExportMetrics(metrics::Registry& registry)
      : sent(registry.counter("stackgate_telemetry_sent_total",
                              "Spans, log records and metrics that the collector took.", {"signal"})),
        dropped(registry.counter("stackgate_telemetry_dropped_total", "Those that are lost, by cause.",
                                 {"signal", "reason"})) {
    for (const Signal signal : signals) {
      sent.at({to_string(signal)});
      for (const std::string_view reason : {"queue_full", "failed", "rejected"})
        dropped.at({to_string(signal), reason});
    }
  }
  void lost(Signal signal, std::string_view reason, std::uint64_t n) {
    if (n > 0) dropped.at({to_string(signal), reason}).add(n);
  }
  metrics::Family<metrics::Counter>& sent;
  metrics::Family<metrics::Counter>& dropped;
};

/// One signal's way out: the collector, or standard output.
class SignalExporter {
 public:
  SignalExporter(Signal signal, const Options& options, ShutdownDeadline& deadline, ThrottledLog& throttled_log,
                 ExportMetrics& metrics)
      : signal_(signal),
        exporter_(options.of(signal).exporter),
        throttled_log_(throttled_log),
        metrics_(metrics),
        sender_(options, options.of(signal), deadline) {}

  void send(const std::string& body, std::uint64_t items, milliseconds whole) {
    if (exporter_ == Exporter::console) {
      const std::string line = body + "\n";
      std::fwrite(line.data(), 1, line.size(), stdout);
      std::fflush(stdout);
      metrics_.sent.at({to_string(signal_)}).add(items);
      return;
    }
    const Sent sent = sender_.send(body, whole);
    if (!sent.arrived) {
      metrics_.lost(signal_, "failed", items);
      throttled_log_.lost(signal_, items, sent.words);
      return;
    }
    const std::uint64_t rejected = std::min(sent.rejected, items);
    metrics_.sent.at({to_string(signal_)}).add(items - rejected);
    metrics_.lost(signal_, "rejected", rejected);
    if (rejected > 0 || !sent.words.empty()) {
      throttled_log_.lost(signal_, rejected, "the collector says: " + sent.words);
    } else {
      throttled_log_.arrived(signal_);
    }
  }

 private:
  const Signal signal_;
  const Exporter exporter_;
  ThrottledLog& throttled_log_;
  ExportMetrics& metrics_;
  Sender sender_;
};

/// Items of one kind, gathered and sent in batches by a thread of its own.
template <class Item>
class BatchExporter {
 public:
  using Encode = std::string (*)(Encoding, const Attributes&, std::span<const Item>);
  BatchExporter(Signal signal, Encode encode, const Options& options, const Batching& batching,
                ShutdownDeadline& deadline, ThrottledLog& throttled_log, ExportMetrics& metrics)
      : signal_(signal),
        encode_(encode),
        options_(options),
        batching_(batching),
        queue_(batching.queued, batching.batch),
        throttled_log_(throttled_log),
        exporter_(signal, options, deadline, throttled_log, metrics),
        full_(metrics.dropped.at({to_string(signal), "queue_full"})),
        thread_([this] { work(); }) {}
  ~BatchExporter() { close(); }
  BatchExporter(const BatchExporter&) = delete;
  BatchExporter& operator=(const BatchExporter&) = delete;

  void push(Item&& item) {
    if (!queue_.push(std::move(item))) full_.add();
  }
  void close() { queue_.close(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  void work() {
    std::uint64_t reported = 0;  // of those that found the queue full
    for (;;) {
      const bool last = queue_.closed();
      const std::vector<Item> items = queue_.take(batching_.delay);
      if (items.empty() && last) return;
      if (!items.empty()) send(items);
      if (const std::uint64_t full = full_.value(); full > reported && !last)
        throttled_log_.lost(signal_, full - std::exchange(reported, full), "more came than could be sent");
    }
  }
  void send(const std::vector<Item>& items) {
    const Encoding encoding = options_.of(signal_).exporter == Exporter::console ? Encoding::json : options_.encoding;
    exporter_.send(encode_(encoding, options_.resource, items), items.size(), batching_.whole);
  }

  const Signal signal_;
  const Encode encode_;
  const Options& options_;
  const Batching& batching_;
  Queue<Item> queue_;
  ThrottledLog& throttled_log_;
  SignalExporter exporter_;
  metrics::Counter& full_;
  std::jthread thread_;  // last: it uses the rest
};

/// The registry, sent again and again.
class MetricExporter {
 public:
  MetricExporter(const Options& options, metrics::Registry& registry, ShutdownDeadline& deadline,
                 ThrottledLog& throttled_log, ExportMetrics& metrics)
      : options_(options),
        registry_(registry),
        deadline_(deadline),
        exporter_(Signal::metrics, options, deadline, throttled_log, metrics),
        thread_([this] { work(); }) {}
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  void work() {
    for (bool last = false; !last;) {
      deadline_.sleep_until(ShutdownDeadline::Clock::now() + options_.metric_interval);
      last = deadline_.begun();
      const Metrics metrics{registry_.snapshot(), since_, std::chrono::system_clock::now()};
      const Encoding encoding = options_.metrics.exporter == Exporter::console ? Encoding::json : options_.encoding;
      exporter_.send(metrics_document(encoding, options_.resource, metrics), metrics.families.size(),
                     options_.metric_whole);
    }
  }
  const Options& options_;
  metrics::Registry& registry_;
  ShutdownDeadline& deadline_;
  SignalExporter exporter_;
  const Time since_ = std::chrono::system_clock::now();
  std::jthread thread_;  // last: it uses the rest
};

class Running final : public Telemetry {
 public:
  Running(Options options, metrics::Registry& registry, bool tls)
      : options_(std::move(options)), tls_(tls), export_metrics_(registry) {
    std::string ignored;  // check_telemetry() has said it
    excluded_ = ExcludedUrls::compile(options_.excluded_urls, ignored);
    if (options_.traces.exporter != Exporter::none) {
      spans_ = std::make_unique<BatchExporter<Span>>(Signal::traces, &traces_document, options_, options_.spans,
                                                     deadline_, throttled_log_, export_metrics_);
      http_client::set_observer([this](const http_client::Traced& call) { spans_->push(client_span(call)); });
    }
    if (options_.logs.exporter != Exporter::none) {
      records_ = std::make_unique<BatchExporter<LogRecord>>(Signal::logs, &logs_document, options_, options_.records,
                                                            deadline_, throttled_log_, export_metrics_);
      log::set_sink(
          options_.log_level, [this](log::Level level, std::string_view message, std::span<const log::Field> fields) {
            records_->push(log_record(level, message, fields, current_trace(), std::chrono::system_clock::now()));
          });
    }
    if (options_.metrics.exporter != Exporter::none)
      metrics_ = std::make_unique<MetricExporter>(options_, registry, deadline_, throttled_log_, export_metrics_);
  }
  ~Running() override { shutdown(std::chrono::seconds(1)); }

  std::function<bool(const http::Request&, const web::TraceContext&, bool)> sampler() override {
    if (!spans_) return {};
    return [this](const http::Request& request, const web::TraceContext& trace, bool quiet) {
      if (quiet || (!excluded_.empty() && excluded_.contains(url_of(request, tls_)))) return false;
      return options_.sampler.samples(trace.trace_id,
                                      trace.parent_id.empty() ? std::nullopt : std::optional<bool>(trace.sampled));
    };
  }
  std::function<void(const web::Served&)> observer() override {
    if (!spans_) return {};
    return [this](const web::Served& served) {
      if (served.trace.sampled && !served.quiet) spans_->push(server_span(served, tls_));
    };
  }

  std::function<void(Span)> recorder(std::string_view trace_id, std::optional<bool> parent) override {
    if (!spans_ || !options_.sampler.samples(trace_id, parent)) return {};
    return [this](Span span) { spans_->push(std::move(span)); };
  }

  void shutdown(milliseconds limit) override {
    if (std::exchange(ended_, true)) return;
    // The hooks first: they use the exporters.
    if (records_) log::set_sink(log::Level::error, {});
    if (spans_) http_client::set_observer({});
    deadline_.begin(limit);
    if (spans_) spans_->close();
    if (records_) records_->close();
    if (spans_) spans_->join();
    if (records_) records_->join();
    if (metrics_) metrics_->join();
  }

 private:
  const Options options_;
  const bool tls_;
  ExcludedUrls excluded_;
  ShutdownDeadline deadline_;
  ThrottledLog throttled_log_;
  ExportMetrics export_metrics_;
  std::unique_ptr<BatchExporter<Span>> spans_;
  std::unique_ptr<BatchExporter<LogRecord>> records_;
  std::unique_ptr<MetricExporter> metrics_;
  bool ended_ = false;
};

struct Nothing final : Telemetry {
  std::function<bool(const http::Request&, const web::TraceContext&, bool)> sampler() override { return {}; }
  std::function<void(const web::Served&)> observer() override { return {}; }
  std::function<void(Span)> recorder(std::string_view, std::optional<bool>) override { return {}; }
  void shutdown(milliseconds) override {}
};

std::string_view destination(const Output& output, std::string& space) {
  if (output.exporter == Exporter::otlp) return space = http_client::without_secrets(output.url);
  return output.exporter == Exporter::console ? "stdout" : "none";
}

void announce(const Options& options) {
  std::string traces, metrics, logs;
  log::info("telemetry is sent", {{"traces", destination(options.traces, traces)},
                                  {"metrics", destination(options.metrics, metrics)},
                                  {"logs", destination(options.logs, logs)}});
  for (const Signal signal : signals) {
    if (options.of(signal).url.find(":4317/") == std::string::npos) continue;
    log::warning("port 4317 is usually gRPC's, which is not spoken here; OTLP over HTTP usually has 4318",
                 {{"url", http_client::without_secrets(options.of(signal).url)}});
    return;
  }
}

}  // namespace telemetry_detail

std::unique_ptr<Telemetry> Telemetry::start(Options options, metrics::Registry& registry, bool tls) {
  if (!options.any()) return std::make_unique<telemetry_detail::Nothing>();
  telemetry_detail::announce(options);
  return std::make_unique<telemetry_detail::Running>(std::move(options), registry, tls);
}

}  // namespace stackgate::telemetry
