// A Deferred over a real request. Whoever ends the request first records it: its holder or the connection, which ends
// it at the latest, while the App's AppState still lives. Nothing of the AppState is used afterwards.
#pragma once
#include <memory>
#include <mutex>
#include <optional>

#include "services/kit/run/shares.hpp"
#include "services/kit/web/deferred.hpp"
#include "services/kit/web/request_record.hpp"

namespace stackgate::web {

class LiveCall;

class LiveDeferred final : public Deferred, public http::AnswerWatcher {
 public:
  LiveDeferred(std::shared_ptr<LiveCall> call, run::Shares::Place place);

  Call& call() override;
  void answer(Answer answer) override;
  void start(http::Response head, std::optional<std::uint64_t> length) override;
  bool write(std::string_view bytes) override;
  void finish() override;
  void on_closed(std::move_only_function<void()> then) override;
  void on_writable(std::move_only_function<void()> then) override;
  bool stopping() const override;
  /// Its holder has let go of it.
  void drop();
  /// With anything but Later: that is the answer, unless there is one.
  void handler_returned(Answer answer);

  void writable() override;
  void ended(bool whole) override;

 private:
  enum class State : std::uint8_t { waiting, streaming, ended };

  const std::shared_ptr<LiveCall> call_;
  mutable std::mutex mutex_;
  State state_ = State::waiting;
  bool handler_runs_ = true, dropped_ = false;
  bool closed_ = false;  // ended before the answer was whole
  std::optional<run::Shares::Place> place_;
  std::unique_ptr<http::AsyncBodyWriter> writer_;  // null once the body is whole
  Outcome outcome_{};
  bool head_only_ = false;
  std::move_only_function<void()> on_closed_, on_writable_;
};

}  // namespace stackgate::web
