// One engine, asked and told about adapters. Blocking; one thread's.
#pragma once
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/inference/upstream/plan/sync.hpp"
#include "services/kit/http_client/client.hpp"

namespace stackgate::inference::upstream {

using Paths = std::map<std::string, std::string, std::less<>>;  // by name

/// What goes with each call.
struct Asking {
  std::string authorization;        // empty: none
  std::function<bool()> give_up{};  // asked a few times a second: true ends the call
};

class Replica {
 public:
  /// `origin`: without "/v1".
  Replica(const http_client::Client& client, std::string origin) : client_(client), origin_(std::move(origin)) {}

  /// The error is a sentence.
  std::expected<std::vector<ListedModel>, std::string> models(const Asking& asking) const;
  Kind find_kind(const std::vector<ListedModel>& models, const Asking& asking) const;
  std::expected<std::vector<NumberedAdapter>, std::string> numbered(const Asking& asking) const;
  /// Nothing: done. Else why not.
  std::optional<std::string> carry_out(Kind kind, const Step& step, const Asking& asking);

  /// Of what was handed over, what it does not list any more is gone.
  void has_listed(const std::vector<ListedModel>& models);

  const std::string& origin() const { return origin_; }
  const Paths& handed() const { return handed_; }

 private:
  std::expected<http_client::Response, std::string> ask(const std::string& path, const Asking& asking) const;
  std::expected<http_client::Response, std::string> request_step(Kind kind, Step::Action action, const Step& step,
                                                                 const Asking& asking) const;
  const http_client::Client& client_;
  std::string origin_;
  Paths handed_;
};

}  // namespace stackgate::inference::upstream
