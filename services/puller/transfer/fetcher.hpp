// GET with redirects: credentials go to the origin that they are for and to no other. Blocks; thread-safe.
#pragma once
#include <cstdint>
#include <string>

#include "services/kit/http_client/client.hpp"
#include "services/puller/plan/failure.hpp"

namespace stackgate::puller {

struct FetcherOptions {
  std::string authorization{};  // the header's value; empty: anonymous
  std::string ca_text{};        // PEM; empty: the system's authorities
};

class Fetcher {
 public:
  explicit Fetcher(FetcherOptions options);

  /// The answer's head, whatever its status but a redirect; failures are calls without one, and redirects that lead
  /// from https to http, too far, or nowhere.
  Result<http_client::Answer> open(const std::string& url, const http_client::Headers& headers = {},
                                   std::string_view method = "GET") const;

  struct Text {
    http_client::Head head;
    std::string body;
  };
  /// A small answer below 400, whole; repeated when it is cut.
  Result<Text> text(const std::string& url, std::uint64_t largest) const;

  /// What an answer of 400 and above says.
  static Failure failure_of(http_client::Answer& answer, const std::string& url);

 private:
  FetcherOptions options_;
  http_client::Client client_;
};

}  // namespace stackgate::puller
