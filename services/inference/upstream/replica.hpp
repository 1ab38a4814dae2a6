// One engine, asked and told about adapters. Blocking; one thread's.
#pragma once
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "services/inference/upstream/plan/sync.hpp"
#include "services/kit/http_client/client.hpp"

namespace stackgate::inference::upstream {

using Paths = std::map<std::string, std::string, std::less<>>;  // by name

class Replica {
 public:
  /// `origin`: without "/v1".
  Replica(const http_client::Client& client, std::string origin) : client_(client), origin_(std::move(origin)) {}

  /// The error is a sentence.
  std::expected<std::vector<ListedModel>, std::string> models(const std::string& authorization) const;
  Kind find_kind(const std::vector<ListedModel>& models, const std::string& authorization) const;
  std::expected<std::vector<NumberedAdapter>, std::string> numbered(const std::string& authorization) const;
  /// Nothing: done. Else why not.
  std::optional<std::string> carry_out(const Step& step, const std::string& authorization);

  const std::string& origin() const { return origin_; }
  const Paths& handed() const { return handed_; }

 private:
  std::expected<http_client::Response, std::string> ask(const std::string& path,
                                                        const std::string& authorization) const;
  std::expected<http_client::Response, std::string> tell(Step::Action action, const Step& step,
                                                         const std::string& authorization) const;
  const http_client::Client& client_;
  const std::string origin_;
  Paths handed_;
};

}  // namespace stackgate::inference::upstream
