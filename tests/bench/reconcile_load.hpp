// The other parties of the reconcile benchmark: who creates resources, who writes the same children without an
// operator, and who plays the controllers that set Deployments available.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reconcile/child_types.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/kube/client.hpp"
#include "services/kit/kube/config.hpp"
#include "services/kit/kube/watch_runner.hpp"

namespace stackgate::bench {

inline constexpr kube::ResourceType services{"stackgate.dev", "v1alpha1", "inferenceservices"};

inline std::unique_ptr<kube::Client> client_of(const std::string& kubeconfig, std::string agent) {
  auto config = kube::load_kubeconfig(kubeconfig);
  if (!config) throw std::runtime_error(config.error().message);
  config->user_agent = std::move(agent);
  auto client = kube::Client::connect(std::move(*config));
  if (!client) throw std::runtime_error(client.error().message);
  return std::move(*client);
}

template <class T>
T must(kube::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

inline std::string service_name(int n) { return fmt::format("llm-{:04}", n); }

/// An InferenceService as users write it: image, secret, one GPU, two variables.
inline std::string service_json(int n, std::string_view tag = "1.0.0") {
  return fmt::format(
      R"({{"apiVersion":"stackgate.dev/v1alpha1","kind":"InferenceService","metadata":{{"name":"{}"}},)"
      R"("spec":{{"image":{{"repository":"registry.example.com/inference/llm","tag":"{}","pullSecrets":["pull"]}},)"
      R"("authSecret":"registry-api","replicas":1,"resources":{{"limits":{{"nvidia.com/gpu":1}}}},)"
      R"("expose":{{"service":{{"type":"ClusterIP","port":8000}}}},)"
      R"("env":[{{"name":"LOG_FORMAT","value":"json"}},{{"name":"MODEL_CACHE","value":"/cache"}}]}}}})",
      service_name(n), tag);
}

/// `work(n)` for n in [0, count), by `connections` clients at a time.
inline void in_parallel(const std::string& kubeconfig, const std::string& agent, int connections, int count,
                        const std::function<void(kube::Client&, int)>& work) {
  std::atomic<int> next{0};
  std::atomic<bool> failed{false};
  std::string fault;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < connections; ++i)
      threads.emplace_back([&] {
        try {
          const auto client = client_of(kubeconfig, agent);
          for (int n = next++; n < count && !failed; n = next++) work(*client, n);
        } catch (const std::exception& error) {
          if (!failed.exchange(true)) fault = error.what();
        }
      });
  }
  if (failed) throw std::runtime_error(fault);
}

/// A child that the operator made, without what the API server added and with "@" for its resource's name.
struct ChildTemplate {
  kube::ResourceType type;
  std::vector<std::string> parts;
  std::string body(std::string_view name) const { return fmt::format("{}", fmt::join(parts, name)); }
};

/// Sets every Deployment available as soon as it appears or changes, as controllers and kubelets would.
class Availability final : public kube::WatchSink {
 public:
  Availability(const std::string& kubeconfig, std::string ns)
      : client_(client_of(kubeconfig, "bench-controllers")),
        writer_([this](const std::stop_token& stop) { write(stop); }),
        watch_(std::make_unique<kube::Watch>(client_->transport(),
                                             kube::WatchTarget{{"apps", "v1", "deployments"}, std::move(ns), {}, {}},
                                             std::shared_ptr<kube::WatchSink>(this, [](kube::WatchSink*) {}))) {}
  ~Availability() override { watch_.reset(); }

  void relist_began() override {}
  void relist_ended() override {}
  void remove(const json::Value&) override {}
  void upsert(const json::Value& object) override {
    const auto number = [&](std::initializer_list<std::string_view> path) {
      const json::Value* found = json::at(&object, path);
      return found == nullptr ? std::int64_t{0} : found->integer();
    };
    const std::int64_t generation = number({"metadata", "generation"}), replicas = number({"spec", "replicas"});
    if (number({"status", "observedGeneration"}) == generation && number({"status", "availableReplicas"}) == replicas)
      return;
    const std::scoped_lock lock(mutex_);
    waiting_.push_back({std::string(kube::metadata(object, "namespace")), std::string(kube::metadata(object, "name")),
                        generation, replicas});
    wake_.notify_one();
  }

 private:
  struct Item {
    std::string ns, name;
    std::int64_t generation, replicas;
  };
  void write(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (wake_.wait(lock, stop, [this] { return !waiting_.empty(); })) {
      const Item item = waiting_.front();
      waiting_.erase(waiting_.begin());
      lock.unlock();
      (void)client_->patch({"apps", "v1", "deployments"}, item.ns, item.name, kube::PatchType::merge,
                           fmt::format(R"({{"status":{{"observedGeneration":{0},"replicas":{1},"updatedReplicas":{1},)"
                                       R"("readyReplicas":{1},"availableReplicas":{1}}}}})",
                                       item.generation, item.replicas),
                           "status");
      lock.lock();
    }
  }

  std::unique_ptr<kube::Client> client_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<Item> waiting_;
  std::jthread writer_;
  std::unique_ptr<kube::Watch> watch_;
};

/// When each image of a Deployment's first container was first seen.
class ImageWatch final : public kube::WatchSink {
 public:
  using Clock = std::chrono::steady_clock;
  ImageWatch(const std::string& kubeconfig, std::string ns)
      : client_(client_of(kubeconfig, "bench-watch")),
        watch_(std::make_unique<kube::Watch>(client_->transport(),
                                             kube::WatchTarget{{"apps", "v1", "deployments"}, std::move(ns), {}, {}},
                                             std::shared_ptr<kube::WatchSink>(this, [](kube::WatchSink*) {}))) {
    std::unique_lock lock(mutex_);
    if (!listed_.wait_for(lock, std::chrono::seconds(30), [this] { return is_listed_; }))
      throw std::runtime_error("the Deployments were not listed within 30 s");
  }
  ~ImageWatch() override { watch_.reset(); }

  std::optional<Clock::time_point> when(const std::string& name, const std::string& image) const {
    const std::scoped_lock lock(mutex_);
    const auto found = seen_.find({name, image});
    return found == seen_.end() ? std::nullopt : std::optional(found->second);
  }

  void relist_began() override {}
  void relist_ended() override {
    const std::scoped_lock lock(mutex_);
    is_listed_ = true;
    listed_.notify_one();
  }
  void remove(const json::Value&) override {}
  void upsert(const json::Value& object) override {
    const auto now = Clock::now();
    const json::Value* containers = json::at(&object, {"spec", "template", "spec", "containers"});
    const json::Value* image =
        containers == nullptr || containers->items().empty() ? nullptr : containers->items()[0].find("image");
    if (image == nullptr) return;
    const std::scoped_lock lock(mutex_);
    seen_.try_emplace({std::string(kube::metadata(object, "name")), std::string(image->string())}, now);
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable listed_;
  bool is_listed_ = false;
  std::map<std::pair<std::string, std::string>, Clock::time_point> seen_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::Watch> watch_;
};

/// The children of one service, as templates: what the operator made for it, read back.
inline std::vector<ChildTemplate> templates_of(kube::Client& client, const std::string& ns, const std::string& name) {
  std::vector<ChildTemplate> out;
  for (const auto type :
       {reconcile::ChildType::service_account, reconcile::ChildType::role, reconcile::ChildType::role_binding,
        reconcile::ChildType::service, reconcile::ChildType::deployment}) {
    const kube::ResourceType resource = reconcile::info(type).resource();
    const kube::Object object = must(client.get(resource, ns, name));
    std::string text;
    json::Writer writer(text);
    writer.object([&] {
      for (const json::Member& member : object.root().members()) {
        if (member.key == "status" || member.key == "secrets") continue;
        writer.key(member.key);
        const bool is_metadata = member.key == "metadata";
        const bool is_service = member.key == "spec" && type == reconcile::ChildType::service;
        if (!is_metadata && !is_service) {
          writer.value(member.value);
          continue;
        }
        writer.object([&] {
          for (const json::Member& each : member.value.members()) {
            const bool kept = is_service ? !each.key.starts_with("clusterIP")
                                         : each.key == "name" || each.key == "labels" || each.key == "annotations" ||
                                               each.key == "ownerReferences";
            if (kept) writer.member(each.key, each.value);
          }
        });
      }
    });
    // The operator under measurement shall not take it for its own: other words of the same length.
    for (const auto& [ours, other] :
         {std::pair<std::string_view, std::string_view>{"managed-by\":\"stackgate\"", "managed-by\":\"benchmark\""},
          {"\"stackgate.dev/v1alpha1\"", "\"benchmark.x/v1alpha1\""}})
      if (const std::size_t found = text.find(ours); found != std::string::npos)
        text.replace(found, ours.size(), other);
    ChildTemplate made{resource, {}};
    for (std::size_t at = 0;;) {
      const std::size_t found = text.find(name, at);
      made.parts.push_back(text.substr(at, found - at));
      if (found == std::string::npos) break;
      at = found + name.size();
    }
    out.push_back(std::move(made));
  }
  return out;
}

}  // namespace stackgate::bench
