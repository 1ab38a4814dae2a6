#include "services/evaluator/pages/views/frame.hpp"

#include <cmath>

#include "services/kit/base/percent.hpp"
#include "services/kit/charts/charts.hpp"

namespace stackgate::evaluator::pages {

std::string framed(const Frame& frame, const Assets& assets, const html::Html& content) {
  html::Html refresh;
  if (frame.refreshes) refresh.put(R"(<noscript><meta http-equiv="refresh" content="5"></noscript>)");
  return html::piece(R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{}<title>{} · Evaluator</title>
<link rel="stylesheet" href="{}">
<link rel="stylesheet" href="{}">
<link rel="icon" href="{}" type="image/svg+xml">
<script src="{}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top"><div class="wide"><a class="brand" href="/"><img src="{}" alt="" width="22" height="22">Evaluator</a></div></header>
<main id="main" class="wide" tabindex="-1">
{}
</main>
</body>
</html>
)",
                     refresh, frame.title, assets.style, assets.charts, assets.icon, assets.script, assets.icon,
                     content)
      .str();
}

html::Link link_to(std::string_view evaluation) { return {"/evaluations/" + percent_encode(evaluation)}; }

html::Link link_to_live(std::string_view evaluation) { return {link_to(evaluation).text + "/live"}; }

html::Link link_to_samples(std::string_view evaluation, std::string_view task, std::int64_t after) {
  return with_query(link_to(evaluation).text + "/samples",
                    {{"task", task}, {"after", after < 0 ? std::string() : std::to_string(after)}});
}

html::Link with_query(std::string path, std::initializer_list<std::pair<std::string_view, std::string_view>> query) {
  char before = '?';
  for (const auto& [name, value] : query) {
    if (value.empty()) continue;
    path.append(1, before).append(name).append(1, '=').append(percent_encode(value));
    before = '&';
  }
  return {std::move(path)};
}

html::Html state_badge(State state) {
  return html::piece(R"(<span class="badge state-{}">{}</span>)", to_string(state), to_string(state));
}

html::Html value_words(double value, double error) {
  html::Html out;
  out.put("{}", charts::number_words(value));
  if (std::isfinite(value) && std::isfinite(error))
    out.put(R"( <span class="quiet">± {}</span>)", charts::number_words(error));
  return out;
}

html::Html empty_words(std::string_view text) { return html::piece(R"(<p class="empty">{}</p>)", text); }

}  // namespace stackgate::evaluator::pages
