// The port that trainers report to. It listens before the rest of the service is there, so that its address is known.
#pragma once
#include <atomic>
#include <expected>
#include <memory>
#include <string>

#include "services/customizer/front/front.hpp"
#include "services/kit/base/error.hpp"
#include "services/kit/web/app.hpp"

namespace stackgate::customizer {

class Callback {
 public:
  static std::expected<std::unique_ptr<Callback>, Error> start(const std::string& listen);
  std::uint16_t port() const { return app_->port(); }
  /// Until then reports are answered with 503, and come again.
  void serve(FrontPtr front) { front_->store(std::move(front)); }

 private:
  using Shared = std::atomic<FrontPtr>;
  explicit Callback(std::shared_ptr<Shared> front, std::unique_ptr<web::App> app)
      : front_(std::move(front)), app_(std::move(app)) {}

  const std::shared_ptr<Shared> front_;
  const std::unique_ptr<web::App> app_;  // last: its threads use the other
};

}  // namespace stackgate::customizer
