#include "services/guardrail/front/streaming.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "services/guardrail/api/failures.hpp"
#include "services/guardrail/front/answers.hpp"
#include "services/guardrail/stream/window.hpp"
#include "services/kit/http/message.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::size_t most_held = 64U << 10U;  // bytes of an answer that wait; beyond, the model waits

bool has_output_rails(const Configuration& configuration, const ChatRequest& request) {
  return request.options.rails.output.on && !configuration.output.flows.empty();
}

bool has_tool_rails(const Configuration& configuration, const ChatRequest& request) {
  return request.options.tool_calls.on && !configuration.tool_output.flows.empty();
}

/// `rail`: as configured, arguments included.
bool is_chosen(const RailChoice& choice, std::string_view rail) {
  return !choice.only || std::ranges::any_of(*choice.only, [&](const std::string& each) {
    return each == rail || each == rail.substr(0, rail.find(" $"));
  });
}

/// Its prompt's output parser wants the whole answer.
bool is_parsed(const Configuration& configuration) {
  return std::ranges::any_of(configuration.prompts.prompts,
                             [](const Prompt& each) { return each.task == "general" && !each.output_parser.empty(); });
}

/// Calls of tools are judged as a whole.
bool has_tools(const ChatRequest& request) {
  json::Document document;
  const auto root = json::parse(request.parameters, document, {.max_depth = 128});
  return root && root->find("tools") != nullptr;
}

/// What is written to a client: head, events, end.
class EventWriter {
 public:
  EventWriter(std::shared_ptr<web::Deferred> client, const Exchange& exchange)
      : client_(std::move(client)), exchange_(exchange) {}

  bool begun() const { return begun_; }
  void refuse(web::Failure failure) {
    if (!begun_) return client_->answer(std::move(failure));
    end(error_event(failure));
  }
  /// False: the client is behind.
  bool text(std::string_view text) {
    return text.empty() || event(text_chunk(exchange_.head(), text, exchange_.request().include_usage));
  }
  bool event(std::string_view event) {
    begin();
    return client_->write(event);
  }
  void end(std::string_view last_event) {
    begin();
    client_->write(std::string(last_event).append(done_event));
    client_->finish();
  }
  void finish(const TurnResult& result) {
    const Extras extras(exchange_, result);
    const AnswerHead head = exchange_.head();
    const bool usage = exchange_.request().include_usage;
    std::string last;
    if (!extras.tool_calls.empty()) last += tool_calls_chunk(head, extras.tool_calls, usage);
    last += finish_chunk(head, extras.finish_reason, &extras.guardrails, usage);
    if (usage) last += usage_chunk(head, extras.usage);
    end(last);
  }

 private:
  void begin() {
    if (std::exchange(begun_, true)) return;
    client_->start({.status = 200, .content_type = "text/event-stream", .headers = {{"Cache-Control", "no-cache"}}},
                   std::nullopt);
    client_->write(begin_chunk(exchange_.head(), exchange_.request().include_usage));
  }

  const std::shared_ptr<web::Deferred> client_;
  const Exchange& exchange_;
  bool begun_ = false;
};

/// An answer on its way from the main model through the output rails to the client.
class Passing final : public AnswerStream, public std::enable_shared_from_this<Passing> {
 public:
  Passing(std::shared_ptr<Exchange> exchange, std::shared_ptr<web::Deferred> client, bool checks)
      : exchange_(std::move(exchange)),
        checks_(checks),
        window_({.chunk_size = exchange_->configuration()->streaming.chunk_size,
                 .context_size = exchange_->configuration()->streaming.context_size,
                 // What nobody checks leaves as it comes.
                 .stream_first = !checks || exchange_->configuration()->streaming.stream_first}),
        out_(std::move(client), *exchange_) {}

  void begins(ModelCallHandle call) override {
    const std::scoped_lock lock(mutex_);
    call_ = std::move(call);
  }

  bool take(const ModelDelta& delta) override {
    {
      const std::scoped_lock lock(mutex_);
      if (over_) return false;
      window_.append(delta.text);
    }
    pump();
    const std::scoped_lock lock(mutex_);
    waits_ = behind_ || window_.held() > most_held;
    return !waits_;
  }

  void writable() {
    {
      const std::scoped_lock lock(mutex_);
      behind_ = false;
    }
    pump();
  }

  /// The turn is over.
  void ended(TurnResult result) {
    {
      const std::scoped_lock lock(mutex_);
      if (over_) return;
      const bool streamed = out_.begun() || window_.held() > 0;
      if (result.outcome == Outcome::failed) {
        over_ = true;
        return out_.refuse(failure_of(*exchange_, result));
      }
      if (result.exception) {
        over_ = true;
        return out_.end(exception_event(*result.exception, result.rail));
      }
      // Calls that no request's tools announced are judged when the text has passed.
      if (checks_) calls_ = result.variables.bytes("generated_tool_calls");
      // What an input rail says instead of the answer.
      if ((!streamed && calls_.empty()) || result.outcome == Outcome::blocked) {
        over_ = true;
        out_.text(result.text);
        return end_remembered(result, result.text);
      }
      result_ = std::move(result);
      window_.end();
    }
    pump();
  }

 private:
  /// Sends what may leave, checks what comes next; by one thread at a time.
  void pump() {
    std::unique_lock lock(mutex_);
    again_ = true;
    if (std::exchange(pumping_, true)) return;
    while (std::exchange(again_, false) && !over_) {
      if (const std::string text = window_.take(); !text.empty()) {
        sent_ += text;
        if (!out_.text(text)) behind_ = true;
      }
      auto next = window_.next();
      if (next && checks_) {
        lock.unlock();
        check(std::move(*next), {});
        lock.lock();
      } else if (next) {
        window_.passed();
        again_ = true;
      } else if (result_ && window_.done() && !calls_.empty()) {
        if (std::exchange(judging_calls_, true)) continue;
        lock.unlock();
        check({}, calls_);
        lock.lock();
      } else if (result_ && window_.done()) {
        over_ = true;
        if (altered_) hide_answer();
        end_remembered(*result_, sent_);
      } else if (waits_ && !behind_ && window_.held() <= most_held) {
        waits_ = false;
        lock.unlock();
        call_.resume();
        lock.lock();
      }
    }
    pumping_ = false;
  }

  /// The last event leaves when the turn is kept.
  void end_remembered(const TurnResult& result, std::string said) {
    exchange_->remember(result, std::move(said), [self = shared_from_this(), result](const auto& kept) {
      if (!kept) return self->out_.refuse(kept.error());
      self->out_.finish(result);
    });
  }

  void check(std::string text, std::string calls) {
    TurnInput input = exchange_->input();
    input.context = exchange_->generated_from();
    if (const auto message = input.context.find("user_message"); message != input.context.end())
      input.user_message = message->second.bytes();
    input.bot_message = std::move(text);
    input.tool_calls = std::move(calls);
    input.rails.input.on = false;
    input.rails.tool_calls.on = false;  // the turn itself ran them
    input.state = {};
    exchange_->run_apart(std::move(input),
                         [self = shared_from_this()](const TurnResult& result) { self->judged(result); });
  }

  void judged(const TurnResult& result) {
    bool ends = false;
    {
      const std::scoped_lock lock(mutex_);
      if (over_) return;
      if (result.outcome == Outcome::passed && judging_calls_)
        calls_.clear();
      else if (result.outcome == Outcome::passed)
        window_.passed();
      else if (result.outcome == Outcome::modified)
        take_altered(result.text);
      else
        ends = over_ = true;
      if (ends) {
        window_.blocked();
        out_.end(result.exception ? exception_event(*result.exception, result.rail) : violation_event(result.rail));
      }
    }
    if (ends) return exchange_->cancel();
    pump();
  }

  void take_altered(std::string_view text) {
    window_.altered(text);
    altered_ = true;
  }

  /// What no window's turn knows: the answer as a whole.
  void hide_answer() {
    result_->outcome = Outcome::modified;
    result_->hides_answer = true;
    if (!result_->text.empty()) result_->hidden.push_back(result_->text);
  }

  const std::shared_ptr<Exchange> exchange_;
  const bool checks_;
  std::mutex mutex_;  // of what follows
  StreamWindow window_;
  EventWriter out_;
  std::string sent_{};  // to the client, for the thread
  ModelCallHandle call_{};
  std::optional<TurnResult> result_{};
  std::string calls_{};  // of tools, that wait for the output rails
  bool judging_calls_ = false;
  bool pumping_ = false, again_ = false, behind_ = false, waits_ = false, over_ = false;
  bool altered_ = false;  // an output rail has altered a window
};

void stream_at_the_end(const std::shared_ptr<Exchange>& exchange, std::shared_ptr<web::Deferred> client) {
  exchange->run({}, [exchange, client = std::move(client)](const TurnResult& result) {
    const auto out = std::make_shared<EventWriter>(client, *exchange);
    if (result.outcome == Outcome::failed) return out->refuse(failure_of(*exchange, result));
    if (result.exception) return out->end(exception_event(*result.exception, result.rail));
    out->text(result.text);
    exchange->remember(result, result.text, [exchange, out, result](const auto& kept) {
      if (!kept) return out->refuse(kept.error());
      out->finish(result);
    });
  });
}

}  // namespace

std::optional<web::Failure> refuse_stream(const Configuration& configuration, const ChatRequest& request) {
  if (!configuration.streaming.enabled || !has_output_rails(configuration, request)) return std::nullopt;
  std::vector<std::string> names;
  for (const StreamObstacle& each : configuration.stream_obstacles)
    if (is_chosen(request.options.rails.output, each.rail)) names.push_back(each.rail);
  if (names.empty()) return std::nullopt;
  return no_streaming(configuration.id, names);
}

void stream_answer(const std::shared_ptr<Exchange>& exchange, std::shared_ptr<web::Deferred> client) {
  const Configuration& configuration = *exchange->configuration();
  const bool rails = has_output_rails(configuration, exchange->request());
  const bool given = exchange->parts().bot_message.has_value();
  if (configuration.has_dialog() || given || !exchange->request().options.rails.dialog.on || is_parsed(configuration) ||
      (rails && !configuration.streaming.enabled) ||
      ((rails || has_tool_rails(configuration, exchange->request())) && has_tools(exchange->request())))
    return stream_at_the_end(exchange, std::move(client));
  const auto passing = std::make_shared<Passing>(exchange, client, rails);
  client->on_writable([weak = std::weak_ptr(passing)] {
    if (const auto there = weak.lock()) there->writable();
  });
  exchange->leave_output_rails();
  exchange->run(passing, [passing](TurnResult result) { passing->ended(std::move(result)); });
}

}  // namespace stackgate::guardrail
