// The whole datastore in a directory of its own, served on a free port: its routes as clients reach them.
#pragma once
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "services/datastore/commands.hpp"
#include "services/datastore/options.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/log/log.hpp"
#include "tests/kit/web/app_support.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::datastore::whole_test {

inline constexpr std::string_view admin = "admin", password = "correct-horse-battery";

inline std::string basic(std::string_view name, std::string_view secret) {
  return "Authorization: Basic " + base64::encode(std::string(name).append(":").append(secret)) + "\r\n";
}

class Running : public testing::Test {
 protected:
  void SetUp() override {
    log::configure({.level = log::Level::error});
    const std::string folder = data();
    const std::vector<const char*> arguments{"--data-dir", folder.c_str(), "--upkeep-interval", "0s"};
    const auto environment = [](const std::string& name) -> std::optional<std::string> {
      if (name == "GIT_ADMIN_USERNAME") return std::string(admin);
      if (name == "GIT_ADMIN_PASSWORD") return std::string(password);
      return std::nullopt;
    };
    const auto read =
        settings::read(program(), arguments, environment, [](const std::string&) { return std::nullopt; }, "0");
    auto parts = build(read.values, metrics_);
    if (!parts) throw std::runtime_error(parts.error().message);
    parts_ = std::move(*parts);
    app_ = web::test::start(std::move(parts_.routes));
  }
  void TearDown() override {
    app_.reset();
    if (parts_.on_stop) parts_.on_stop();
  }

  std::string data() const { return folder_ / "data"; }
  /// The folder of the n-th repository that was made.
  std::string repository(int id) const { return data() + "/repositories/0/" + std::to_string(id) + ".git"; }
  /// As the administrator.
  web::test::Reply call(std::string_view line, std::string_view body = {}, std::string_view headers = {}) const {
    return as(basic(admin, password), line, body, headers);
  }
  web::test::Reply as(std::string who, std::string_view line, std::string_view body = {},
                      std::string_view headers = {}) const {
    if (!body.empty()) who += "Content-Type: application/json\r\n";
    return web::test::ask(*app_, line, body, who.append(headers));
  }

  stackgate::test::TempDir folder_;
  metrics::Registry metrics_;
  service::Parts parts_;
  std::unique_ptr<web::App> app_;
};

}  // namespace stackgate::datastore::whole_test
