#include "services/customizer/pages/views/list.hpp"

#include "services/customizer/api/adapter.hpp"
#include "services/customizer/api/show.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/html/words.hpp"

namespace stackgate::customizer::pages {
namespace list_detail {

html::Html row(const Customization& job, Seconds now) {
  const CustomizationRequest request = read_stored(job.request);
  html::Html state = html::state_badge(to_string(job.state));
  if (!is_final(job.state)) state.put(" {}", html::progress_bar(percentage_done(job, read_progress(job.progress))));
  return html::piece(
      R"(<tr><td class="name"><a href="{}">{}</a></td><td>{}</td><td class="cut" title="{}">{}</td><td>{}</td><td>{}</td><td>{}</td></tr>)",
      at_root.to(path_of(job.name)), job.name, state, job.message, job.message, request.target.name,
      output_model_of(job, request).text(), html::time_tag(job.created_at, now));
}

html::Html filter(const ListView& view) {
  const std::vector<std::string_view> models(view.models.begin(), view.models.end());
  return html::piece(
      R"(<form class="filter" method="get" action="{}"><label>State <select name="state">{}</select></label>
<label>Model <select name="model">{}</select></label><button>Show</button></form>)",
      at_root.to("/"), html::options(state_names, view.state, "all"), html::options(models, view.model, "all"));
}

html::Html pager(const ListView& view) {
  const auto to = [&](std::uint64_t page) {
    return at_root.to(
        html::with_query("/", {{"state", view.state}, {"model", view.model}, {"page", std::to_string(page)}}));
  };
  return html::pager(view.page, view.pages, to(view.page - 1), to(view.page + 1));
}

}  // namespace list_detail

std::string path_of(std::string_view customization) { return "/customizations/" + percent_encode(customization); }

html::Html list_page(const ListView& view) {
  using namespace list_detail;
  html::Html rows, list;
  for (const Customization& each : view.rows) rows.put("{}", row(each, view.now));
  if (view.rows.empty())
    list.put("{}", html::empty_words(view.state.empty() && view.model.empty() && view.total == 0
                                         ? "There are no customizations yet: POST /v1/customizations makes one."
                                         : "No customization is like that."));
  else
    list.put(
        R"(<div class="wrap"><table class="list"><caption class="away">Customizations</caption>
<thead><tr><th>Name</th><th>State</th><th>Why</th><th>Model</th><th>Adapter</th><th>Made</th></tr></thead><tbody>{}</tbody></table></div>)",
        rows);
  return html::piece(R"(<h1>Customizations</h1><p class="quiet">{}</p>{}{}{})",
                     html::counted(view.total, "customization"), filter(view), list,
                     view.pages > 1 ? pager(view) : html::Html());
}

}  // namespace stackgate::customizer::pages
