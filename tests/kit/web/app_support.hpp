// An App on a free port of the loopback, and one request at a time against it.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "services/kit/web/app.hpp"
#include "tests/kit/http/client.hpp"

namespace stackgate::web::test {

inline std::unique_ptr<App> start(std::vector<Route> routes, AppConfig config = {}) {
  config.pool_threads = config.pool_threads == 16 ? 4 : config.pool_threads;
  auto app = App::start(std::move(config), std::move(routes));
  if (!app) throw std::runtime_error(app.error().message);
  return std::move(*app);
}

/// Within five seconds.
template <class Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

struct Reply {
  int status = 0;
  std::string head, body;
  /// The first header of that name, as it was written, or empty.
  std::string header(std::string_view name) const {
    const auto at = head.find("\r\n" + std::string(name) + ": ");
    if (at == std::string::npos) return {};
    const auto from = at + name.size() + 4;
    return head.substr(from, head.find("\r\n", from) - from);
  }
};

inline Reply split(const std::string& bytes) {
  Reply reply;
  const auto end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return reply;
  reply.head = bytes.substr(0, end + 2);
  reply.body = bytes.substr(end + 4);
  if (reply.head.size() > 12) reply.status = std::atoi(reply.head.c_str() + 9);
  return reply;
}

inline std::string request_text(std::string_view line, std::string_view body = {}, std::string_view headers = {}) {
  std::string text(line);
  text += " HTTP/1.1\r\nHost: test\r\n";
  text += headers;
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  text += "\r\n";
  text += body;
  return text;
}

/// `headers`: whole lines, each with its "\r\n". The connection is closed afterwards, so that any framing works.
inline Reply ask(const App& app, std::string_view line, std::string_view body = {}, std::string_view headers = {}) {
  http::test::Client client(app.port());
  client.send(request_text(line, body, std::string(headers) + "Connection: close\r\n"));
  return split(client.rest());
}

}  // namespace stackgate::web::test
