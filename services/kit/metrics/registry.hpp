// Counters, gauges and histograms, rendered as Prometheus text exposition 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
// Families and label combinations are made under a lock and live as long as the registry; changing a value and finding
// an existing combination are lock-free. Everything here is thread-safe. Names and labels come from the code, never
// from a request: an unbounded label value is a leak.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stackgate::metrics {

class Counter {
 public:
  void add(std::uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  void add(double delta) { value_.fetch_add(delta, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

class Histogram {
 public:
  /// `bounds`: upper limits, ascending, without +Inf.
  explicit Histogram(std::span<const double> bounds);
  void observe(double value);
  std::span<const double> bounds() const { return bounds_; }
  /// Observations in bucket i alone (not cumulated); i == bounds().size() is the one beyond all limits.
  std::uint64_t in_bucket(std::size_t i) const { return buckets_[i].load(std::memory_order_relaxed); }
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  std::vector<double> bounds_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> buckets_;
  std::atomic<double> sum_{0};
};

/// 50 µs … 10 s, for latencies in seconds.
std::span<const double> latency_bounds();

using Labels = std::initializer_list<std::string_view>;

enum class Type : std::uint8_t { counter, gauge, histogram };

/// One combination of label values, as it stood when it was read.
struct Point {
  std::vector<std::string> labels;       // values, in the order of the family's names
  double value = 0;                      // of counters and gauges; of a histogram the sum of what was observed
  std::uint64_t count = 0;               // of counters that count whole things, and of histograms
  std::vector<std::uint64_t> buckets{};  // of histograms, not cumulated; the last is the one beyond all bounds
};

/// A family with its values, for those who do not read Prometheus' text.
struct Snapshot {
  std::string name, help;
  Type type = Type::gauge;
  bool whole = false;  // a counter of whole numbers: `count` has it
  std::vector<std::string> label_names{};
  std::vector<double> bounds{};  // of histograms
  std::vector<Point> points{};
};

namespace detail {
struct Desc {
  std::string name, help;
  std::vector<std::string> labels;
};
struct Family {
  Desc desc;
  explicit Family(Desc d) : desc(std::move(d)) {}
  virtual ~Family() = default;
  virtual void render(std::string& out) const = 0;
  virtual Snapshot snapshot() const = 0;
};
/// Insert-only hash table of label values → T: readers walk it without a lock.
template <class T>
class Table {
 public:
  struct Cell {
    std::vector<std::string> values;
    T metric;
    Cell* next = nullptr;
    template <class... Args>
    explicit Cell(std::span<const std::string_view> v, Args&&... args)
        : values(v.begin(), v.end()), metric(std::forward<Args>(args)...) {}
  };
  Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() {
    for (auto& bucket : buckets_) {
      for (Cell* cell = bucket.load(); cell != nullptr;) delete std::exchange(cell, cell->next);
    }
  }
  template <class... Args>
  T& at(std::span<const std::string_view> values, Args&&... args) {
    auto& bucket = buckets_[slot(values)];
    if (Cell* found = find(bucket, values)) return found->metric;
    const std::lock_guard lock(mutex_);
    if (Cell* found = find(bucket, values)) return found->metric;
    auto* cell = new Cell(values, std::forward<Args>(args)...);
    cell->next = bucket.load(std::memory_order_relaxed);
    bucket.store(cell, std::memory_order_release);
    return cell->metric;
  }
  /// Every cell, ordered by label values.
  std::vector<const Cell*> sorted() const;

 private:
  static constexpr std::size_t size = 64;
  static std::size_t slot(std::span<const std::string_view> values) {
    std::size_t hash = 0;
    for (const auto value : values) hash = hash * 31 + std::hash<std::string_view>()(value);
    return hash % size;
  }
  static Cell* find(const std::atomic<Cell*>& bucket, std::span<const std::string_view> values) {
    for (Cell* cell = bucket.load(std::memory_order_acquire); cell != nullptr; cell = cell->next) {
      if (std::equal(values.begin(), values.end(), cell->values.begin(), cell->values.end())) return cell;
    }
    return nullptr;
  }
  std::atomic<Cell*> buckets_[size] = {};
  std::mutex mutex_;
};
}  // namespace detail

/// One metric name with its combinations of label values. at() wants as many values as the family has labels, else it
/// throws std::invalid_argument (a programming error); keep the reference where the combination is known beforehand.
template <class T>
class Family final : public detail::Family {
 public:
  using detail::Family::Family;
  Family(detail::Desc d, std::span<const double> bounds)
      : detail::Family(std::move(d)), bounds_(bounds.begin(), bounds.end()) {}
  T& at(Labels values = {});
  void render(std::string& out) const override;
  Snapshot snapshot() const override;

 private:
  std::vector<double> bounds_;  // of histograms
  detail::Table<T> table_;
};

class Registry {
 public:
  /// Each name once: a second family of the same name throws std::invalid_argument, as does a bad name.
  Family<Counter>& counter(std::string_view name, std::string_view help, Labels labels = {});
  Family<Gauge>& gauge(std::string_view name, std::string_view help, Labels labels = {});
  Family<Histogram>& histogram(std::string_view name, std::string_view help, Labels labels = {},
                               std::span<const double> bounds = latency_bounds());
  /// Values that live elsewhere: asked at each scrape, from the scraping thread.
  void counter_from(std::string_view name, std::string_view help, std::function<double()> read);
  void gauge_from(std::string_view name, std::string_view help, std::function<double()> read);
  /// Gauges whose label values come and go: what `read` does not give any more is not shown any more. Each point has as
  /// many labels as the family, or is left out; `read` bounds their number.
  void gauges_from(std::string_view name, std::string_view help, Labels labels,
                   std::function<std::vector<Point>()> read);

  /// Called before each render() and snapshot(), on that thread, to bring values up to date. Must not add families.
  void before_reading(std::function<void()> update);

  /// The whole exposition, families in the order in which they were made.
  std::string render() const;
  /// The same as data.
  std::vector<Snapshot> snapshot() const;

 private:
  template <class F>
  F& add(std::unique_ptr<F> family);
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<detail::Family>> families_;
  std::vector<std::function<void()>> updates_;
};

inline constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace stackgate::metrics
