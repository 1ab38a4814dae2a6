#include "services/guardrail/front/exchange.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "services/guardrail/actions/conversation.hpp"
#include "services/guardrail/api/hiding.hpp"
#include "services/guardrail/api/message.hpp"
#include "services/guardrail/api/state.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/trace_context.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t id_digits = 24;

Moment now() { return std::chrono::steady_clock::now().time_since_epoch(); }

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string shown_model(const ChatRequest& request, const Configuration& configuration) {
  if (!request.model.empty()) return request.model;
  const Model* main = configuration.find_model("main");
  return main == nullptr || main->model.empty() ? "main" : main->model;
}

/// What an input rail refused; later turns of its thread must not show it to the model.
bool is_refused(const TurnResult& result) {
  return result.outcome == Outcome::blocked && std::ranges::any_of(result.rails, [](const ActivatedRail& each) {
           return each.type == RailType::input && each.stop;
         });
}

/// The result of a tool with another text.
void alter(ChatMessage& result, std::string text) {
  result.text = std::move(text);
  result.json.clear();
  json::Writer w(result.json);
  w.object([&] {
    w.member("role", to_string(result.role));
    if (!result.tool_call_id.empty()) w.member("tool_call_id", result.tool_call_id);
    if (!result.name.empty()) w.member("name", result.name);
    w.member("content", result.text);
  });
}

}  // namespace

Exchange::Exchange(FrontPtr front, ConfigurationPtr configuration, ChatRequest request, TurnParts parts)
    : front_(std::move(front)),
      configuration_(std::move(configuration)),
      request_(std::move(request)),
      parts_(std::move(parts)),
      id_("chatcmpl-" + web::random_hex(id_digits)),
      model_(shown_model(request_, *configuration_)),
      created_(seconds_now()),
      began_(now()) {}

Exchange::~Exchange() {
  if (thread_) front_->threads->close(std::move(*thread_), {}, {}, [](const auto&) {});
}

void Exchange::open_thread(std::move_only_function<void(std::expected<void, web::Failure>)> then) {
  if (request_.thread_id.empty() || !front_->threads) return then({});
  front_->threads->open(request_.thread_id, [self = shared_from_this(), then = std::move(then)](auto opened) mutable {
    if (!opened) return then(std::unexpected(std::move(opened.error())));
    for (const StoredMessage& each : opened->messages) self->earlier_.push_back({each.role, each.content});
    self->parts_.history.insert(self->parts_.history.begin(), self->earlier_.begin(), self->earlier_.end());
    // What is kept was written by us; what cannot be read any more begins anew.
    if (!self->request_.has_state && !opened->state.empty())
      if (auto state = read_state(opened->state)) self->request_.state = std::move(*state);
    self->thread_ = std::move(*opened);
    then({});
  });
}

void Exchange::remember(const TurnResult& result, std::string said, Threads::Then then) {
  if (!thread_) return then({});
  std::vector<StoredMessage> messages;
  if (!result.user_message.empty())
    messages.push_back({"user", is_refused(result) ? std::string(hidden_text) : result.user_message});
  if (!said.empty()) messages.push_back({"assistant", std::move(said)});
  front_->threads->close(*std::exchange(thread_, std::nullopt), std::move(messages), to_json(Hiding(result).state()),
                         std::move(then));
}

TurnInput Exchange::input() const {
  RailSelection rails = request_.options.rails;
  rails.tool_calls = request_.options.tool_calls;
  rails.tool_results = request_.options.tool_results;
  return {.configuration = configuration_,
          .history = parts_.history,
          .context = request_.context,
          .rails = std::move(rails),
          .state = request_.state,
          .seed = request_.seed.value_or(static_cast<std::uint64_t>(began_.count()))};
}

std::shared_ptr<const ActionEnvironment> Exchange::environment(std::shared_ptr<AnswerStream> stream) {
  auto out = std::make_shared<ActionEnvironment>();
  out->configuration = configuration_;
  out->history = parts_.history;
  out->messages = [self = shared_from_this()](std::string_view user_message) {
    return upstream_messages(self->earlier_, self->request_.messages, user_message);
  };
  out->body = request_.parameters;
  out->model = request_.model;
  if (front_->custom) out->custom = front_->custom(configuration_);
  out->stream = std::move(stream);
  out->main_model_failed = [weak = weak_from_this()](const ModelFailure& failure) {
    if (const auto self = weak.lock()) {
      const std::scoped_lock lock(self->mutex_);
      self->main_failure_ = failure;
    }
  };
  return out;
}

void Exchange::drive(TurnInput input, std::shared_ptr<const ActionEnvironment> environment, TurnDriver::Then then) {
  std::uint64_t turn = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (cancelled_) return;
    turn = ++turns_;
    std::erase_if(drivers_, [](const auto& each) { return each.expired(); });
  }
  then = [self = shared_from_this(), turn, then = std::move(then)](TurnResult result) mutable {
    self->leave(turn);
    then(std::move(result));
  };
  const auto execute = [self = shared_from_this(), turn, environment = std::move(environment)](ActionRequest request,
                                                                                               ActionDone done) {
    if (!self->output_rails_ && request.action == "generate") {
      const std::scoped_lock lock(self->mutex_);
      self->generated_from_ = request.context;
    }
    ActionHandle handle = self->front_->actions->run(std::move(request), environment, std::move(done));
    const std::scoped_lock lock(self->mutex_);
    if (self->cancelled_) return handle.cancel();
    if (handle.is_over()) return;
    std::erase_if(self->actions_, [](const UnderWay& each) { return each.action.is_over(); });
    self->actions_.push_back({turn, std::move(handle)});
  };
  const auto driver = TurnDriver::make(std::move(input), execute, std::move(then));
  {
    const std::scoped_lock lock(mutex_);
    if (cancelled_) return;
    drivers_.push_back(driver);
  }
  driver->start();
}

void Exchange::run(std::shared_ptr<AnswerStream> stream, TurnDriver::Then then) {
  stream_ = std::move(stream);
  then = [self = shared_from_this(), then = std::move(then)](TurnResult result) mutable {
    result.rails.insert(result.rails.begin(), self->result_rails_.begin(), self->result_rails_.end());
    self->front_->metrics->turn(result, now() - self->began_);
    if (!result.error.empty())
      log::warning("a turn went wrong",
                   {{"config", self->configuration_->id}, {"rail", result.rail}, {"why", result.error}});
    then(std::move(result));
  };
  if (parts_.tool_results.empty() || !request_.options.tool_results.on) return run_main(std::move(then));
  check_results(0, std::move(then));
}

/// Who was called, as the conversation says: results carry the call's id, and seldom the function's name.
ToolResult Exchange::tool_result(const ChatMessage& message) const {
  ToolResult out{.text = message.text, .name = message.name, .call_id = message.tool_call_id};
  for (const ChatMessage& each : request_.messages)
    for (const ToolCall& call : each.tool_calls)
      if (!out.call_id.empty() && call.id == out.call_id) out.name = call.name;
  return out;
}

/// Each result of a tool passes the rails for it, and the input rails like a text of the user.
void Exchange::check_results(std::size_t at, TurnDriver::Then then) {
  if (at == parts_.tool_results.size()) return run_main(std::move(then));
  TurnInput checked = input();
  checked.tool_result = tool_result(parts_.tool_results[at]);
  checked.tool_calls = tool_call_line(checked.tool_result->name, "");
  checked.state = {};
  drive(std::move(checked), environment({}),
        [self = shared_from_this(), at, then = std::move(then)](TurnResult result) mutable {
          if (result.outcome == Outcome::blocked || result.outcome == Outcome::failed) return then(std::move(result));
          std::ranges::move(result.rails, std::back_inserter(self->result_rails_));
          if (result.outcome == Outcome::modified) {
            const auto same = [&](const ChatMessage& each) { return each.json == self->parts_.tool_results[at].json; };
            for (ChatMessage& each : self->request_.messages)
              if (same(each)) alter(each, result.user_message);
          }
          self->check_results(at + 1, std::move(then));
        });
}

void Exchange::run_main(TurnDriver::Then then) {
  TurnInput main = input();
  main.user_message = parts_.user_message.value_or("");
  main.bot_message = parts_.bot_message;
  for (const ToolCall& each : parts_.tool_calls) main.tool_calls += tool_call_line(each.name, each.arguments);
  main.rails.output.on = main.rails.output.on && output_rails_;
  drive(std::move(main), environment(std::exchange(stream_, {})), std::move(then));
}

void Exchange::run_apart(TurnInput input, TurnDriver::Then then) {
  drive(std::move(input), environment({}), std::move(then));
}

/// A turn is over: of rails side by side one has blocked, and what the others wait for is not wanted any more.
void Exchange::leave(std::uint64_t turn) {
  std::vector<UnderWay> actions;
  {
    const std::scoped_lock lock(mutex_);
    const auto rest = std::ranges::partition(actions_, [&](const UnderWay& each) { return each.turn != turn; });
    std::ranges::move(rest, std::back_inserter(actions));
    actions_.erase(rest.begin(), rest.end());
  }
  for (UnderWay& each : actions) each.action.cancel();
}

void Exchange::cancel() {
  std::vector<std::weak_ptr<TurnDriver>> drivers;
  std::vector<UnderWay> actions;
  {
    const std::scoped_lock lock(mutex_);
    cancelled_ = true;
    drivers.swap(drivers_);
    actions.swap(actions_);
  }
  for (const auto& each : drivers)
    if (const auto driver = each.lock()) driver->cancel();
  for (UnderWay& each : actions) each.action.cancel();
}

Variables Exchange::generated_from() const {
  const std::scoped_lock lock(mutex_);
  Variables out;
  if (generated_from_) out = generated_from_->all();
  out.erase("config");
  return out;
}

std::optional<web::Failure> Exchange::main_failure() const {
  const std::scoped_lock lock(mutex_);
  if (!main_failure_) return std::nullopt;
  web::Failure out{.status = main_failure_->status, .message = main_failure_->message, .code = main_failure_->code};
  if (main_failure_->retry_after)
    out.headers.emplace_back("Retry-After", std::to_string(main_failure_->retry_after->count()));
  return out;
}

TurnTimes Exchange::times() const {
  const Moment ended = now();
  const std::chrono::duration<double> today = std::chrono::system_clock::now().time_since_epoch();
  return {
      .unix_at_zero = today.count() - std::chrono::duration<double>(ended).count(), .began = began_, .ended = ended};
}

}  // namespace stackgate::guardrail
