// A Call over a real request: from the I/O thread to a pool thread if need be, answered once.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "services/kit/base/current_trace.hpp"
#include "services/kit/http/message.hpp"
#include "services/kit/web/app_state.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/inflate.hpp"
#include "services/kit/web/request_record.hpp"
#include "services/kit/web/router.hpp"

namespace stackgate::web {

class LiveDeferred;

class LiveCall final : public Call, public std::enable_shared_from_this<LiveCall> {
 public:
  /// `request` lives until the responder has been called.
  LiveCall(AppState& state, const http::Request& request, http::Responder responder, Match match);

  /// Runs the route's handler, or says that there is none, and answers. Never throws.
  void serve() noexcept;
  /// Answers instead of the handler.
  void refuse(Failure failure);
  /// Whose share it takes part in.
  const std::string& share();
  /// Where the route wants it to work. Nothing: it has been answered.
  std::optional<Placement> place() noexcept;

  const http::Request& request() const override { return *record_.request; }
  std::string_view parameter(std::string_view name) const override;
  const Query& query() const override;
  std::string_view request_id() const override { return record_.request_id; }
  std::string base_url() const override;
  void set_actor(std::string_view name) override { record_.actor = name; }
  const TraceContext& trace() const override { return record_.trace; }
  bool stopping() const override;
  std::expected<std::string_view, Failure> body() override;
  std::expected<const json::Document*, Failure> json() override;
  http::BodyReader& stream() override;
  std::unique_ptr<http::BodyWriter> start(http::Response head, std::optional<std::uint64_t> length) override;
  std::expected<std::shared_ptr<Deferred>, Failure> defer() override;

  // For LiveDeferred.
  /// Rendered, complete with headers, and recorded: to be sent at once.
  http::Response finished(Answer&& answer);
  void recorded(const Outcome& outcome);
  http::Responder& responder() { return responder_; }

 private:
  CurrentTrace current() const;
  template <class Work>
  void guarded(const Work& work) noexcept;

  std::optional<Failure> decode_parameters();
  Answer answer_of_route();
  void finish(Answer answer);
  std::expected<bool, Failure> is_gzipped() const;
  std::expected<std::string, Failure> read_stream();

  AppState& state_;
  http::Responder responder_;
  Match match_;
  RequestRecord record_;
  const std::string_view body_;              // as it came
  bool answered_ = false, gave_up_ = false;  // gave_up_: began an answer and dropped it before its first byte
  bool decoded_parameters_ = false, is_deferred_ = false;
  std::vector<std::string> decoded_{};  // of the parameters with escapes
  std::array<std::string_view, max_parameters> values_{};
  mutable std::optional<Query> query_{};
  std::optional<std::string> inflated_{};
  std::optional<json::Document> document_{};
  std::unique_ptr<http::BodyReader> raw_{}, reader_{};
  std::shared_ptr<KeptRequest> kept_{};
  std::string share_{};                       // empty: not asked for yet
  std::shared_ptr<LiveDeferred> deferred_{};  // while the handler runs
};

}  // namespace stackgate::web
