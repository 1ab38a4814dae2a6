#include "services/customizer/program/callback.hpp"

#include "services/kit/base/try.hpp"
#include "services/kit/web/errors.hpp"

namespace stackgate::customizer {
namespace callback_detail {

constexpr unsigned pool_threads = 1;  // nothing waits on them
constexpr std::uint64_t largest_report = 64U << 10U;

}  // namespace callback_detail

std::expected<std::unique_ptr<Callback>, Error> Callback::start(const std::string& listen) {
  const auto front = std::make_shared<Shared>();
  web::AppConfig config;
  config.server.listen = listen;
  config.pool_threads = callback_detail::pool_threads;
  auto app = TRY(web::App::start(std::move(config), {{"POST",
                                                      report_pattern,
                                                      [front](web::Call& call) -> web::Answer {
                                                        const FrontPtr now = front->load();
                                                        return now ? take_report(*now, call)
                                                                   : web::busy("the service begins", 1);
                                                      },
                                                      {.dialect = web::Dialect::nemo,
                                                       .on_io_thread = true,
                                                       .body_bytes = callback_detail::largest_report,
                                                       .quiet = true}}}));
  return std::unique_ptr<Callback>(new Callback(front, std::move(app)));
}

}  // namespace stackgate::customizer
