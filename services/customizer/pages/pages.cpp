#include "services/customizer/pages/pages.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "services/customizer/pages/views/customization.hpp"
#include "services/customizer/pages/views/list.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/charts/charts.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/pages.hpp"

namespace stackgate::customizer {
namespace pages_detail {

constexpr std::int64_t rows_of_page = 50, last_events = 100, last_lines = 200, points_of_curve = 300;

const web::PageFiles& page_files() {
  static const web::PageFiles files({{"style.css", "text/css; charset=utf-8", html::frame_style},
                                     {"charts.css", "text/css; charset=utf-8", charts::style},
                                     {"live.js", "text/javascript; charset=utf-8", html::live_script},
                                     {"icon.svg", "image/svg+xml", embedded_icon}});
  return files;
}

web::Answer send_page(html::Frame frame, const html::Html& content) {
  static const html::Assets assets{.style = page_files().address("style.css"),
                                   .charts = page_files().address("charts.css"),
                                   .script = page_files().address("live.js"),
                                   .icon = page_files().address("icon.svg")};
  frame.product = "Customizer";
  return web::page_answer(html::framed(frame, assets, content));
}

class Pages {
 public:
  explicit Pages(PageSource source) : source_(std::move(source)) {}

  web::Answer list(web::Call& call) const {
    const auto models = TRY(source_.records.models());
    pages::ListView view{.models = models, .now = TRY(source_.records.now())};
    // A word that is none filters nothing.
    const auto state = state_named(call.query().get("state").value_or(""));
    if (state) view.state = to_string(*state);
    view.model = call.query().get("model").value_or("");
    if (std::ranges::find(models, view.model) == models.end()) view.model.clear();
    view.page = std::clamp<std::uint64_t>(to_number<std::uint64_t>(call.query().get("page").value_or("1")).value_or(1),
                                          1, 100'000);
    const auto listed = TRY(source_.records.list({.state = state,
                                                  .model = view.model,
                                                  .offset = static_cast<std::int64_t>(view.page - 1) * rows_of_page,
                                                  .limit = rows_of_page}));
    view.rows = listed.rows;
    view.total = static_cast<std::uint64_t>(std::max<std::int64_t>(listed.total, 0));
    view.pages = std::max<std::uint64_t>(1, (view.total + rows_of_page - 1) / rows_of_page);
    return send_page({.title = "Customizations"}, pages::list_page(view));
  }

  web::Answer customization(web::Call& call, bool live) const {
    const std::string name(call.parameter("name"));
    const auto found = TRY(source_.records.find(name));
    if (!found) return web::Failure{.status = 404, .message = "there is no such customization"};
    const Customization& job = found->job;
    const auto points = TRY(source_.records.curves(job.id, points_of_curve));
    const auto events = TRY(source_.records.last_events(job.id, false, last_events));
    const auto lines = TRY(source_.records.last_events(job.id, true, last_lines));
    const pages::CustomizationView view{.job = job,
                                        .points = points,
                                        .events = events,
                                        .lines = lines,
                                        .entitystore_url = source_.entitystore_url,
                                        .now = TRY(source_.records.now())};
    if (live) return web::page_answer(pages::live_part(view).str());
    return send_page({.title = job.name, .place = pages::at_customization, .refreshes = !is_final(job.state)},
                     pages::customization_page(view));
  }

 private:
  const PageSource source_;
};

}  // namespace pages_detail

std::vector<web::Route> page_routes(PageSource source) {
  using pages_detail::Pages;
  const auto pages = std::make_shared<const Pages>(std::move(source));
  const web::RouteOptions options{.dialect = web::Dialect::html};
  std::vector<web::Route> out = pages_detail::page_files().routes();
  out.push_back({"GET", "/", [pages](web::Call& call) { return pages->list(call); }, options});
  out.push_back({"GET", "/customizations/{name}",
                 [pages](web::Call& call) { return pages->customization(call, false); }, options});
  out.push_back({"GET", "/customizations/{name}/live",
                 [pages](web::Call& call) { return pages->customization(call, true); }, options});
  return out;
}

}  // namespace stackgate::customizer
