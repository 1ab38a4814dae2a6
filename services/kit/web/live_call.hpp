// A Call over a real request: from the I/O thread to a pool thread if need be, answered once.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "services/kit/base/current_trace.hpp"
#include "services/kit/http/message.hpp"
#include "services/kit/web/arrival.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/inflate.hpp"
#include "services/kit/web/router.hpp"
#include "services/kit/web/site.hpp"

namespace stackgate::web {

class LiveCall final : public Call {
 public:
  /// `request` lives until the responder has been called.
  LiveCall(Site& site, const http::Request& request, http::Responder responder, Match match);

  /// Runs the route's handler, or says that there is none, and answers. Never throws.
  void serve() noexcept;
  /// Answers instead of the handler.
  void refuse(Failure failure);

  const http::Request& request() const override { return *arrival_.request; }
  std::string_view parameter(std::string_view name) const override;
  const Query& query() const override;
  std::string_view request_id() const override { return arrival_.request_id; }
  std::string base_url() const override;
  void set_actor(std::string_view name) override { arrival_.actor = name; }
  const TraceContext& trace() const override { return arrival_.trace; }
  bool stopping() const override;
  std::expected<std::string_view, Failure> body() override;
  std::expected<const json::Document*, Failure> json() override;
  http::BodyReader& stream() override;
  std::unique_ptr<http::BodyWriter> start(http::Response head, std::optional<std::uint64_t> length) override;

 private:
  CurrentTrace current() const;
  std::optional<Failure> decode_parameters();
  Answer answer_of_route();
  void finish(Answer answer);
  void send(http::Response response);
  std::expected<bool, Failure> is_gzipped() const;
  std::expected<std::string, Failure> read_stream();

  Site& site_;
  http::Responder responder_;
  Match match_;
  Arrival arrival_;
  const std::string_view body_;              // as it came
  bool answered_ = false, gave_up_ = false;  // gave_up_: began an answer and dropped it before its first byte
  std::vector<std::string> decoded_{};       // of the parameters with escapes
  std::array<std::string_view, max_parameters> values_{};
  mutable std::optional<Query> query_{};
  std::optional<std::string> inflated_{};
  std::optional<json::Document> document_{};
  std::unique_ptr<http::BodyReader> raw_{}, reader_{};
  std::shared_ptr<KeptRequest> kept_{};
};

}  // namespace stackgate::web
