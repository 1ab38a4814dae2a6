#include "services/kit/http_client/transfer.hpp"

#include <algorithm>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/http_client/addresses.hpp"

namespace stackgate::http_client {
namespace transfer_detail {

constexpr long ca_reread_seconds = 60;  // how long curl may reuse a parsed CA file
constexpr long stream_buffer = 256 * 1024, event_buffer = 2 * 1024;
constexpr std::size_t usual_headers = 16;

Transfer& of(void* user) { return *static_cast<Transfer*>(user); }

void end_head(Transfer& transfer) {
  long status = 0, version = 0;
  curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &status);
  if (status < 200) {
    transfer.head = {};  // an interim answer
    return;
  }
  curl_easy_getinfo(transfer.handle, CURLINFO_HTTP_VERSION, &version);
  transfer.head.status = static_cast<int>(status);
  transfer.head.http2 = version == CURL_HTTP_VERSION_2_0;
  transfer.has_head = true;
  transfer.last_byte = Transfer::Clock::now();
  transfer.receiver->head(transfer.head);
}

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* user) {
  Transfer& transfer = of(user);
  std::string_view line(bytes, size * count);
  if (transfer.has_head) return line.size();  // trailers
  transfer.head_bytes += line.size();
  if (transfer.head_bytes > transfer.request.largest_head) {
    transfer.unusable = fmt::format("the answer's head is larger than {} bytes", transfer.request.largest_head);
    return 0;
  }
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) {
    end_head(transfer);
  } else if (line.starts_with("HTTP/")) {
    transfer.head = {};
    transfer.head.headers.reserve(usual_headers);
  } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    transfer.head.headers.emplace_back(line.substr(0, colon), value);
  }
  return size * count;
}

std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* user) {
  Transfer& transfer = of(user);
  transfer.last_byte = Transfer::Clock::now();
  switch (transfer.receiver->data(transfer.head, {bytes, size * count})) {
    case Taken::all:
      return size * count;
    case Taken::none:
      transfer.reading_paused = true;
      return CURL_WRITEFUNC_PAUSE;
    case Taken::stop:
      break;
  }
  transfer.stopped = true;
  return CURL_WRITEFUNC_ERROR;
}

std::size_t on_upload(char* space, std::size_t size, std::size_t count, void* user) {
  Transfer& transfer = of(user);
  const std::ptrdiff_t n = transfer.receiver->fill(space, size * count);
  if (n >= 0) return static_cast<std::size_t>(n);
  if (n == Receiver::fill_later) {
    transfer.writing_paused = true;
    return CURL_READFUNC_PAUSE;
  }
  transfer.stopped = true;
  return CURL_READFUNC_ABORT;
}

// curl asks when a kept connection turns out to be dead after it has read a part of the body.
int on_seek(void* user, curl_off_t offset, int origin) {
  if (offset != 0 || origin != SEEK_SET || !of(user).receiver->rewind()) return CURL_SEEKFUNC_CANTSEEK;
  return CURL_SEEKFUNC_OK;
}

bool is_public_address(const curl_sockaddr& address) {
  if (address.family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, &address.addr, sizeof four);
    Address4 bytes{};
    std::memcpy(bytes.data(), &four.sin_addr, bytes.size());
    return is_public(bytes);
  }
  if (address.family != AF_INET6 || address.addrlen < sizeof(sockaddr_in6)) return false;
  sockaddr_in6 six{};
  std::memcpy(&six, static_cast<const void*>(&address.addr), sizeof six);
  Address6 bytes{};
  std::memcpy(bytes.data(), &six.sin6_addr, bytes.size());
  return is_public(bytes);
}

/// A dead peer is noticed by the kernel within about 20 s, also under a connection that only listens.
curl_socket_t on_open(void* user, curlsocktype, curl_sockaddr* address) {
  Transfer& transfer = of(user);
  if (transfer.request.connecting->public_addresses_only && !is_public_address(*address)) {
    transfer.unusable = "its address is not one of the public Internet";
    return CURL_SOCKET_BAD;
  }
  transfer.opened_socket = true;
  const curl_socket_t socket = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  const auto set = [socket](int level, int name, int value) {
    // Refused on other socket families; then the deadlines are what is left.
    (void)::setsockopt(socket, level, name, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 4);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 20'000);
  return socket;
}

long local_port(int socket) {
  sockaddr_in6 address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  // The port lies at the same place in both families' addresses.
  return address.sin6_family == AF_INET || address.sin6_family == AF_INET6 ? ntohs(address.sin6_port) : 0;
}

/// The kernel knows; libcurl may have read before the loop saw that it could.
bool received_since(int socket, Transfer::Clock::time_point begun) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return true;
  return std::chrono::milliseconds(info.tcpi_last_data_recv) < Transfer::Clock::now() - begun;
}

void set_pem(CURL* handle, const Pem& pem, CURLoption blob_option, CURLoption file_option) {
  if (!pem.text.empty()) {
    // Not copied: the exchange holds the settings for as long as the handle uses them.
    curl_blob blob{const_cast<char*>(pem.text.data()), pem.text.size(), CURL_BLOB_NOCOPY};
    curl_easy_setopt(handle, blob_option, &blob);
  } else if (!pem.file.empty()) {
    curl_easy_setopt(handle, file_option, pem.file.c_str());
  }
}

/// curl takes the name to verify from the URL: `url` gets it as its host, and "::host:port" is where to connect
/// instead.
std::string rename_host(std::string& url, const std::string& name) {
  const std::size_t host = url.find("://") + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", host), url.size());
  const std::string authority = url.substr(host, end - host);
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.rfind(':');
  const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  const std::string port = has_port ? authority.substr(colon + 1) : "443";
  url = url.substr(0, host) + name + ":" + port + url.substr(end);
  return "::" + (has_port ? authority.substr(0, colon) : authority) + ":" + port;
}

}  // namespace transfer_detail

void Transfer::prepare(SpareHandle spare) {
  using namespace transfer_detail;
  handle = spare.handle;
  error = spare.error ? std::move(spare.error) : std::make_unique<std::array<char, CURL_ERROR_SIZE>>();
  error->front() = '\0';
  const auto set = [this](CURLoption option, auto value) { curl_easy_setopt(handle, option, value); };
  if (!may_leave_settings() || spare.connecting != request.connecting || spare.method != request.method) {
    if (spare.connecting) curl_easy_reset(handle);
    set_connecting();
    set(CURLOPT_ERRORBUFFER, error->data());
  }
  url = std::move(request.url);
  if (const std::string& name = request.connecting->tls.server_name; !name.empty() && url.starts_with("https://")) {
    connect_to.add(rename_host(url, name));
    set(CURLOPT_CONNECT_TO, connect_to.get());
  }
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.deadlines.connect.count()));
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
  set(CURLOPT_PRIVATE, static_cast<void*>(this));
  set_request();
}

SpareHandle Transfer::give_back() {
  SpareHandle out{.handle = std::exchange(handle, nullptr), .error = std::move(error)};
  if (may_leave_settings()) {
    curl_easy_setopt(out.handle, CURLOPT_PRIVATE, nullptr);
    out.connecting = request.connecting;
    out.method = std::move(request.method);
  } else {
    curl_easy_reset(out.handle);
  }
  return out;
}

/// The next exchange sets all that this one has set, or it is the same.
bool Transfer::may_leave_settings() const {
  return !request.uploads && !request.fresh_connection && request.pieces == Pieces::usual &&
         request.connecting->tls.server_name.empty();
}

void Transfer::set_connecting() {
  using namespace transfer_detail;
  const auto set = [this](CURLoption option, auto value) { curl_easy_setopt(handle, option, value); };
  const Connecting& connecting = *request.connecting;
  const Tls& tls = connecting.tls;
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, long{connecting.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1});
  // Waits for a connection that is just being made, unless that may be the one that hangs.
  set(CURLOPT_PIPEWAIT, connecting.http2 && !request.fresh_connection ? 1L : 0L);
  set(CURLOPT_FRESH_CONNECT, request.fresh_connection ? 1L : 0L);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  if (connecting.proxy) set(CURLOPT_PROXY, connecting.proxy->c_str());
  if (connecting.public_addresses_only) set(CURLOPT_PROXY, "");
  // Else the environment is asked for exceptions each time.
  if (connecting.public_addresses_only || (connecting.proxy && connecting.proxy->empty())) set(CURLOPT_NOPROXY, "*");

  set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  set(CURLOPT_CA_CACHE_TIMEOUT, ca_reread_seconds);
  if (tls.skip_verification) {
    set(CURLOPT_SSL_VERIFYPEER, 0L);
    set(CURLOPT_SSL_VERIFYHOST, 0L);
  }
  set_pem(handle, tls.ca, CURLOPT_CAINFO_BLOB, CURLOPT_CAINFO);
  set_pem(handle, tls.certificate, CURLOPT_SSLCERT_BLOB, CURLOPT_SSLCERT);
  set_pem(handle, tls.key, CURLOPT_SSLKEY_BLOB, CURLOPT_SSLKEY);

  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_WRITEFUNCTION, &on_body);
  set(CURLOPT_OPENSOCKETFUNCTION, &on_open);
  if (request.pieces != Pieces::usual)
    set(CURLOPT_BUFFERSIZE, request.pieces == Pieces::large ? stream_buffer : event_buffer);
  if (request.method != "HEAD") set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

void Transfer::set_request() {
  using namespace transfer_detail;
  const auto set = [this](CURLoption option, auto value) { curl_easy_setopt(handle, option, value); };
  constexpr std::size_t own_lines = 3, own_bytes = 64;
  std::size_t bytes = own_bytes;
  for (const auto& [name, value] : request.headers) bytes += name.size() + value.size() + 3;
  for (const auto& [name, value] : request.more_headers) bytes += name.size() + value.size() + 3;
  headers.reserve(request.headers.size() + request.more_headers.size() + own_lines, bytes);
  bool has_type = false, has_expect = false;
  const auto add = [&](const auto& given) {
    for (const auto& [name, value] : given) {
      has_type |= ascii::equal_ignoring_case(name, "content-type");
      has_expect |= ascii::equal_ignoring_case(name, "expect");
      value.empty() ? headers.add(name, ";") : headers.add(name, ": ", value);
    }
  };
  add(request.headers);
  add(request.more_headers);
  const std::string& method = request.method;
  if (request.uploads) {
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_INFILESIZE_LARGE,
        request.upload_bytes ? static_cast<curl_off_t>(*request.upload_bytes) : curl_off_t{-1});
    set(CURLOPT_UPLOAD_BUFFERSIZE, stream_buffer);
    set(CURLOPT_READFUNCTION, &on_upload);
    set(CURLOPT_READDATA, static_cast<void*>(this));
    set(CURLOPT_SEEKFUNCTION, &on_seek);
    set(CURLOPT_SEEKDATA, static_cast<void*>(this));
    if (!request.upload_bytes) headers.add("Transfer-Encoding: chunked");
  } else if (!request.body.empty() || method == "POST" || method == "PUT" || method == "PATCH") {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_POSTFIELDS, request.body.empty() ? "" : request.body.data());  // curl takes nullptr for an upload
    if (!has_type) headers.add("Content-Type:");
    if (!has_expect) headers.add("Expect:");  // no waiting for "100 Continue"
  } else if (method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else {
    set(CURLOPT_HTTPGET, 1L);
  }
  set(CURLOPT_HTTPHEADER, headers.get());
}

bool Transfer::was_sent() const {
  curl_off_t at = 0;
  curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME_T, &at);
  return at > 0;
}

std::uint64_t Transfer::connections_made() const {
  // Until libcurl begins, the handle shows the exchange before; this one may be cancelled by then.
  long made = 0;
  if (opened_socket) curl_easy_getinfo(handle, CURLINFO_NUM_CONNECTS, &made);
  return static_cast<std::uint64_t>(std::max(made, 0L));
}

bool Transfer::is_stalled_on(int socket) const {
  using namespace transfer_detail;
  long port = 0;
  curl_easy_getinfo(handle, CURLINFO_LOCAL_PORT, &port);
  return port != 0 && was_sent() && local_port(socket) == port && !received_since(socket, begun);
}

std::optional<ExchangeError> Transfer::result(CURLcode code) const {
  if (code == CURLE_OK) return std::nullopt;
  if (stopped) return ExchangeError{Failure::stopped, "stopped by the receiver"};
  if (!unusable.empty() && (has_head || head_bytes > 0 || !was_sent()))
    return ExchangeError{Failure::unusable, unusable, was_sent()};
  std::string why = error->front() != '\0' ? error->data() : curl_easy_strerror(code);
  long system_error = 0;
  curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &system_error);
  if (code == CURLE_COULDNT_CONNECT && system_error != 0)
    why += fmt::format(" ({})", std::strerror(static_cast<int>(system_error)));
  if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_PEER_FAILED_VERIFICATION ||
      code == CURLE_SSL_CACERT_BADFILE)
    return ExchangeError{Failure::unusable, std::move(why), was_sent()};
  if (!was_sent()) return ExchangeError{Failure::unreachable, std::move(why)};
  return ExchangeError{code == CURLE_OPERATION_TIMEDOUT ? Failure::timed_out : Failure::interrupted, std::move(why)};
}

std::string Transfer::overdue(Clock::time_point now) {
  const Deadlines& limits = request.deadlines;
  const auto passed = [&](std::chrono::milliseconds limit, Clock::time_point since) {
    return limit.count() > 0 && now - since >= limit;
  };
  if (passed(limits.whole, begun)) return fmt::format("timed out: the exchange has taken {} ms", limits.whole.count());
  if (!has_head && passed(limits.head, begun))
    return fmt::format("timed out: no answer within {} ms", limits.head.count());
  curl_off_t sent = 0;
  curl_easy_getinfo(handle, CURLINFO_SIZE_UPLOAD_T, &sent);
  // While this side pauses, the other need not move.
  if (std::exchange(bytes_sent, sent) != sent || reading_paused || writing_paused) last_byte = now;
  if (passed(limits.pause, last_byte)) return fmt::format("no byte came or went for {} ms", limits.pause.count());
  return {};
}

Transfer::Clock::time_point Transfer::next_look(Clock::time_point now) const {
  const Deadlines& limits = request.deadlines;
  auto next = Clock::time_point::max();
  if (limits.whole.count() > 0) next = std::min(next, begun + limits.whole);
  if (limits.head.count() > 0 && !has_head) next = std::min(next, begun + limits.head);
  // Bytes that go out are seen only by looking.
  if (limits.pause.count() > 0) next = std::min(next, std::min(last_byte + limits.pause, now + limits.pause / 4));
  return std::max(next, now + std::chrono::milliseconds(1));
}

}  // namespace stackgate::http_client
