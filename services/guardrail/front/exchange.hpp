// One request on its way: its configuration, its turns, and what ends with it. Thread-safe.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "services/guardrail/api/answer.hpp"
#include "services/guardrail/api/log.hpp"
#include "services/guardrail/front/front.hpp"
#include "services/guardrail/front/turn_driver.hpp"

namespace stackgate::guardrail {

class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  /// `parts`: of the request's messages.
  Exchange(FrontPtr front, ConfigurationPtr configuration, ChatRequest request, TurnParts parts);

  const Front& front() const { return *front_; }
  const ChatRequest& request() const { return request_; }
  const TurnParts& parts() const { return parts_; }
  const ConfigurationPtr& configuration() const { return configuration_; }
  AnswerHead head() const { return {.id = id_, .created = created_, .model = model_}; }

  ~Exchange();

  /// Opens the request's thread, if it names one, and puts its messages before the request's. The error is for the
  /// client. Before run().
  void open_thread(std::move_only_function<void(std::expected<void, web::Failure>)> then);
  /// Appends the turn to its thread, if there is one: what was asked, as the rails left it, and `said`. Then `then`.
  void remember(const TurnResult& result, std::string said, Threads::Then then);

  /// The turn of the request: results of tools pass the input rails first. `stream`: gets the main model's answer while
  /// it comes, if there is one.
  void run(std::shared_ptr<AnswerStream> stream, TurnDriver::Then then);
  /// The output rails of run() are left to whoever streams.
  void leave_output_rails() { output_rails_ = false; }
  /// A turn of its own, with the request's environment: a piece of a stream.
  void run_apart(TurnInput input, TurnDriver::Then then);
  /// Everything that is under way ends, and no `then` is called.
  void cancel();

  /// The request's turn, without message and answer.
  TurnInput input() const;
  /// What was known when the main model was asked for its answer; of a stream.
  Variables generated_from() const;
  /// Why the main model gave no answer: what the client is told.
  std::optional<web::Failure> main_failure() const;
  TurnTimes times() const;

 private:
  struct UnderWay {
    std::uint64_t turn;
    ActionHandle action;
  };

  void leave(std::uint64_t turn);
  void check_results(std::size_t at, TurnDriver::Then then);
  ToolResult tool_result(const ChatMessage& message) const;
  void run_main(TurnDriver::Then then);
  void drive(TurnInput input, std::shared_ptr<const ActionEnvironment> environment, TurnDriver::Then then);
  std::shared_ptr<const ActionEnvironment> environment(std::shared_ptr<AnswerStream> stream);

  const FrontPtr front_;
  const ConfigurationPtr configuration_;
  ChatRequest request_;  // results of tools may be altered by rails
  TurnParts parts_;
  const std::string id_, model_;
  const std::int64_t created_;
  const Moment began_;
  bool output_rails_ = true;  // of run(); set before it

  mutable std::mutex mutex_;
  std::optional<OpenConversation> thread_{};  // until it is remembered
  std::vector<Message> earlier_{};            // of the thread
  std::shared_ptr<AnswerStream> stream_{};
  std::vector<ActivatedRail> result_rails_{};  // of results of tools, which come before the turn's
  std::vector<std::weak_ptr<TurnDriver>> drivers_{};
  std::vector<UnderWay> actions_{};
  std::uint64_t turns_ = 0;                          // begun
  std::optional<SharedVariables> generated_from_{};  // of an answer that is streamed
  std::optional<ModelFailure> main_failure_{};
  bool cancelled_ = false;
};

}  // namespace stackgate::guardrail
