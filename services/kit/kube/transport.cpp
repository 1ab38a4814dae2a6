#include "services/kit/kube/transport.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "services/kit/kube/credentials.hpp"

namespace stackgate::kube {
namespace {

using Clock = std::chrono::steady_clock;

// With HTTP/1.1 (a proxy between) each watch holds a connection of its own, so this leaves room for requests.
constexpr long most_connections = 64;
constexpr long ca_reread_seconds = 60;  // how long curl may reuse a parsed CA file
constexpr std::size_t most_spare_handles = 8;
// curl looks at every exchange each time any of them moves. While many requests are under way, their bytes are
// collected for a moment and handled together: a third less CPU for a burst, and nothing for a request that is alone.
constexpr std::size_t batched_from = 8;
constexpr std::chrono::milliseconds batch_pause{2};

/// How long the loop may sleep after something moved. When the end of a multiplexed exchange was read on behalf of
/// another one, curl (seen with 7.88) neither reports it nor asks to be called again: the answer lies there until some
/// timer, for up to 5 s. So the loop looks again after 1, 2, 4 … ms, and every 64 ms while requests are under way.
class LookAgain {
 public:
  void moved() { next_ms_ = 1; }
  int at_most(int wait_ms, bool requests_under_way) {
    if (next_ms_ > longest_ms) return requests_under_way ? std::min(wait_ms, longest_ms) : wait_ms;
    const int now = next_ms_;
    next_ms_ *= 2;
    return std::min(wait_ms, now);
  }

 private:
  static constexpr int longest_ms = 64;
  int next_ms_ = 1;
};

/// A dead peer is noticed by the kernel within about 20 s, also under a multiplexed connection that only listens.
int set_socket_options(void* /*user*/, curl_socket_t socket, curlsocktype /*purpose*/) {
  const auto set = [socket](int level, int name, int value) {
    // Refused on other socket families; then curl's time-outs are what is left.
    (void)setsockopt(socket, level, name, &value, sizeof value);
  };
  (void)fcntl(socket, F_SETFD, FD_CLOEXEC);  // none for exec plugins: they might outlive us
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 4);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 20'000);
  return CURL_SOCKOPT_OK;
}

struct HeaderList {
  curl_slist* list = nullptr;
  HeaderList() = default;
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
  ~HeaderList() { curl_slist_free_all(list); }
  void add(const std::string& line) { list = curl_slist_append(list, line.c_str()); }
};

struct Exchange {
  ExchangeId id = 0;
  HttpRequest request;
  std::shared_ptr<Receiver> receiver;
  std::shared_ptr<const Credential> credential;
  CURL* handle = nullptr;
  HeaderList headers;
  HttpHead head;
  Clock::time_point begun = Clock::now();
  const Transport::Observer* observer = nullptr;  // until it was told
  bool refused_by_receiver = false;
  std::array<char, CURL_ERROR_SIZE> error{};

  void tell(Failure failure) {
    if (observer == nullptr) return;
    const auto* const told = std::exchange(observer, nullptr);
    (*told)(request, failure == Failure::none ? head.status : 0, failure,
            std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun));
  }
  void read_head() {
    if (head.status != 0) return;
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    head.status = static_cast<int>(status);
    curl_off_t wait = 0;
    curl_easy_getinfo(handle, CURLINFO_RETRY_AFTER, &wait);
    head.retry_after = std::chrono::seconds(std::clamp<curl_off_t>(wait, 0, 3600));
  }
};

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* user) {
  Exchange& exchange = *static_cast<Exchange*>(user);
  const std::string_view line(bytes, size * count);
  if (line == "\r\n" || line == "\n") {
    exchange.read_head();
    if (exchange.head.status < 200) {
      exchange.head = {};  // an interim answer
    } else {
      exchange.tell(Failure::none);
      exchange.receiver->head(exchange.head);
    }
  }
  return line.size();
}

std::size_t on_bytes(char* bytes, std::size_t size, std::size_t count, void* user) {
  Exchange& exchange = *static_cast<Exchange*>(user);
  exchange.read_head();
  if (exchange.receiver->data(exchange.head, {bytes, size * count})) return size * count;
  exchange.refused_by_receiver = true;
  return CURL_WRITEFUNC_ERROR;
}

bool is_loopback(std::string_view server) {
  for (const std::string_view host : {"://127.", "://localhost", "://[::1]"})
    if (server.find(host) != std::string_view::npos) return true;
  return false;
}

TransportError describe(const Exchange& exchange, CURLcode code) {
  const std::string_view detail = exchange.error[0] != '\0' ? exchange.error.data() : curl_easy_strerror(code);
  curl_off_t sent_at = 0;
  curl_easy_getinfo(exchange.handle, CURLINFO_PRETRANSFER_TIME_T, &sent_at);
  Failure failure = Failure::interrupted;
  if (exchange.refused_by_receiver)
    failure = Failure::cancelled;
  else if (sent_at == 0)
    failure = Failure::unreachable;
  else if (code == CURLE_OPERATION_TIMEDOUT)
    failure = Failure::timed_out;
  return {failure, std::string(detail)};
}

}  // namespace

struct Transport::Impl {
  const Config config;
  const Observer observer;
  Credentials credentials{config};
  CURLM* multi = nullptr;
  std::string url_base;    // with the certificate's name as host when that differs
  std::string connect_to;  // then: where to connect instead
  bool loopback = false;

  std::mutex mutex;  // guards the inbox
  std::vector<std::function<void()>> inbox;
  std::atomic<bool> stopping{false};
  std::atomic<ExchangeId> next_id{1};
  std::atomic<std::uint64_t> connections{0}, http2_answers{0};
  std::atomic<std::thread::id> thread_id;

  // Used on the thread only.
  std::unordered_map<ExchangeId, std::unique_ptr<Exchange>> exchanges;
  std::multimap<Clock::time_point, std::function<void()>> timers;
  std::size_t requests = 0;  // exchanges that are not endless
  LookAgain look_again;
  std::vector<CURL*> spare;
  std::thread thread;

  Impl(Config c, Observer o) : config(std::move(c)), observer(std::move(o)) {}
  ~Impl() {
    for (CURL* handle : spare) curl_easy_cleanup(handle);
    if (multi != nullptr) curl_multi_cleanup(multi);
  }

  void post(std::function<void()> task) {
    bool first = false;
    {
      const std::scoped_lock lock(mutex);
      first = inbox.empty();
      inbox.push_back(std::move(task));
    }
    // Whoever came before has woken the thread; on the thread itself the loop looks before it sleeps.
    if (first && thread_id.load(std::memory_order_relaxed) != std::this_thread::get_id()) curl_multi_wakeup(multi);
  }

  void name_server() {
    url_base = config.server;
    loopback = is_loopback(config.server);
    if (config.tls_server_name.empty()) return;
    // curl takes the name to verify from the URL, so the URL carries it and the connection is redirected.
    const std::size_t host = config.server.find("://") + 3;
    const std::size_t end = std::min(config.server.find('/', host), config.server.size());
    const std::string authority = config.server.substr(host, end - host);
    const std::size_t bracket = authority.rfind(']');
    const std::size_t colon = authority.rfind(':');
    const bool has_port = colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
    const std::string port = has_port ? authority.substr(colon + 1) : "443";
    connect_to = "::" + (has_port ? authority.substr(0, colon) : authority) + ":" + port;
    url_base = config.server.substr(0, host) + config.tls_server_name + ":" + port + config.server.substr(end);
  }

  void set_pem(CURL* handle, const Pem& pem, CURLoption blob_option, CURLoption file_option) {
    if (!pem.text.empty()) {
      // Not copied: the configuration lives as long as the handle.
      curl_blob blob{const_cast<char*>(pem.text.data()), pem.text.size(), CURL_BLOB_NOCOPY};
      curl_easy_setopt(handle, blob_option, &blob);
    } else if (!pem.file.empty()) {
      curl_easy_setopt(handle, file_option, pem.file.c_str());
    }
  }

  void set_blob(CURL* handle, const std::string& text, CURLoption option) {
    curl_blob blob{const_cast<char*>(text.data()), text.size(), CURL_BLOB_NOCOPY};
    curl_easy_setopt(handle, option, &blob);
  }

  void prepare(Exchange& exchange) {
    CURL* handle = exchange.handle;
    const HttpRequest& request = exchange.request;
    const auto set = [handle](CURLoption option, auto value) { curl_easy_setopt(handle, option, value); };
    set(CURLOPT_URL, (url_base + request.path).c_str());
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_PROTOCOLS_STR, "https,http");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
    set(CURLOPT_PIPEWAIT, 1L);
    set(CURLOPT_FRESH_CONNECT, request.fresh_connection ? 1L : 0L);
    set(CURLOPT_SOCKOPTFUNCTION, set_socket_options);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_timeout.count()));
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count()));
    set(CURLOPT_ERRORBUFFER, exchange.error.data());
    set(CURLOPT_HEADERFUNCTION, on_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(&exchange));
    set(CURLOPT_WRITEFUNCTION, on_bytes);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&exchange));
    set(CURLOPT_PRIVATE, static_cast<void*>(&exchange));
    if (!config.proxy_url.empty())
      set(CURLOPT_PROXY, config.proxy_url.c_str());
    else if (loopback)
      set(CURLOPT_PROXY, "");

    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(CURLOPT_CA_CACHE_TIMEOUT, ca_reread_seconds);
    if (config.insecure_skip_tls_verify) {
      set(CURLOPT_SSL_VERIFYPEER, 0L);
      set(CURLOPT_SSL_VERIFYHOST, 0L);
    }
    set_pem(handle, config.ca, CURLOPT_CAINFO_BLOB, CURLOPT_CAINFO);
    if (!exchange.credential->client_certificate_pem.empty()) {
      set_blob(handle, exchange.credential->client_certificate_pem, CURLOPT_SSLCERT_BLOB);
      set_blob(handle, exchange.credential->client_key_pem, CURLOPT_SSLKEY_BLOB);
    } else {
      set_pem(handle, config.client_certificate, CURLOPT_SSLCERT_BLOB, CURLOPT_SSLCERT);
      set_pem(handle, config.client_key, CURLOPT_SSLKEY_BLOB, CURLOPT_SSLKEY);
    }

    HeaderList& headers = exchange.headers;
    headers.add("Accept: " + request.accept);
    headers.add("User-Agent: " + config.user_agent);
    if (!exchange.credential->authorization.empty())
      headers.add("Authorization: " + exchange.credential->authorization);
    if (!request.body.empty()) {
      headers.add("Content-Type: " + request.content_type);
      headers.add("Expect:");  // no waiting for "100 Continue"
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      set(CURLOPT_POSTFIELDS, request.body.data());
    }
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    set(CURLOPT_HTTPHEADER, headers.list);
    if (!connect_to.empty()) {
      connect_list = connect_list != nullptr ? connect_list : curl_slist_append(nullptr, connect_to.c_str());
      set(CURLOPT_CONNECT_TO, connect_list);
    }
  }
  curl_slist* connect_list = nullptr;

  void begin(std::unique_ptr<Exchange> exchange) {
    auto credential = credentials.current();
    if (!credential) {
      const TransportError error{Failure::credentials, credential.error().message};
      exchange->receiver->done(exchange->head, &error);
      return;
    }
    exchange->credential = std::move(*credential);
    if (spare.empty()) {
      exchange->handle = curl_easy_init();
    } else {
      exchange->handle = spare.back();
      spare.pop_back();
    }
    prepare(*exchange);
    if (observer) exchange->observer = &observer;
    curl_multi_add_handle(multi, exchange->handle);
    requests += exchange->request.endless ? 0U : 1U;
    exchanges.emplace(exchange->id, std::move(exchange));
  }

  void release(CURL* handle) {
    curl_multi_remove_handle(multi, handle);
    if (spare.size() >= most_spare_handles) {
      curl_easy_cleanup(handle);
      return;
    }
    curl_easy_reset(handle);
    spare.push_back(handle);
  }

  void finish(ExchangeId id, const TransportError* error) {
    const auto found = exchanges.find(id);
    if (found == exchanges.end()) return;
    const std::unique_ptr<Exchange> exchange = std::move(found->second);
    exchanges.erase(found);
    requests -= exchange->request.endless ? 0U : 1U;
    release(exchange->handle);
    if (error != nullptr) exchange->tell(error->failure);
    exchange->receiver->done(exchange->head, error);
  }

  void collect_finished() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      void* user = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &user);
      Exchange& exchange = *static_cast<Exchange*>(user);
      const CURLcode code = message->data.result;
      long opened = 0, version = 0;
      curl_easy_getinfo(exchange.handle, CURLINFO_NUM_CONNECTS, &opened);
      curl_easy_getinfo(exchange.handle, CURLINFO_HTTP_VERSION, &version);
      connections += static_cast<std::uint64_t>(std::max(opened, 0L));
      if (version == CURL_HTTP_VERSION_2_0) ++http2_answers;
      if (code == CURLE_OK) {
        exchange.read_head();
        if (exchange.head.status == 401) credentials.reject(exchange.credential);
        finish(exchange.id, nullptr);
      } else {
        const TransportError error = describe(exchange, code);
        finish(exchange.id, &error);
      }
    }
  }

  bool has_mail() {
    const std::scoped_lock lock(mutex);
    return !inbox.empty();
  }

  void run_inbox() {
    std::vector<std::function<void()>> tasks;
    {
      const std::scoped_lock lock(mutex);
      tasks.swap(inbox);
    }
    for (auto& task : tasks) task();
  }

  int run_timers() {
    while (!timers.empty() && timers.begin()->first <= Clock::now()) {
      const auto task = std::move(timers.begin()->second);
      timers.erase(timers.begin());
      task();
    }
    if (timers.empty()) return 60'000;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(timers.begin()->first - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, 60'000));
  }

  void loop() {
    thread_id = std::this_thread::get_id();
    while (!stopping) {
      run_inbox();
      int running = 0;
      curl_multi_perform(multi, &running);
      collect_finished();
      const int wait = run_timers();
      if (requests >= batched_from) std::this_thread::sleep_for(batch_pause);
      if (stopping) break;
      int ready = 0;
      if (!has_mail()) curl_multi_poll(multi, nullptr, 0, look_again.at_most(wait, requests > 0), &ready);
      if (ready > 0 || has_mail()) look_again.moved();
    }
    run_inbox();  // what was sent before the end is told so below
    const TransportError error{Failure::cancelled, "the client is being closed"};
    while (!exchanges.empty()) finish(exchanges.begin()->first, &error);
    curl_slist_free_all(connect_list);
  }
};

std::expected<std::unique_ptr<Transport>, Error> Transport::start(Config config, Observer observer) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialised != CURLE_OK) return std::unexpected(Error{"libcurl cannot be initialised"});
  auto impl = std::make_unique<Impl>(std::move(config), std::move(observer));
  impl->multi = curl_multi_init();
  if (impl->multi == nullptr) return std::unexpected(Error{"libcurl cannot make a multi handle"});
  curl_multi_setopt(impl->multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  curl_multi_setopt(impl->multi, CURLMOPT_MAX_HOST_CONNECTIONS, most_connections);
  impl->name_server();
  Impl* raw = impl.get();
  impl->thread = std::thread([raw] { raw->loop(); });
  return std::unique_ptr<Transport>(new Transport(std::move(impl)));
}

Transport::Transport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Transport::~Transport() {
  impl_->stopping = true;
  curl_multi_wakeup(impl_->multi);
  impl_->thread.join();
}

const Config& Transport::config() const { return impl_->config; }

ExchangeId Transport::send(HttpRequest request, std::shared_ptr<Receiver> receiver) {
  const ExchangeId id = impl_->next_id++;
  // std::function wants copyable captures; the exchange is made on the thread.
  auto exchange = std::make_shared<std::unique_ptr<Exchange>>(std::make_unique<Exchange>());
  (*exchange)->id = id;
  (*exchange)->request = std::move(request);
  (*exchange)->receiver = std::move(receiver);
  impl_->post([impl = impl_.get(), exchange] { impl->begin(std::move(*exchange)); });
  return id;
}

void Transport::cancel(ExchangeId id) {
  impl_->post([impl = impl_.get(), id] {
    const TransportError error{Failure::cancelled, "cancelled"};
    impl->finish(id, &error);
  });
}

void Transport::run(std::function<void()> task) { impl_->post(std::move(task)); }

void Transport::run_after(std::chrono::milliseconds delay, std::function<void()> task) {
  const auto due = Clock::now() + delay;
  impl_->post([impl = impl_.get(), due, task = std::move(task)] { impl->timers.emplace(due, task); });
}

bool Transport::on_own_thread() const { return impl_->thread_id.load() == std::this_thread::get_id(); }

Transport::Stats Transport::stats() const { return {impl_->connections, impl_->http2_answers}; }

}  // namespace stackgate::kube
