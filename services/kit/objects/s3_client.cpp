#include "services/kit/objects/s3_client.hpp"

#include <algorithm>
#include <limits>
#include <thread>
#include <utility>

#include "services/kit/base/time.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::objects {
namespace s3_client_detail {

constexpr std::int64_t no_skew = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t worrying_skew = 300;  // S3 refuses at 900
constexpr std::chrono::seconds quick_limit{5};

http_client::Options fetch_options(const S3Options& options, bool quick) {
  http_client::Options out;
  out.connect = quick ? std::min<std::chrono::milliseconds>(options.connect, quick_limit) : options.connect;
  out.pause = options.pause;
  out.retries = quick ? 0 : options.retries;
  out.ca_file = options.ca_file;
  if (quick) out.whole = quick_limit;
  return out;
}

Endpoint endpoint_of(const std::string& text, bool ssl) {
  // faults_of() has looked at it before.
  return parse_endpoint(text, ssl).value_or(Endpoint{});
}

}  // namespace s3_client_detail

using namespace s3_client_detail;

S3Client::S3Client(S3Options options)
    : options_(std::move(options)),
      credentials_{.access_key = options_.access_key,
                   .secret_key = options_.secret_key,
                   .session_token = options_.session_token,
                   .region = options_.region},
      inner_(endpoint_of(options_.endpoint, options_.ssl)),
      outer_(options_.public_endpoint.empty() ? inner_ : endpoint_of(options_.public_endpoint, options_.ssl)),
      patient_(fetch_options(options_, false)),
      quick_(fetch_options(options_, true)),
      skew_(no_skew) {}

std::string S3Client::path_of(std::string_view key) const {
  std::string path = "/";
  if (options_.path_style) {
    path += options_.bucket;
    if (key.empty()) return path;
    path += '/';
  }
  return path.append(key);
}

std::string S3Client::authority_of(const Endpoint& endpoint) const {
  return options_.path_style ? endpoint.authority() : endpoint.authority(options_.bucket + ".");
}

sigv4::SigningKey S3Client::key_of(sigv4::Time now) const {
  const std::string today = sigv4::amz_date(now).substr(0, 8);
  const std::scoped_lock hold(key_lock_);
  if (key_.date != today) key_ = sigv4::derive_key(credentials_, now);
  return key_;
}

Expected<S3Reply> S3Client::send(S3Call& call) {
  const sigv4::Time now = std::chrono::system_clock::now();
  const std::string path = path_of(call.key);
  const sigv4::Request request{
      .method = call.method, .path = path, .query = call.query, .headers = {{"host", authority_of(inner_)}}};
  http_client::Request out{.method = call.method};
  out.url = std::string(inner_.scheme()) + "://" + authority_of(inner_) + sigv4::target_of(request);
  out.headers = sigv4::sign_headers(credentials_, key_of(now), request, crypto::to_hex(crypto::sha256(call.body)), now);
  out.headers.insert(out.headers.end(), call.headers.begin(), call.headers.end());
  out.body = std::move(call.body);
  out.largest_reply = call.largest_reply;
  // A POST that comes twice begins an upload that is never finished, or completes one that is complete: harmless.
  out.repeatable = true;
  auto reply = (call.quick ? quick_ : patient_).call(out);
  // S3 means "try again" by 500; Ceph sends it to who reads an object that is being replaced. kit/http_client repeats
  // the other temporary statuses, not this one, which elsewhere is a fault that stays.
  for (unsigned again = 0; !call.quick && again < options_.retries && reply && reply->status == 500; ++again) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50) * (1U << std::min(again, 5U)));
    reply = patient_.call(out);
  }
  call.body = std::move(out.body);
  if (!reply)
    return std::unexpected(StoreError{Fault::away, "the object store does not answer: " + reply.error().message});
  note_clock(*reply);
  S3Reply answer{.reply = std::move(*reply)};
  if (answer.reply.status >= 300) answer.fault = parse_fault(answer.reply.body);
  return answer;
}

Expected<http_client::Response> S3Client::must(S3Call& call, std::string_view what) {
  auto answer = TRY(send(call));
  if (answer.reply.status < 300) return std::move(answer.reply);
  std::string sentence(what);
  if (!call.key.empty()) sentence.append(" ").append(call.key);
  return std::unexpected(explain(answer.reply.status, answer.fault, sentence, options_.bucket));
}

std::string S3Client::presign(std::string_view method, std::string_view key, sigv4::Fields query, sigv4::Fields headers,
                              std::chrono::seconds valid) const {
  static constexpr std::chrono::seconds longest = std::chrono::hours(24 * 7);
  const sigv4::Time now = std::chrono::system_clock::now();
  const std::string path = path_of(key);
  const std::string authority = authority_of(outer_);
  headers.emplace_back("host", authority);
  const sigv4::Request request{
      .method = method, .path = path, .query = std::move(query), .headers = std::move(headers)};
  return std::string(outer_.scheme()) + "://" + authority +
         sigv4::presign(credentials_, key_of(now), request, now, std::clamp(valid, std::chrono::seconds(1), longest));
}

std::optional<std::chrono::seconds> S3Client::clock_skew() const {
  const std::int64_t skew = skew_.load(std::memory_order_relaxed);
  if (skew == no_skew) return std::nullopt;
  return std::chrono::seconds(skew);
}

void S3Client::note_clock(const http_client::Response& reply) {
  const auto date = from_http_date(reply.header("date").value_or(""));
  if (!date) return;
  const auto ahead = std::chrono::duration_cast<std::chrono::seconds>(*date - std::chrono::system_clock::now()).count();
  const std::int64_t before = skew_.exchange(ahead, std::memory_order_relaxed);
  const auto worrying = [](std::int64_t skew) {
    return skew != no_skew && (skew > worrying_skew || skew < -worrying_skew);
  };
  if (worrying(ahead) && !worrying(before))
    log::warning("the object store's clock differs from this machine's; at 15 minutes every call is refused",
                 {{"seconds_ahead", ahead}});
}

}  // namespace stackgate::objects
