#include "services/kit/relay/relay.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/http/text.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/relay/headers.hpp"

namespace stackgate::relay {
namespace relay_detail {

constexpr std::uint64_t most_at_once = 64 * 1024;

std::optional<std::uint64_t> length_of(const http_client::Head& head) {
  const auto text = head.header("content-length");
  return text ? to_number<std::uint64_t>(*text) : std::nullopt;
}

http::Response answer_head(http_client::Head head) {
  HopByHop hop_by_hop;
  for (const auto& [name, value] : head.headers)
    if (http::equal_ignoring_case(name, "connection")) hop_by_hop.add_connection(value);
  http::Response out{.status = head.status, .content_type = {}};
  out.headers.reserve(head.headers.size() + 2);  // and those of every answer
  for (auto& [name, value] : head.headers) {
    if (http::equal_ignoring_case(name, "content-type"))
      out.content_type = std::move(value);
    else if (!hop_by_hop.has(name) && !http::equal_ignoring_case(name, "date") &&
             !http::equal_ignoring_case(name, "x-request-id"))  // ours, both
      out.headers.emplace_back(std::move(name), std::move(value));
  }
  return out;
}

/// One answer on its way. Its steps follow each other, on the upstream's thread or the client's.
class Passage : public std::enable_shared_from_this<Passage> {
 public:
  explicit Passage(std::shared_ptr<web::Deferred> client, std::shared_ptr<Witness> witness = {})
      : client_(std::move(client)),
        head_only_(client_->call().request().method == "HEAD"),
        request_id_(client_->call().request_id()),
        witness_(std::move(witness)) {}

  void opened(std::expected<http_client::Answer, Error> answer) {
    if (!answer) {
      log::warning("an upstream gave no answer", {{"error", answer.error().message}, {"request_id", request_id_}});
      client_->answer(
          web::Failure{502, "the upstream gave no answer; the log has the details under this request's id"});
      return client_.reset();
    }
    upstream_.emplace(std::move(*answer));
    const auto length = length_of(upstream_->head());
    http::Response head = answer_head(upstream_->take_head());
    if (length && *length <= most_at_once && !head_only_) {
      whole_ = std::move(head);
      length_ = *length;
    } else {
      client_->on_writable([self = shared_from_this()] { self->read(); });
      client_->start(std::move(head), length);
      if (!length) client_->write({});  // the first piece may be long in coming
    }
    read();
  }

 private:
  void read() {
    upstream_->read([self = shared_from_this()](std::expected<std::string, Error> piece) {
      if (self->take(std::move(piece))) self->read();
    });
  }

  /// True when the next piece is wanted now.
  bool take(std::expected<std::string, Error> piece) {
    if (!piece) {
      log::warning("an upstream's answer broke off", {{"error", piece.error().message}, {"request_id", request_id_}});
    } else if (!piece->empty()) {
      if (witness_ && !std::exchange(has_begun_, true)) witness_->first_piece();
      if (!whole_) return client_->write(*piece);
      if (whole_->body.empty() && piece->size() == length_) {
        whole_->body = std::move(*piece);
      } else {
        whole_->body.reserve(length_);
        whole_->body += *piece;
      }
      return true;
    } else if (whole_) {
      client_->answer(std::move(*whole_));
      if (witness_) witness_->whole();
    } else {
      client_->finish();
      if (witness_) witness_->whole();
    }
    client_.reset();  // unfinished: 500, or cut
    return false;
  }

  std::shared_ptr<web::Deferred> client_;
  const bool head_only_;
  const std::string request_id_;
  const std::shared_ptr<Witness> witness_;
  bool has_begun_ = false;
  std::optional<http_client::Answer> upstream_;
  std::optional<http::Response> whole_;
  std::size_t length_ = 0;  // of its body
};

}  // namespace relay_detail

std::expected<http_client::Request, web::Failure> forwarded(web::Call& call, std::string_view base) {
  const http::Request& request = call.request();
  const auto body = TRY(call.body());
  http_client::Request out{.method = std::string(request.method), .url = {}};
  out.url.reserve(base.size() + request.path.size() + request.query.size() + 1);
  out.url.append(base).append(request.path);
  if (!request.query.empty()) out.url.append("?").append(request.query);
  HopByHop hop_by_hop;
  for (const auto& [name, value] : request.headers)
    if (http::equal_ignoring_case(name, "connection")) hop_by_hop.add_connection(value);
  out.headers.reserve(request.headers.size() + 1);
  for (const auto& [name, value] : request.headers) {
    const bool is_ours = http::equal_ignoring_case(name, "traceparent") ||
                         http::equal_ignoring_case(name, "tracestate") ||
                         http::equal_ignoring_case(name, "x-request-id") ||
                         http::equal_ignoring_case(name, "content-encoding");  // the body is inflated
    if (!is_ours && !hop_by_hop.has(name)) out.headers.emplace_back(name, value);
  }
  out.headers.emplace_back("X-Request-Id", call.request_id());
  out.body = body;
  return out;
}

web::Answer relay(web::Call& call, const http_client::Client& client, http_client::Request request) {
  auto deferred = call.defer();
  if (!deferred) return std::move(deferred.error());
  const auto passage = std::make_shared<relay_detail::Passage>(*deferred);
  auto opening = client.open(std::move(request), [passage](std::expected<http_client::Answer, Error> answer) {
    passage->opened(std::move(answer));
  });
  (*deferred)->on_closed([opening]() mutable { opening.cancel(); });
  return web::Later{};
}

void pass_back(std::shared_ptr<web::Deferred> client, std::expected<http_client::Answer, Error> answer,
               std::shared_ptr<Witness> witness) {
  std::make_shared<relay_detail::Passage>(std::move(client), std::move(witness))->opened(std::move(answer));
}

}  // namespace stackgate::relay
