#include "services/kit/telemetry/sender.hpp"

#include <cstdio>
#include <new>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <zlib.h>

#include "services/kit/base/backoff.hpp"
#include "services/kit/base/version.hpp"
#include "services/kit/http_client/retry.hpp"
#include "services/kit/http_client/url.hpp"
#include "services/kit/telemetry/answers.hpp"

namespace stackgate::telemetry {

namespace {

/// Fast rather than small: telemetry compresses well as it is.
std::string gzip(std::string_view text) {
  constexpr int fast = 1, gzip_window = 15 + 16, memory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, fast, Z_DEFLATED, gzip_window, memory, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  // zlib does not write through it.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);  // deflateBound() is enough for one call
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

namespace sender_detail {

using std::chrono::milliseconds;

constexpr std::size_t worth_compressing = 1024;
constexpr std::chrono::seconds longest_patience{600};  // with a collector that asks for more

}  // namespace sender_detail

Sender::Sender(const Options& options, const Output& output, ShutdownDeadline& deadline)
    : options_(options),
      output_(output),
      deadline_(deadline),
      client_({.connect = std::min(options.timeout, std::chrono::milliseconds(5'000)),
               .retries = 0,
               .ca_file = options.ca_file,
               .user_agent = fmt::format("stackgate/{}", version)}) {}

/// Nothing when it should be tried again.
std::optional<Sent> Sender::attempt(const http_client::Request& call, std::string& why,
                                    std::optional<std::chrono::seconds>& asked) const {
  const auto reply = client_.call(call);
  if (!reply) {
    why = reply.error().message;
    return std::nullopt;
  }
  const std::string_view type = reply->header("content-type").value_or("");
  if (reply->status >= 200 && reply->status < 300) {
    Partial partial = read_partial(type, reply->body);
    return Sent{true, partial.rejected, std::move(partial.message)};
  }
  const std::string words = read_refusal(type, reply->body);
  why = fmt::format("{} answers {}{}{}", http_client::without_secrets(output_.url), reply->status,
                    words.empty() ? "" : ": ", words);
  if (!is_retryable(reply->status)) return Sent{false, 0, why};
  if (const auto after = reply->header("retry-after"))
    asked = http_client::parse_retry_after(*after, std::chrono::system_clock::now());
  return std::nullopt;
}

Sent Sender::send(const std::string& body, std::chrono::milliseconds whole) {
  using namespace sender_detail;
  using Clock = ShutdownDeadline::Clock;
  http_client::Request call{.method = "POST", .url = output_.url, .headers = options_.headers, .repeatable = false};
  call.headers.emplace_back("Content-Type", media_type(options_.encoding));
  if (options_.gzip && body.size() > worth_compressing) {
    call.headers.emplace_back("Content-Encoding", "gzip");
    call.body = gzip(body);
  } else {
    call.body = body;
  }
  call.largest_reply = 1024 * 1024;
  call.give_up = [this] { return deadline_.over(); };
  deadline_.sleep_until(not_before_);
  const auto until = Clock::now() + whole;
  const auto left = [&] { return deadline_.at_most(std::chrono::duration_cast<milliseconds>(until - Clock::now())); };
  std::string why = "there was no time left to send it";
  for (unsigned next = 1;; ++next) {
    call.whole = std::min(options_.timeout, left());
    if (call.whole.count() <= 0) return {false, 0, why};
    std::optional<std::chrono::seconds> asked;
    if (auto sent = attempt(call, why, asked)) return *std::move(sent);
    if (asked) asked = std::min(*asked, longest_patience);
    const milliseconds wait = asked ? milliseconds(*asked) : *http_client::wait_before(next, {}, Jitter::draw());
    if (wait >= left()) {
      if (asked) not_before_ = Clock::now() + wait;
      return {false, 0, why};
    }
    deadline_.sleep_for(wait);
  }
}

}  // namespace stackgate::telemetry
