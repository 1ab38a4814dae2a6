#include "services/kit/metrics/registry.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

namespace stackgate::metrics {
namespace render_detail {

bool is_name(std::string_view name, bool colon) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (colon && c == ':');
  });
}

void append_escaped(std::string& out, std::string_view text, bool quote) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (quote && c == '"') {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

void append_header(std::string& out, const detail::Desc& desc, Type type) {
  const std::string_view word = type == Type::counter ? "counter" : type == Type::gauge ? "gauge" : "histogram";
  fmt::format_to(std::back_inserter(out), "# HELP {} ", desc.name);
  append_escaped(out, desc.help, false);
  fmt::format_to(std::back_inserter(out), "\n# TYPE {} {}\n", desc.name, word);
}

// name{a="x",le="0.1"} and a space
void append_series(std::string& out, const detail::Desc& desc, std::string_view suffix,
                   const std::vector<std::string>& values, std::string_view le = {}) {
  out += desc.name;
  out += suffix;
  char open = '{';
  for (std::size_t i = 0; i < values.size(); ++i, open = ',') {
    out += open;
    out += desc.labels[i];
    out += "=\"";
    append_escaped(out, values[i], true);
    out += '"';
  }
  if (!le.empty()) {
    fmt::format_to(std::back_inserter(out), "{}le=\"{}\"", open, le);
    open = ',';
  }
  out += open == ',' ? "} " : " ";
}

void append_value(std::string& out, const detail::Desc& desc, const std::vector<std::string>& values,
                  const Counter& counter) {
  append_series(out, desc, "", values);
  fmt::format_to(std::back_inserter(out), "{}\n", counter.value());
}

void append_value(std::string& out, const detail::Desc& desc, const std::vector<std::string>& values,
                  const Gauge& gauge) {
  append_series(out, desc, "", values);
  append_number(out, gauge.value());
  out += '\n';
}

void append_value(std::string& out, const detail::Desc& desc, const std::vector<std::string>& values,
                  const Histogram& histogram) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i <= histogram.bounds().size(); ++i) {
    total += histogram.in_bucket(i);
    const bool last = i == histogram.bounds().size();
    append_series(out, desc, "_bucket", values, last ? "+Inf" : fmt::format("{}", histogram.bounds()[i]));
    fmt::format_to(std::back_inserter(out), "{}\n", total);
  }
  append_series(out, desc, "_sum", values);
  append_number(out, histogram.sum());
  out += '\n';
  append_series(out, desc, "_count", values);
  fmt::format_to(std::back_inserter(out), "{}\n", total);  // from the same readings as the buckets, so they agree
}

// Values asked for at the scrape.
struct Callback final : detail::Family {
  Type type;
  std::function<std::vector<Point>()> read;
  Callback(detail::Desc d, Type t, std::function<std::vector<Point>()> r)
      : detail::Family(std::move(d)), type(t), read(std::move(r)) {}
  std::vector<Point> points() const {
    std::vector<Point> out = read();
    std::erase_if(out, [&](const Point& each) { return each.labels.size() != desc.labels.size(); });
    return out;
  }
  void render(std::string& out) const override {
    append_header(out, desc, type);
    for (const Point& each : points()) {
      append_series(out, desc, "", each.labels);
      append_number(out, each.value);
      out += '\n';
    }
  }
  Snapshot snapshot() const override {
    Snapshot out{.name = desc.name, .help = desc.help, .type = type, .label_names = desc.labels};
    out.points = points();
    return out;
  }
};

std::function<std::vector<Point>()> one_point(std::function<double()> read) {
  return [read = std::move(read)] { return std::vector<Point>{{.labels = {}, .value = read()}}; };
}

Point point_of(const std::vector<std::string>& labels, const Counter& counter) {
  const std::uint64_t count = counter.value();
  return {.labels = labels, .value = static_cast<double>(count), .count = count};
}

Point point_of(const std::vector<std::string>& labels, const Gauge& gauge) {
  return {.labels = labels, .value = gauge.value()};
}

Point point_of(const std::vector<std::string>& labels, const Histogram& histogram) {
  Point out{.labels = labels, .value = histogram.sum()};
  for (std::size_t i = 0; i <= histogram.bounds().size(); ++i)
    out.count += out.buckets.emplace_back(histogram.in_bucket(i));
  return out;
}

template <class T>
constexpr Type type_of = Type::gauge;
template <>
constexpr Type type_of<Counter> = Type::counter;
template <>
constexpr Type type_of<Histogram> = Type::histogram;

detail::Desc describe(std::string_view name, std::string_view help, Labels labels) {
  if (!is_name(name, true)) throw std::invalid_argument(fmt::format("\"{}\" is no metric name", name));
  detail::Desc desc{std::string(name), std::string(help), {}};
  for (const auto label : labels) {
    if (!is_name(label, false) || label.starts_with("__") || label == "le") {
      throw std::invalid_argument(fmt::format("\"{}\" is no label name for metric {}", label, name));
    }
    desc.labels.emplace_back(label);
  }
  return desc;
}

}  // namespace render_detail

namespace detail {
template <class T>
std::vector<const typename Table<T>::Cell*> Table<T>::sorted() const {
  std::vector<const Cell*> cells;
  for (const auto& bucket : buckets_) {
    for (const Cell* cell = bucket.load(std::memory_order_acquire); cell != nullptr; cell = cell->next)
      cells.push_back(cell);
  }
  std::sort(cells.begin(), cells.end(), [](const Cell* a, const Cell* b) { return a->values < b->values; });
  return cells;
}
}  // namespace detail

Histogram::Histogram(std::span<const double> bounds)
    : bounds_(bounds.begin(), bounds.end()),
      buckets_(std::make_unique<std::atomic<std::uint64_t>[]>(bounds.size() + 1)) {}

void Histogram::observe(double value) {
  const auto at = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  buckets_[static_cast<std::size_t>(at)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

std::span<const double> latency_bounds() {
  static constexpr double bounds[] = {0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                      0.025,   0.05,   0.1,     0.25,   0.5,   1,      2.5,   10};
  return bounds;
}

template <class T>
T& Family<T>::at(Labels values) {
  if (values.size() != desc.labels.size()) {
    throw std::invalid_argument(
        fmt::format("metric {} has {} labels, {} values were given", desc.name, desc.labels.size(), values.size()));
  }
  const std::span<const std::string_view> span(values.begin(), values.size());
  if constexpr (std::is_same_v<T, Histogram>) {
    return table_.at(span, std::span<const double>(bounds_));
  } else {
    return table_.at(span);
  }
}

template <class T>
void Family<T>::render(std::string& out) const {
  render_detail::append_header(out, desc, render_detail::type_of<T>);
  for (const auto* cell : table_.sorted()) render_detail::append_value(out, desc, cell->values, cell->metric);
}

template <class T>
Snapshot Family<T>::snapshot() const {
  Snapshot out{.name = desc.name,
               .help = desc.help,
               .type = render_detail::type_of<T>,
               .whole = std::is_same_v<T, Counter>,
               .label_names = desc.labels,
               .bounds = bounds_};
  for (const auto* cell : table_.sorted()) out.points.push_back(render_detail::point_of(cell->values, cell->metric));
  return out;
}

template class Family<Counter>;
template class Family<Gauge>;
template class Family<Histogram>;

template <class F>
F& Registry::add(std::unique_ptr<F> family) {
  const std::lock_guard lock(mutex_);
  for (const auto& other : families_) {
    if (other->desc.name == family->desc.name)
      throw std::invalid_argument(fmt::format("metric {} exists already", other->desc.name));
  }
  F& added = *family;
  families_.push_back(std::move(family));
  return added;
}

Family<Counter>& Registry::counter(std::string_view name, std::string_view help, Labels labels) {
  auto& family = add(std::make_unique<Family<Counter>>(render_detail::describe(name, help, labels)));
  if (labels.size() == 0) family.at();  // shows 0 from the start
  return family;
}

Family<Gauge>& Registry::gauge(std::string_view name, std::string_view help, Labels labels) {
  auto& family = add(std::make_unique<Family<Gauge>>(render_detail::describe(name, help, labels)));
  if (labels.size() == 0) family.at();
  return family;
}

Family<Histogram>& Registry::histogram(std::string_view name, std::string_view help, Labels labels,
                                       std::span<const double> bounds) {
  if (!std::is_sorted(bounds.begin(), bounds.end()))
    throw std::invalid_argument(fmt::format("the bounds of {} do not ascend", name));
  auto& family = add(std::make_unique<Family<Histogram>>(render_detail::describe(name, help, labels), bounds));
  if (labels.size() == 0) family.at();
  return family;
}

void Registry::counter_from(std::string_view name, std::string_view help, std::function<double()> read) {
  add(std::make_unique<render_detail::Callback>(render_detail::describe(name, help, {}), Type::counter,
                                                render_detail::one_point(std::move(read))));
}

void Registry::gauge_from(std::string_view name, std::string_view help, std::function<double()> read) {
  gauges_from(name, help, {}, render_detail::one_point(std::move(read)));
}

void Registry::gauges_from(std::string_view name, std::string_view help, Labels labels,
                           std::function<std::vector<Point>()> read) {
  add(std::make_unique<render_detail::Callback>(render_detail::describe(name, help, labels), Type::gauge,
                                                std::move(read)));
}

void Registry::before_reading(std::function<void()> update) {
  const std::lock_guard lock(mutex_);
  updates_.push_back(std::move(update));
}

std::string Registry::render() const {
  const std::lock_guard lock(mutex_);
  for (const auto& update : updates_) update();
  std::string out;
  for (const auto& family : families_) family->render(out);
  return out;
}

std::vector<Snapshot> Registry::snapshot() const {
  const std::lock_guard lock(mutex_);
  for (const auto& update : updates_) update();
  std::vector<Snapshot> out;
  out.reserve(families_.size());
  for (const auto& family : families_) out.push_back(family->snapshot());
  return out;
}

}  // namespace stackgate::metrics
