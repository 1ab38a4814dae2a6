// Calls to a tracking server, and what came of them. Blocking; one thread. Warns once, until it works again.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include "services/kit/http_client/client.hpp"
#include "services/kit/mlflow/requests.hpp"

namespace stackgate::mlflow {

struct Server {
  std::string url{};               // "https://mlflow:5000"; what is behind it stays
  std::string token{};             // as a bearer; or
  std::string user{}, password{};  // by Basic
  std::string ca_file{};
};

/// Of the header Authorization; "": none.
std::string authorization(const Server& server);

/// What came of a call: an answer to use, a refusal for good, or something that passes.
struct Outcome {
  enum class Kind : std::uint8_t { good, refused, passing } kind = Kind::passing;
  std::string body{}, code{}, words{};

  bool good() const { return kind == Kind::good; }
};

class Calls {
 public:
  /// `limit`: the longest that a call takes. `give_up`: asked from the call's thread.
  Calls(Server server, std::chrono::milliseconds limit, std::function<bool()> give_up);

  /// `expected`: a code that is no news.
  Outcome call(const Call& what, std::string_view expected = {});
  /// `what` without its body, which is read from `in` instead: `size` bytes. A refusal is the caller's to report.
  Outcome put(const Call& what, std::istream& in, std::uint64_t size, std::chrono::milliseconds limit);
  /// Of an answer that is good and wrong.
  Outcome failed(const std::string& words);

 private:
  http_client::Request request_of(const Call& what) const;
  Outcome perform(const http_client::Request& request);
  void warn(std::string_view what, const std::string& words);

  const Server server_;
  const std::function<bool()> give_up_;
  const http_client::Client client_;
  bool warned_ = false;
};

}  // namespace stackgate::mlflow
