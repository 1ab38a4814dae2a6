#include "services/kit/fetch/client.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <mutex>

#include <curl/curl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "services/kit/fetch/addresses.hpp"
#include "services/kit/fetch/checks.hpp"
#include "services/kit/fetch/repeat.hpp"
#include "services/kit/fetch/traced_call.hpp"
#include "services/kit/fetch/words.hpp"

namespace stackgate::fetch {
namespace client_detail {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t most_spare_handles = 16;
constexpr long ca_reread_seconds = 60;
constexpr long stream_buffer = 256 * 1024;

struct HeaderLines {
  curl_slist* list = nullptr;
  HeaderLines() = default;
  HeaderLines(const HeaderLines&) = delete;
  HeaderLines& operator=(const HeaderLines&) = delete;
  ~HeaderLines() { curl_slist_free_all(list); }
  void add(const std::string& line) { list = curl_slist_append(list, line.c_str()); }
};

/// One attempt, as curl's callbacks see it.
struct Transfer {
  const Call& call;
  const Options& options;
  Reply reply{};
  std::uint64_t sent = 0;       // by read_body
  bool took_bytes = false;      // take_body was called
  std::string stopped{};        // why one of us ended it
  std::exception_ptr thrown{};  // by the caller's functions
  bool refused_address = false;
  bool paused = false;  // `stopped` because nothing moved
  Clock::time_point last_byte = Clock::now();
  curl_off_t moved = 0;
  std::array<char, CURL_ERROR_SIZE> error{};
};

/// An exception must not pass through curl.
template <class Step, class Result>
Result guarded(Transfer& transfer, Result otherwise, const Step& step) {
  try {
    return step();
  } catch (...) {
    transfer.thrown = std::current_exception();
    return otherwise;
  }
}

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  return guarded(transfer, std::size_t{0}, [&] {
    std::string_view line(bytes, size * count);
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with("HTTP/")) {
      transfer.reply.headers.clear();  // what came before was an interim answer
      const auto space = line.find(' ');
      transfer.reply.status = 0;
      for (std::size_t i = space + 1; space != std::string_view::npos && i < line.size() && i < space + 4; ++i)
        transfer.reply.status = transfer.reply.status * 10 + (line[i] - '0');
    } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
      std::string_view value = line.substr(colon + 1);
      while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
      while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
      transfer.reply.headers.emplace_back(line.substr(0, colon), value);
    }
    return size * count;
  });
}

std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  return guarded(transfer, std::size_t{0}, [&]() -> std::size_t {
    const std::string_view part(bytes, size * count);
    if (transfer.call.take_body && transfer.reply.status < 300) {
      transfer.took_bytes = true;
      const bool goes_on = transfer.call.take_body(part);
      transfer.last_byte = Clock::now();  // the caller's time is not the server's
      if (!goes_on) transfer.stopped = "cancelled by the caller";
      return goes_on ? part.size() : 0;
    }
    if (part.size() > transfer.call.largest_reply -
                          std::min(transfer.call.largest_reply, std::uint64_t{transfer.reply.body.size()})) {
      transfer.stopped = fmt::format("the reply is larger than {} bytes", transfer.call.largest_reply);
      return 0;
    }
    transfer.reply.body += part;
    return part.size();
  });
}

std::size_t on_upload(char* space, std::size_t size, std::size_t count, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  return guarded(transfer, std::size_t{CURL_READFUNC_ABORT}, [&]() -> std::size_t {
    const std::size_t n = transfer.call.read_body(space, size * count);
    transfer.last_byte = Clock::now();
    if (n > size * count) {
      transfer.stopped = "the body to be sent could not be read";
      return CURL_READFUNC_ABORT;
    }
    transfer.sent += n;
    if (transfer.call.body_size &&
        (n == 0 ? transfer.sent < *transfer.call.body_size : transfer.sent > *transfer.call.body_size)) {
      transfer.stopped = fmt::format("the body to be sent has not the announced {} bytes", *transfer.call.body_size);
      return CURL_READFUNC_ABORT;
    }
    return n;
  });
}

// curl asks when a kept connection turns out to be dead after it has read a part of the body.
int on_seek(void* user, curl_off_t offset, int origin) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  if (offset != 0 || origin != SEEK_SET || !transfer.call.rewind) return CURL_SEEKFUNC_CANTSEEK;
  return guarded(transfer, int{CURL_SEEKFUNC_FAIL}, [&] {
    if (!transfer.call.rewind()) return int{CURL_SEEKFUNC_FAIL};
    transfer.sent = 0;
    return int{CURL_SEEKFUNC_OK};
  });
}

int on_progress(void* user, curl_off_t, curl_off_t received, curl_off_t, curl_off_t sent) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  const auto now = Clock::now();
  if (received + sent != transfer.moved) {
    transfer.moved = received + sent;
    transfer.last_byte = now;
  }
  if (transfer.call.give_up && guarded(transfer, true, [&] { return transfer.call.give_up(); })) {
    transfer.stopped = "cancelled by the caller";
    return 1;
  }
  if (transfer.options.pause.count() == 0 || now - transfer.last_byte < transfer.options.pause) return 0;
  transfer.paused = true;
  transfer.stopped = fmt::format("no byte came or went for {} ms", transfer.options.pause.count());
  return 1;
}

curl_socket_t on_open(void* user, curlsocktype, curl_sockaddr* address) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  if (transfer.options.public_addresses_only) {
    bool allowed = false;
    if (address->family == AF_INET) {
      sockaddr_in four{};
      std::memcpy(&four, &address->addr, sizeof four);
      Address4 bytes{};
      std::memcpy(bytes.data(), &four.sin_addr, bytes.size());
      allowed = is_public(bytes);
    } else if (address->family == AF_INET6 && address->addrlen >= sizeof(sockaddr_in6)) {
      sockaddr_in6 six{};
      std::memcpy(&six, static_cast<void*>(&address->addr), sizeof six);
      Address6 bytes{};
      std::memcpy(bytes.data(), &six.sin6_addr, bytes.size());
      allowed = is_public(bytes);
    }
    if (!allowed) {
      transfer.refused_address = true;
      return CURL_SOCKET_BAD;
    }
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

template <class Value>
void set(CURL* handle, CURLoption option, Value value) {
  curl_easy_setopt(handle, option, value);
}

void describe(CURL* handle, const Call& call, HeaderLines& lines) {
  bool has_type = false, has_expect = false;
  for (const auto& [name, value] : call.headers) {
    has_type |= equal_without_case(name, "content-type");
    has_expect |= equal_without_case(name, "expect");
    lines.add(value.empty() ? fmt::format("{};", name) : fmt::format("{}: {}", name, value));
  }
  const bool sends =
      call.read_body || !call.body.empty() || call.method == "POST" || call.method == "PUT" || call.method == "PATCH";
  if (call.read_body) {
    set(handle, CURLOPT_UPLOAD, 1L);
    set(handle, CURLOPT_INFILESIZE_LARGE, call.body_size ? static_cast<curl_off_t>(*call.body_size) : curl_off_t{-1});
    set(handle, CURLOPT_UPLOAD_BUFFERSIZE, stream_buffer);
    if (!call.body_size) lines.add("Transfer-Encoding: chunked");
  } else if (sends) {
    set(handle, CURLOPT_POST, 1L);
    set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    set(handle, CURLOPT_POSTFIELDS, call.body.data());
    if (!has_type) lines.add("Content-Type:");
    if (!has_expect) lines.add("Expect:");
  } else if (call.method == "HEAD") {
    set(handle, CURLOPT_NOBODY, 1L);
  } else {
    set(handle, CURLOPT_HTTPGET, 1L);
  }
  if (call.method != "HEAD") set(handle, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  if (call.take_body) set(handle, CURLOPT_BUFFERSIZE, stream_buffer);
  set(handle, CURLOPT_HTTPHEADER, lines.list);
}

void prepare(CURL* handle, Transfer& transfer, std::optional<milliseconds> left) {
  const Options& options = transfer.options;
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  set(handle, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  set(handle, CURLOPT_USERAGENT, options.user_agent.c_str());
  set(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect.count()));
  if (left) set(handle, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(left->count())));
  if (!options.ca_file.empty()) set(handle, CURLOPT_CAINFO, options.ca_file.c_str());
  set(handle, CURLOPT_CA_CACHE_TIMEOUT, ca_reread_seconds);
  set(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  if (options.public_addresses_only) set(handle, CURLOPT_PROXY, "");
  set(handle, CURLOPT_ERRORBUFFER, transfer.error.data());
  set(handle, CURLOPT_HEADERFUNCTION, &on_header);
  set(handle, CURLOPT_HEADERDATA, &transfer);
  set(handle, CURLOPT_WRITEFUNCTION, &on_body);
  set(handle, CURLOPT_WRITEDATA, &transfer);
  set(handle, CURLOPT_READFUNCTION, &on_upload);
  set(handle, CURLOPT_READDATA, &transfer);
  set(handle, CURLOPT_SEEKFUNCTION, &on_seek);
  set(handle, CURLOPT_SEEKDATA, &transfer);
  set(handle, CURLOPT_NOPROGRESS, 0L);
  set(handle, CURLOPT_XFERINFOFUNCTION, &on_progress);
  set(handle, CURLOPT_XFERINFODATA, &transfer);
  set(handle, CURLOPT_OPENSOCKETFUNCTION, &on_open);
  set(handle, CURLOPT_OPENSOCKETDATA, &transfer);
}

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return {};
  std::string out = text;
  curl_free(text);
  return out;
}

/// Where `location` leads from `from`; nothing when that is another origin or no URL.
std::optional<std::string> same_origin(const std::string& from, const std::string& location) {
  const Url base(curl_url()), target(curl_url());
  if (curl_url_set(base.get(), CURLUPART_URL, from.c_str(), 0) != CURLUE_OK ||
      curl_url_set(target.get(), CURLUPART_URL, from.c_str(), 0) != CURLUE_OK ||
      curl_url_set(target.get(), CURLUPART_URL, location.c_str(), 0) != CURLUE_OK)
    return std::nullopt;
  for (const CURLUPart part : {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT})
    if (!equal_without_case(part_of(base.get(), part), part_of(target.get(), part))) return std::nullopt;
  char* whole = nullptr;
  if (curl_url_get(target.get(), CURLUPART_URL, &whole, 0) != CURLUE_OK) return std::nullopt;
  std::string out = whole;
  curl_free(whole);
  return out;
}

}  // namespace client_detail

struct Client::Impl {
  using Clock = client_detail::Clock;
  const Options options;
  std::mutex mutex;
  std::vector<CURL*> spare;

  explicit Impl(Options given) : options(std::move(given)) {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    (void)ready;
  }
  ~Impl() {
    for (CURL* handle : spare) curl_easy_cleanup(handle);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // A handle keeps its connections: the one given back last has the warmest.
  CURL* take() {
    const std::lock_guard lock(mutex);
    if (spare.empty()) return curl_easy_init();
    CURL* handle = spare.back();
    spare.pop_back();
    return handle;
  }
  void give(CURL* handle) {
    curl_easy_reset(handle);
    const std::lock_guard lock(mutex);
    if (spare.size() < client_detail::most_spare_handles) {
      spare.push_back(handle);
    } else {
      curl_easy_cleanup(handle);
    }
  }

  Ended attempt(const Call& call, const ExtraHeaders& extra, const std::string& url,
                std::optional<client_detail::milliseconds> left);
  std::expected<Reply, Error> follow(const Call& first, const ExtraHeaders& extra,
                                     std::optional<Clock::time_point> until);
};

Ended Client::Impl::attempt(const Call& call, const ExtraHeaders& extra, const std::string& url,
                            std::optional<client_detail::milliseconds> left) {
  CURL* handle = take();
  if (handle == nullptr) return {std::unexpected(std::string("out of memory")), false, true};
  client_detail::Transfer transfer{.call = call, .options = options};
  client_detail::HeaderLines lines;
  client_detail::prepare(handle, transfer, left);
  for (const auto& [name, value] : extra) lines.add(fmt::format("{}: {}", name, value));
  client_detail::describe(handle, call, lines);
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  const CURLcode code = curl_easy_perform(handle);
  curl_off_t sent_at = 0;
  curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME_T, &sent_at);
  long system_error = 0;
  curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &system_error);
  give(handle);
  if (transfer.thrown) std::rethrow_exception(transfer.thrown);
  if (code == CURLE_OK) return {std::move(transfer.reply), true, transfer.took_bytes};
  const bool hopeless = code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL ||
                        code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
  if (transfer.refused_address && sent_at == 0)
    return {std::unexpected(std::string("its address is not one of the public Internet")), false, true};
  std::string why = !transfer.stopped.empty() ? transfer.stopped
                    : transfer.error[0] != 0  ? std::string(transfer.error.data())
                                              : std::string(curl_easy_strerror(code));
  if (code == CURLE_COULDNT_CONNECT && system_error != 0)
    why += fmt::format(" ({})", std::strerror(static_cast<int>(system_error)));
  return {std::unexpected(std::move(why)), sent_at > 0,
          hopeless || transfer.took_bytes || (!transfer.stopped.empty() && !transfer.paused)};
}

std::expected<Reply, Error> Client::Impl::follow(const Call& first, const ExtraHeaders& extra,
                                                 std::optional<Clock::time_point> until) {
  std::string url = first.url;
  std::optional<Call> changed;  // by a redirect
  for (unsigned followed = 0;; ++followed) {
    const Call& call = changed ? *changed : first;
    auto reply = persist(call, url, options.retries, until, [&](std::optional<client_detail::milliseconds> left) {
      return attempt(call, extra, url, left);
    });
    if (!reply || followed >= options.redirects) return reply;
    const int status = reply->status;
    const auto location = reply->header("location");
    if (!location || (status != 301 && status != 302 && status != 303 && status != 307 && status != 308)) return reply;
    auto target = client_detail::same_origin(url, std::string(*location));
    if (!target) return reply;
    const bool becomes_get = (status == 303 && call.method != "HEAD") || (status < 303 && call.method == "POST");
    if (becomes_get) {
      Call plain = call;
      plain.method = "GET";
      plain.body.clear();
      plain.read_body = nullptr;
      changed = std::move(plain);
    } else if (call.read_body && !(call.rewind && call.rewind())) {
      return reply;
    }
    url = std::move(*target);
  }
}

Client::Client(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Client::~Client() = default;

std::expected<Reply, Error> Client::call(const Call& call) {
  if (const auto fault = fault_of(call))
    return std::unexpected(Error{fmt::format("{} {}: {}", call.method, without_secrets(call.url), *fault)});
  const auto whole = call.whole.count() > 0 ? call.whole : impl_->options.whole;
  std::optional<client_detail::Clock::time_point> until;
  if (whole.count() > 0) until = client_detail::Clock::now() + whole;
  if (!tells_trace(call, impl_->options)) return impl_->follow(call, {}, until);
  const TracedCall traced(call);
  auto reply = impl_->follow(call, traced.headers(), until);
  traced.ended(reply);
  return reply;
}

}  // namespace stackgate::fetch
