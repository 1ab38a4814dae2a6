#include "tests/chaos/proxy.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

namespace stackgate::chaos {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Proxy::Exchange {
  bool watch = false;
  Dice dice;
  bool kill_before_answer = false, kill_after_answer = false;
};

namespace {

std::string refusal(int code, std::string_view reason, std::string_view more_headers = {}) {
  const std::string body = fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"spoilt on the way","reason":"{}","code":{}}})",
      reason, code);
  return fmt::format("HTTP/1.1 {} {}\r\nContent-Type: application/json\r\n{}Content-Length: {}\r\n\r\n{}", code, reason,
                     more_headers, body.size(), body);
}

std::string chunk(std::string_view bytes) { return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes); }

std::chrono::milliseconds between(std::uint64_t value, int least, int most) {
  return std::chrono::milliseconds(least + static_cast<int>(value % static_cast<unsigned>(most - least)));
}

/// The whole answer, as it came. False when the API server broke off.
bool read_answer(Socket& server, std::string& out, bool& keep_alive) {
  Head head;
  std::string buffer;
  if (!read_head(server, buffer, head)) return false;
  BodyEnd end(head, true);
  out = head.text;
  keep_alive = head.header("Connection") != "close";
  while (true) {
    const std::size_t taken = end.take(buffer);
    out += buffer.substr(0, taken);
    buffer.erase(0, taken);
    if (end.ended()) return true;
    if (!server.read(buffer)) {
      keep_alive = false;
      return !end.chunked();
    }
  }
}

}  // namespace

Proxy::Proxy(const kube::Config& config)
    : upstream_(config), listener_(listen_on_loopback(port_)), acceptor_([this] { accept(); }) {}

Proxy::~Proxy() {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  ::shutdown(listener_, SHUT_RDWR);
  for (const Socket* each : open_) each->abort();
  changed_.wait(lock, [this] { return serving_ == 0; });
  lock.unlock();
  acceptor_.join();
  ::close(listener_);
}

void Proxy::spoil(const Spoil& how) {
  const std::scoped_lock lock(mutex_);
  spoil_ = how;
}

void Proxy::kill_at(const KillAt& when, std::function<void()> kill) {
  const std::scoped_lock lock(mutex_);
  kill_at_ = when;
  kill_ = std::move(kill);
}

ProxyCounts Proxy::counts() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

void Proxy::kill_now() {
  std::function<void()> kill;
  {
    const std::scoped_lock lock(mutex_);
    kill = std::exchange(kill_, nullptr);
  }
  if (kill) kill();
}

/// False when the proxy is being ended meanwhile.
bool Proxy::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return stopping_; });
}

void Proxy::accept() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::scoped_lock lock(mutex_);
    if (stopping_) {
      if (fd >= 0) ::close(fd);
      return;
    }
    if (fd < 0) continue;
    ++serving_;
    std::thread([this, fd] {
      {
        Socket client(fd);
        serve(client);
      }
      const std::scoped_lock end(mutex_);
      --serving_;
      changed_.notify_all();
    }).detach();
  }
}

void Proxy::serve(Socket& client) {
  const auto enter = [this](const Socket* socket) {
    const std::scoped_lock lock(mutex_);
    open_.insert(socket);
    if (stopping_) socket->abort();
  };
  const auto leave = [this](const Socket* socket) {
    const std::scoped_lock lock(mutex_);
    open_.erase(socket);
  };
  enter(&client);
  try {
    std::unique_ptr<Socket> server = upstream_.connect();
    enter(server.get());
    std::string buffer;
    while (handle(client, buffer, server)) continue;
    leave(server.get());
  } catch (const std::exception&) {
    // An API server that is away: the operator sees a connection that breaks.
  }
  leave(&client);
}

Proxy::Exchange Proxy::take_in(const Head& head) {
  const std::string line = head.first_line();
  const std::size_t space = line.find(' ');
  const std::string method = line.substr(0, space), target = line.substr(space + 1, line.rfind(' ') - space - 1);
  const std::string path = target.substr(0, target.find('?'));
  const bool upkeep = path.contains("/leases") || path.contains("/events");
  Exchange out{.watch = target.contains("watch=true") || target.contains("watch=1")};
  const std::scoped_lock lock(mutex_);
  ++counts_.requests;
  if (spoil_.rate > 0)
    out.dice = draw(spoil_.seed, spoil_.rate,
                    {.method = method, .path = path, .watch = out.watch, .occurrence = seen_[method + path]++});
  if (method != "GET" && !upkeep) {
    ++counts_.writes;
    if (counts_.writes == spoil_.silent_write) out.dice = {.fault = Fault::silence};
    if (counts_.writes == kill_at_.write) (kill_at_.answered ? out.kill_after_answer : out.kill_before_answer) = true;
  }
  ++counts_.faults[static_cast<std::size_t>(out.dice.fault)];
  return out;
}

/// One request and its answer. False ends the connection.
bool Proxy::handle(Socket& client, std::string& buffer, std::unique_ptr<Socket>& server) {
  Head head;
  if (!read_head(client, buffer, head)) return false;
  BodyEnd end(head, false);
  std::string body;
  while (!end.ended()) {
    if (buffer.empty() && !client.read(buffer)) return false;
    const std::size_t taken = end.take(buffer);
    body += buffer.substr(0, taken);
    buffer.erase(0, taken);
  }
  const Exchange exchange = take_in(head);
  if (const Fault fault = exchange.dice.fault; fault != Fault::none && fault <= Fault::reset_before)
    return spoil_before(client, exchange);
  if (!server->write(head.text + body)) return false;
  return pass_answer(client, *server, exchange);
}

/// What the API server never hears of.
bool Proxy::spoil_before(Socket& client, const Exchange& exchange) {
  switch (exchange.dice.fault) {
    case Fault::conflict:
      return client.write(refusal(409, exchange.dice.value % 2 == 0 ? "Conflict" : "AlreadyExists"));
    case Fault::gone:
      return client.write(refusal(410, "Expired"));
    case Fault::too_many:
      return client.write(refusal(429, "TooManyRequests", "Retry-After: 1\r\n"));
    case Fault::internal:
      return client.write(refusal(500, "InternalError"));
    case Fault::unavailable:
      return client.write(refusal(503, "ServiceUnavailable"));
    default:
      client.reset();
      return false;
  }
}

bool Proxy::pass_answer(Socket& client, Socket& server, const Exchange& exchange) {
  if (exchange.watch) {
    Head head;
    std::string rest;
    if (!read_head(server, rest, head)) return false;
    return pass_watch(client, server, head, std::move(rest), exchange);
  }
  std::string answer;
  bool keep_alive = true;
  if (!read_answer(server, answer, keep_alive)) return false;
  if (exchange.kill_before_answer) {
    kill_now();
    return false;
  }
  switch (exchange.dice.fault) {
    case Fault::reset_after:
      client.reset();
      return false;
    case Fault::half:
      client.write(std::string_view(answer).substr(0, answer.size() / 2));
      return false;
    case Fault::stall:
      if (!pause(between(exchange.dice.value, 1'000, 3'000))) return false;
      break;
    case Fault::delay:
      if (!pause(between(exchange.dice.value, 10, 300))) return false;
      break;
    case Fault::silence:
      pause(45'000ms);
      return false;
    default:
      break;
  }
  if (!client.write(answer)) return false;
  if (exchange.kill_after_answer) kill_now();
  return keep_alive;
}

bool Proxy::pass_watch(Socket& client, Socket& server, const Head& head, std::string rest, const Exchange& exchange) {
  if (!client.write(head.text)) return false;
  BodyEnd end(head, true);
  const Dice& dice = exchange.dice;
  const auto spoil_at = Clock::now() + between(dice.value, 20, 1'500);
  bool spoilt = dice.fault == Fault::none;
  while (!end.ended()) {
    if (!rest.empty()) {
      const std::size_t taken = end.take(rest);
      // A cut comes in the middle of what is passed on, once its time has come.
      const bool cut = !spoilt && dice.fault == Fault::cut && Clock::now() >= spoil_at;
      if (!client.write(std::string_view(rest).substr(0, cut ? taken / 2 : taken))) return false;
      if (cut) {
        client.reset();
        return false;
      }
      rest.erase(0, taken);
      continue;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(spoil_at - Clock::now());
    const Ready ready = wait_for_either(client, server, spoilt || left < 0ms ? -1ms : left);
    if (ready == Ready::client) return false;  // the operator closes it: nothing else is sent on a watch
    if (!spoilt && Clock::now() >= spoil_at) {
      if (dice.fault == Fault::gone_event) {
        client.write(chunk(R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure",)"
                           R"("message":"too old resource version","reason":"Expired","code":410}})"
                           "\n") +
                     chunk({}));
        return false;
      }
      if (dice.fault == Fault::late_events) {
        spoilt = true;
        if (!pause(between(dice.value / 7, 1'000, 3'000))) return false;
      }
      if (dice.fault == Fault::cut && dice.value % 2 == 0) {  // the others are cut in the middle of an event
        client.reset();
        return false;
      }
    }
    if (ready == Ready::server && !server.read(rest)) return false;
  }
  return true;
}

}  // namespace stackgate::chaos
