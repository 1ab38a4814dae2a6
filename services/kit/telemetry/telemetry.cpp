#include "services/kit/telemetry/telemetry.hpp"

#include <cstdio>
#include <thread>

#include "services/kit/fetch/client.hpp"
#include "services/kit/fetch/words.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/telemetry/complaints.hpp"
#include "services/kit/telemetry/queue.hpp"
#include "services/kit/telemetry/records.hpp"
#include "services/kit/telemetry/sender.hpp"
#include "services/kit/telemetry/stopping.hpp"

namespace stackgate::telemetry {
namespace telemetry_detail {

using std::chrono::milliseconds;

struct Meters {
  explicit Meters(metrics::Registry& registry)
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
class Outlet {
 public:
  Outlet(Signal signal, const Options& options, Stopping& stopping, Complaints& complaints, Meters& meters)
      : signal_(signal),
        exporter_(options.of(signal).exporter),
        complaints_(complaints),
        meters_(meters),
        sender_(options, options.of(signal), stopping) {}

  void send(const std::string& body, std::uint64_t items, milliseconds whole) {
    if (exporter_ == Exporter::console) {
      const std::string line = body + "\n";
      std::fwrite(line.data(), 1, line.size(), stdout);
      std::fflush(stdout);
      meters_.sent.at({to_string(signal_)}).add(items);
      return;
    }
    const Sent sent = sender_.send(body, whole);
    if (!sent.arrived) {
      meters_.lost(signal_, "failed", items);
      complaints_.lost(signal_, items, sent.words);
      return;
    }
    const std::uint64_t rejected = std::min(sent.rejected, items);
    meters_.sent.at({to_string(signal_)}).add(items - rejected);
    meters_.lost(signal_, "rejected", rejected);
    if (rejected > 0 || !sent.words.empty()) {
      complaints_.lost(signal_, rejected, "the collector says: " + sent.words);
    } else {
      complaints_.arrived(signal_);
    }
  }

 private:
  const Signal signal_;
  const Exporter exporter_;
  Complaints& complaints_;
  Meters& meters_;
  Sender sender_;
};

/// Items of one kind, gathered and sent in batches by a thread of its own.
template <class Item>
class Lane {
 public:
  using Encode = std::string (*)(Encoding, const Attributes&, std::span<const Item>);
  Lane(Signal signal, Encode encode, const Options& options, const Batching& batching, Stopping& stopping,
       Complaints& complaints, Meters& meters)
      : signal_(signal),
        encode_(encode),
        options_(options),
        batching_(batching),
        queue_(batching.queued, batching.batch),
        complaints_(complaints),
        outlet_(signal, options, stopping, complaints, meters),
        full_(meters.dropped.at({to_string(signal), "queue_full"})),
        thread_([this] { work(); }) {}
  ~Lane() { close(); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void push(Item&& item) {
    if (!queue_.push(std::move(item))) full_.add();
  }
  void close() { queue_.close(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  void work() {
    std::uint64_t told = 0;  // of those that found the queue full
    for (;;) {
      const bool last = queue_.closed();
      const std::vector<Item> items = queue_.take(batching_.delay);
      if (items.empty() && last) return;
      if (!items.empty()) send(items);
      if (const std::uint64_t full = full_.value(); full > told && !last)
        complaints_.lost(signal_, full - std::exchange(told, full), "more came than could be sent");
    }
  }
  void send(const std::vector<Item>& items) {
    const Encoding encoding = options_.of(signal_).exporter == Exporter::console ? Encoding::json : options_.encoding;
    outlet_.send(encode_(encoding, options_.resource, items), items.size(), batching_.whole);
  }

  const Signal signal_;
  const Encode encode_;
  const Options& options_;
  const Batching& batching_;
  Queue<Item> queue_;
  Complaints& complaints_;
  Outlet outlet_;
  metrics::Counter& full_;
  std::jthread thread_;  // last: it uses the rest
};

/// The registry, sent again and again.
class MetricLane {
 public:
  MetricLane(const Options& options, metrics::Registry& registry, Stopping& stopping, Complaints& complaints,
             Meters& meters)
      : options_(options),
        registry_(registry),
        stopping_(stopping),
        outlet_(Signal::metrics, options, stopping, complaints, meters),
        thread_([this] { work(); }) {}
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  void work() {
    for (bool last = false; !last;) {
      stopping_.sleep_until(Stopping::Clock::now() + options_.metric_interval);
      last = stopping_.begun();
      const Metrics metrics{registry_.snapshot(), since_, std::chrono::system_clock::now()};
      const Encoding encoding = options_.metrics.exporter == Exporter::console ? Encoding::json : options_.encoding;
      outlet_.send(metrics_document(encoding, options_.resource, metrics), metrics.families.size(),
                   options_.metric_whole);
    }
  }
  const Options& options_;
  metrics::Registry& registry_;
  Stopping& stopping_;
  Outlet outlet_;
  const Time since_ = std::chrono::system_clock::now();
  std::jthread thread_;  // last: it uses the rest
};

class Running final : public Telemetry {
 public:
  Running(Options options, metrics::Registry& registry, bool tls)
      : options_(std::move(options)), tls_(tls), meters_(registry) {
    std::string ignored;  // check_telemetry() has said it
    excluded_ = ExcludedUrls::compile(options_.excluded_urls, ignored);
    if (options_.traces.exporter != Exporter::none) {
      spans_ = std::make_unique<Lane<Span>>(Signal::traces, &traces_document, options_, options_.spans, stopping_,
                                            complaints_, meters_);
      fetch::set_observer([this](const fetch::Traced& call) { spans_->push(client_span(call)); });
    }
    if (options_.logs.exporter != Exporter::none) {
      records_ = std::make_unique<Lane<LogRecord>>(Signal::logs, &logs_document, options_, options_.records, stopping_,
                                                   complaints_, meters_);
      log::set_sink(
          options_.log_level, [this](log::Level level, std::string_view message, std::span<const log::Field> fields) {
            records_->push(log_record(level, message, fields, current_trace(), std::chrono::system_clock::now()));
          });
    }
    if (options_.metrics.exporter != Exporter::none)
      metrics_ = std::make_unique<MetricLane>(options_, registry, stopping_, complaints_, meters_);
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

  void shutdown(milliseconds limit) override {
    if (std::exchange(ended_, true)) return;
    // The hooks first: they use the lanes.
    if (records_) log::set_sink(log::Level::error, {});
    if (spans_) fetch::set_observer({});
    stopping_.begin(limit);
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
  Stopping stopping_;
  Complaints complaints_;
  Meters meters_;
  std::unique_ptr<Lane<Span>> spans_;
  std::unique_ptr<Lane<LogRecord>> records_;
  std::unique_ptr<MetricLane> metrics_;
  bool ended_ = false;
};

struct Nothing final : Telemetry {
  std::function<bool(const http::Request&, const web::TraceContext&, bool)> sampler() override { return {}; }
  std::function<void(const web::Served&)> observer() override { return {}; }
  void shutdown(milliseconds) override {}
};

std::string_view told(const Output& output, std::string& space) {
  if (output.exporter == Exporter::otlp) return space = fetch::without_secrets(output.url);
  return output.exporter == Exporter::console ? "stdout" : "none";
}

void announce(const Options& options) {
  std::string traces, metrics, logs;
  log::info("telemetry is sent", {{"traces", told(options.traces, traces)},
                                  {"metrics", told(options.metrics, metrics)},
                                  {"logs", told(options.logs, logs)}});
  for (const Signal signal : signals) {
    if (options.of(signal).url.find(":4317/") == std::string::npos) continue;
    log::warning("port 4317 is usually gRPC's, which is not spoken here; OTLP over HTTP usually has 4318",
                 {{"url", fetch::without_secrets(options.of(signal).url)}});
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
