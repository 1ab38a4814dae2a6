#include "services/kit/telemetry/work.hpp"

#include <utility>

#include "services/kit/web/trace_context.hpp"

namespace stackgate::telemetry {

Work::Work(Telemetry& telemetry, std::string_view traceparent) {
  const auto parent = web::parse_traceparent(traceparent);
  trace_id_ = parent ? parent->trace_id : web::random_hex(32);
  if (parent) span_id_ = parent->parent_id;
  record_ = telemetry.recorder(trace_id_, parent ? std::optional(parent->sampled) : std::nullopt);
}

Part::Part(Work& work, std::string_view name, Attributes attributes) : work_(work) {
  if (!work_.record_) return;
  span_ = {.trace_id = work_.trace_id_,
           .span_id = web::random_hex(16),
           .parent_id = work_.span_id_,
           .state = {},
           .name = std::string(name),
           .kind = Span::Kind::internal,
           .began = std::chrono::system_clock::now(),
           .ended = {},
           .attributes = std::move(attributes)};
  work_.span_id_ = span_.span_id;
  scope_.emplace(CurrentTrace{.trace_id = span_.trace_id, .span_id = span_.span_id, .state = {}, .sampled = true});
}

Part::~Part() {
  if (!work_.record_) return;
  scope_.reset();
  work_.span_id_ = span_.parent_id;
  span_.ended = std::chrono::system_clock::now();
  work_.record_(std::move(span_));
}

void Part::set(std::string_view key, Attribute::Value value) {
  if (work_.record_) span_.attributes.push_back({std::string(key), std::move(value)});
}

void Part::fail(std::string_view words) {
  span_.failed = true;
  span_.failure = words;
}

}  // namespace stackgate::telemetry
