#include "services/guardrail/models/state.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "services/guardrail/models/call.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::array<double, 12> seconds_bounds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60};
constexpr std::size_t most_upstreams = 10'000;  // remembered; inline configurations may name any

http_client::Options client_options(const ModelClientOptions& options, std::shared_ptr<http_client::Engine> engine) {
  http_client::Options out;
  out.connect = options.connect;
  out.pause = options.pause;
  out.retries = 0;  // breaker and deadline decide here
  out.ca_file = options.ca_file;
  out.user_agent = "stackgate-guardrail";
  out.engine = std::move(engine);
  return out;
}

}  // namespace

std::string_view BoundedLabel::of(const std::string& value) {
  if (const auto found = known_.find(value); found != known_.end()) return *found;
  if (known_.size() >= most) return "other";
  return *known_.insert(value.substr(0, 128)).first;
}

ModelClient::Impl::Impl(ModelClientOptions given, metrics::Registry& registry)
    : options(std::move(given)),
      engine(http_client::Engine::shared()),
      client(client_options(options, engine)),
      calls_(registry.counter("stackgate_guardrail_model_calls_total", "Calls of models, by how they ended.",
                              {"type", "task", "result"})),
      seconds_(registry.histogram("stackgate_guardrail_model_call_seconds",
                                  "Duration of calls of models, with waiting and repetitions.", {"type", "task"},
                                  seconds_bounds)),
      breakers_shown_(registry.gauge("stackgate_guardrail_model_breaker_state",
                                     "0: closed, 1: half open, 2: open, by upstream.", {"upstream"})),
      under_way_shown_(registry.gauge("stackgate_guardrail_model_calls_under_way", "Calls of models under way.").at()),
      waiting_shown_(
          registry.gauge("stackgate_guardrail_model_calls_waiting", "Calls of models that wait for a place.").at()) {}

ModelClient::Impl::Admission ModelClient::Impl::admit(const std::shared_ptr<OutgoingCall>& call) {
  const std::scoped_lock lock(mutex_);
  if (stopped_) return Admission::refused;
  if (under_way_ < options.calls) {
    under_way_shown_.set(++under_way_);
    return Admission::runs;
  }
  if (waiting_.size() >= options.waiting) return Admission::refused;
  waiting_.push_back(call);
  waiting_shown_.set(static_cast<double>(waiting_.size()));
  return Admission::waits;
}

void ModelClient::Impl::leave() {
  const std::scoped_lock lock(mutex_);
  if (stopped_) return;
  if (waiting_.empty()) {
    under_way_shown_.set(--under_way_);
    return;
  }
  // Not from here: who begins may leave at once, and so on through the whole queue.
  engine->run([next = std::move(waiting_.front())] { next->begin(); });
  waiting_.pop_front();
  waiting_shown_.set(static_cast<double>(waiting_.size()));
}

bool ModelClient::Impl::leave_queue(const OutgoingCall* call) {
  const std::scoped_lock lock(mutex_);
  const bool waited = std::erase_if(waiting_, [&](const auto& each) { return each.get() == call; }) > 0;
  if (waited && !stopped_) waiting_shown_.set(static_cast<double>(waiting_.size()));
  return waited;
}

std::optional<Breaker::Ticket> ModelClient::Impl::pass_breaker(const std::string& base_url,
                                                               std::chrono::nanoseconds& wait) {
  const std::scoped_lock lock(mutex_);
  if (breakers_.size() >= most_upstreams && !breakers_.contains(base_url))
    breakers_.clear();  // tickets of old ones count for nothing
  Breaker& breaker = breakers_.try_emplace(base_url, options.breaker).first->second;
  const auto ticket = breaker.begin(now());
  if (!ticket) wait = breaker.wait(now());
  return ticket;
}

void ModelClient::Impl::report(const std::string& base_url, const Breaker::Ticket& ticket, Breaker::Result result) {
  const std::scoped_lock lock(mutex_);
  const auto found = breakers_.find(base_url);
  if (found == breakers_.end()) return;
  found->second.ended(ticket, result, now());
  if (!stopped_)
    breakers_shown_.at({upstreams_.of(endpoint_origin(base_url))}).set(static_cast<double>(found->second.state(now())));
}

void ModelClient::Impl::count(const std::string& type, const std::string& task, std::string_view result,
                              double seconds) {
  const std::scoped_lock lock(mutex_);
  if (stopped_) return;
  const std::string_view of_type = types_.of(type), of_task = tasks_.of(task);
  calls_.at({of_type, of_task, result}).add();
  seconds_.at({of_type, of_task}).observe(seconds);
}

void ModelClient::Impl::start(const std::shared_ptr<OutgoingCall>& call) {
  {
    const std::scoped_lock lock(mutex_);
    all_.emplace(call.get(), call);
  }
  call->start();
}

void ModelClient::Impl::forget(const OutgoingCall* call) {
  const std::scoped_lock lock(mutex_);
  all_.erase(call);
}

void ModelClient::Impl::stop() {
  std::vector<std::shared_ptr<OutgoingCall>> under_way;
  std::deque<std::shared_ptr<OutgoingCall>> waiting;
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    for (const auto& [key, call] : all_)
      if (auto held = call.lock()) under_way.push_back(std::move(held));
    std::swap(waiting, waiting_);
  }
  for (const auto& call : under_way) call->cancel();
}

std::string ModelClient::Impl::first_model(const std::string& base_url) {
  const std::scoped_lock lock(mutex_);
  const auto found = first_models_.find(base_url);
  return found == first_models_.end() ? std::string() : found->second;
}

void ModelClient::Impl::remember_first_model(const std::string& base_url, const std::string& body) {
  const auto names = read_model_names(body);
  if (!names) return;
  const std::scoped_lock lock(mutex_);
  if (first_models_.size() >= most_upstreams) first_models_.clear();
  first_models_[base_url] = names->front();
}

}  // namespace stackgate::guardrail
