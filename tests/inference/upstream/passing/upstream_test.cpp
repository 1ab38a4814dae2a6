// Upstream mode between real sockets, with engines that come and go while adapters change and clients ask and leave.
#include "services/inference/upstream/upstream.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "services/kit/json/read.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/deferred.hpp"
#include "services/kit/web/sse.hpp"
#include "tests/kit/web/app_support.hpp"

namespace stackgate::inference::upstream {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using web::test::ask;
using web::test::soon;

constexpr std::string_view json_type = "Content-Type: application/json\r\n";

/// An engine as vLLM documents it. What it has been given outlives a stop, its adapters do not.
class EngineDouble {
 public:
  explicit EngineDouble(std::uint16_t port = 0) {
    web::AppConfig config;
    if (port != 0) config.server.listen = "127.0.0.1:" + std::to_string(port);
    app_ = web::test::start({{"GET", "/v1/models", [this](web::Call&) { return models(); }},
                             {"POST", "/v1/load_lora_adapter", [this](web::Call& call) { return load(call, true); }},
                             {"POST", "/v1/unload_lora_adapter", [this](web::Call& call) { return load(call, false); }},
                             {"POST", "/v1/completions", [this](web::Call& call) { return complete(call); }}},
                            std::move(config));
  }
  std::uint16_t port() const { return app_->port(); }
  bool has(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    return adapters_.contains(name);
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    adapters_.clear();
  }
  int left() const { return left_; }

 private:
  web::Answer models() const {
    std::string out = R"({"object":"list","data":[{"id":"base","owned_by":"vllm"})";
    const std::lock_guard lock(mutex_);
    for (const auto& [name, path] : adapters_)
      out += fmt::format(R"(,{{"id":"{}","root":"{}","parent":"base"}})", name, path);
    return http::Response{200, "application/json", {}, out + "]}"};
  }
  web::Answer load(web::Call& call, bool in) {
    const auto body = call.json();
    if (!body) return body.error();
    const std::lock_guard lock(mutex_);
    const std::string name(json::text(&(*body)->root, {"lora_name"}));
    if (in)
      adapters_[name] = json::text(&(*body)->root, {"lora_path"});
    else
      adapters_.erase(name);
    return http::Response{200, "text/plain", {}, "Success"};
  }
  web::Answer complete(web::Call& call) {
    const auto body = call.json();
    if (!body) return body.error();
    const std::string model(json::text(&(*body)->root, {"model"}));
    if (model != "base" && !has(model))
      return http::Response{404, "application/json", {}, R"({"error":{"message":"The model does not exist."}})"};
    if ((*body)->root.find("stream") == nullptr)
      return http::Response{200, "application/json", {}, fmt::format(R"({{"model":"{}"}})", model)};
    auto later = call.defer();
    if (!later) return later.error();
    (*later)->on_closed([this] { ++left_; });
    (*later)->start(web::event_stream_head(), std::nullopt);
    (*later)->write("data: begun\n\n");
    const std::lock_guard lock(mutex_);
    streams_.push_back(*later);
    return web::Later{};
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::string> adapters_;
  std::vector<std::shared_ptr<web::Deferred>> streams_;
  std::atomic<int> left_{0};
  std::unique_ptr<web::App> app_;
};

/// What comes until it ends so, or nothing comes for a while.
std::string until(http::test::Client& client, std::string_view what) {
  std::string seen;
  while (!seen.ends_with(what)) {
    const std::string more = client.some();
    if (more.empty()) break;
    seen += more;
  }
  return seen;
}

class UpstreamTest : public testing::Test {
 protected:
  UpstreamTest() { log::configure({.level = log::Level::error, .format = log::Format::text, .fd = 2}); }
  ~UpstreamTest() override {
    app_.reset();
    if (upstream_) upstream_->stop();
    upstream_.reset();
  }
  void begin() {
    Options options{.adapter_dir = "/adapters", .interval = 20ms, .head = 5s};
    for (const auto& each : engines_) options.urls.push_back(fmt::format("http://127.0.0.1:{}/v1", each->port()));
    upstream_ = Upstream::start(std::move(options),
                                {.offered =
                                     [this] {
                                       const std::lock_guard lock(mutex_);
                                       std::vector<OfferedAdapter> out;
                                       for (const auto& [name, key] : offered_)
                                         out.push_back({name, key, fmt::format("/adapters/{}", key)});
                                       return out;
                                     },
                                 .state =
                                     [this](std::string_view name) {
                                       const std::lock_guard lock(mutex_);
                                       return offered_.contains(name) ? AdapterState::served : AdapterState::unknown;
                                     },
                                 .hold = [](const std::string&) { return std::make_shared<int>(); }},
                                metrics_);
    app_ = web::test::start(Upstream::routes(upstream_));
    ASSERT_TRUE(upstream_->ready(5s));
  }
  void offer(const std::string& name, std::uint64_t key) {
    const std::lock_guard lock(mutex_);
    offered_[name] = key;
  }
  int status(const std::string& model) const {
    return ask(*app_, "POST /v1/completions", fmt::format(R"({{"model":"{}"}})", model), json_type).status;
  }

  std::mutex mutex_;
  std::map<std::string, std::uint64_t, std::less<>> offered_;
  metrics::Registry metrics_;
  std::vector<std::unique_ptr<EngineDouble>> engines_;
  std::shared_ptr<Upstream> upstream_;
  std::unique_ptr<web::App> app_;
};

TEST_F(UpstreamTest, every_request_is_answered_while_engines_and_adapters_come_and_go) {
  for (int i = 0; i < 3; ++i) engines_.push_back(std::make_unique<EngineDouble>());
  offer("support", 1);
  begin();
  ASSERT_TRUE(soon([&] { return status("support") == 200; }));
  const std::uint16_t port = engines_[2]->port();

  std::atomic<bool> enough{false};
  std::atomic<int> asked{0};
  std::mutex told;
  std::multiset<int> base, adapter;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 4; ++i)
    clients.emplace_back([&, i] {
      for (int n = 0; !enough; ++n) {
        const bool is_base = (n + i) % 2 == 0;
        const int answer = status(is_base ? "base" : "support");
        ++asked;
        const std::lock_guard lock(told);
        (is_base ? base : adapter).insert(answer);
      }
    });
  for (std::uint64_t version = 2; version < 6; ++version) {
    offer("support", version);
    engines_[0]->forget();
    offer(fmt::format("more-{}", version), version + 100);
    std::this_thread::sleep_for(50ms);
  }
  engines_.pop_back();  // ended, with what it was answering
  std::this_thread::sleep_for(100ms);
  engines_.push_back(std::make_unique<EngineDouble>(port));
  for (const auto& each : engines_) EXPECT_TRUE(soon([&] { return each->has("support") && each->has("more-5"); }));
  enough = true;
  clients.clear();
  EXPECT_GT(asked, 50);
  // 503 and 502 are of the engine that ended: begun there, or refused by it in its last moment.
  for (const auto& [all, name] : {std::pair(&base, "base"), std::pair(&adapter, "support")}) {
    EXPECT_GE(all->count(200) + 10, all->size()) << name;
    EXPECT_EQ(all->count(200) + all->count(502) + all->count(503), all->size()) << name;
  }
  EXPECT_EQ(status("unknown"), 404);
  EXPECT_THAT(metrics_.render(), HasSubstr("\nrequest_success_total{model_name=\"base\"} "));
}

TEST_F(UpstreamTest, what_is_in_progress_can_be_ended) {
  engines_.push_back(std::make_unique<EngineDouble>());
  begin();
  std::vector<std::unique_ptr<http::test::Client>> clients;
  const std::string request =
      web::test::request_text("POST /v1/completions", R"({"model":"base","stream":true})", json_type);
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<http::test::Client>(app_->port()));
    clients.back()->send(request);
  }
  for (const auto& each : clients) ASSERT_THAT(until(*each, "data: begun\n\n\r\n"), HasSubstr("data: begun"));
  clients[7]->close();
  EXPECT_TRUE(soon([&] { return engines_[0]->left() == 1; }));
  std::jthread twice([&] { upstream_->end_requests(); });
  upstream_->end_requests();
  for (int i = 0; i < 7; ++i) {
    const std::string seen = until(*clients[static_cast<std::size_t>(i)], "0\r\n\r\n");
    EXPECT_THAT(seen, HasSubstr(R"(data: {"error":{"message":"The server is stopping)"));
  }
  EXPECT_TRUE(soon([&] { return engines_[0]->left() == 8; }));
}

}  // namespace
}  // namespace stackgate::inference::upstream
