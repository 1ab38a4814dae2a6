#include "services/puller/transfer/fetcher.hpp"

#include <array>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/datastore_client/wire.hpp"
#include "services/kit/http_client/url.hpp"

namespace stackgate::puller {
namespace fetcher_detail {

constexpr int most_redirects = 5, tries_of_text = 3;
constexpr std::size_t longest_words = 8192;

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool is_https(std::string_view url) { return ascii::equal_ignoring_case(url.substr(0, 6), "https:"); }

http_client::Options client_options(const FetcherOptions& options) {
  return {.connect = std::chrono::seconds(15),
          .head = std::chrono::seconds(180),  // a Retry-After of a minute fits in
          .pause = std::chrono::seconds(60),
          .retries = 5,
          .ca_text = options.ca_text,
          .user_agent = "stackgate-puller"};
}

Result<std::string> read_all(http_client::Answer& answer, std::uint64_t largest, const std::string& url) {
  std::string out;
  std::array<char, 16384> space{};
  for (;;) {
    const auto count = answer.read(space);
    if (!count) return std::unexpected(failure_of_call(count.error().message));
    if (*count == 0) return out;
    out.append(space.data(), *count);
    if (out.size() > largest)
      return std::unexpected(Failure{
          Cause::bad_answer, fmt::format("{} has more than {} bytes", http_client::without_secrets(url), largest)});
  }
}

}  // namespace fetcher_detail

Fetcher::Fetcher(FetcherOptions options)
    : options_(std::move(options)), client_(fetcher_detail::client_options(options_)) {}

Result<http_client::Answer> Fetcher::open(const std::string& url, const http_client::Headers& headers,
                                          std::string_view method) const {
  using namespace fetcher_detail;
  const auto bad = [&](std::string_view why) {
    return std::unexpected(Failure{Cause::bad_answer, fmt::format("{}: {}", http_client::without_secrets(url), why),
                                   "check that the endpoint is the right one"});
  };
  http_client::Request request{
      .method = std::string(method), .url = url, .headers = headers, .pieces = http_client::Pieces::large};
  request.headers.emplace_back("Accept-Encoding", "identity");
  if (!options_.authorization.empty()) request.headers.emplace_back("Authorization", options_.authorization);
  for (int hop = 0; hop <= most_redirects; ++hop) {
    auto answer = client_.open(request);
    if (!answer) return std::unexpected(failure_of_call(answer.error().message));
    if (!is_redirect(answer->head().status)) return std::move(*answer);
    const auto location = answer->head().header("location");
    const auto target = location ? http_client::redirect_of(request.url, std::string(*location)) : std::nullopt;
    if (!target) return bad("a redirect leads nowhere");
    if (is_https(request.url) && !is_https(target->url)) return bad("a redirect leads from https to http");
    if (!target->same_origin)
      std::erase_if(request.headers, [](const auto& header) { return header.first == "Authorization"; });
    request.url = target->url;
  }
  return bad("too many redirects");
}

Result<Fetcher::Text> Fetcher::text(const std::string& url, std::uint64_t largest) const {
  using namespace fetcher_detail;
  for (int tried = 1;; ++tried) {
    auto answer = TRY(open(url));
    if (answer.head().status >= 400) return std::unexpected(failure_of(answer, url));
    Text out{.head = answer.head(), .body = {}};
    auto body = read_all(answer, largest, url);
    if (!body && body.error().cause == Cause::network && tried < tries_of_text) continue;
    if (!body) return std::unexpected(std::move(body.error()));
    out.body = std::move(*body);
    return out;
  }
}

Failure Fetcher::failure_of(http_client::Answer& answer, const std::string& url) {
  using namespace fetcher_detail;
  const int status = answer.head().status;
  const std::string retry(answer.head().header("retry-after").value_or(""));
  const auto body = read_all(answer, longest_words, url);
  const std::string words = body ? datastore_client::wire::reason_of(*body) : std::string();
  auto failure = failure_of_status(status, http_client::without_secrets(url), words, retry);
  return failure ? std::move(*failure) : Failure{Cause::bad_answer, fmt::format("status {}", status)};
}

}  // namespace stackgate::puller
