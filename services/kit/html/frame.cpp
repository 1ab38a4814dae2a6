#include "services/kit/html/frame.hpp"

#include <fmt/format.h>

#include "services/kit/base/percent.hpp"

namespace stackgate::html {
namespace frame_detail {

Html style_link(Place place, const std::string& file) {
  Html out;
  if (!file.empty()) out.put(R"(<link rel="stylesheet" href="{}">)", place.to(file));
  return out;
}

}  // namespace frame_detail

Link Place::to(std::string_view path) const {
  if (path.starts_with('/')) path.remove_prefix(1);
  std::string out = depth_ == 0 ? "./" : "";
  for (unsigned i = 0; i < depth_; ++i) out += "../";
  return {out.append(path)};
}

std::string framed(const Frame& frame, const Assets& assets, const Html& content) {
  using frame_detail::style_link;
  Html refresh;
  if (frame.refreshes) refresh.put(R"(<noscript><meta http-equiv="refresh" content="5"></noscript>)");
  const Link icon = frame.place.to(assets.icon);
  return piece(R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{}<title>{} · {}</title>
{}{}
<link rel="icon" href="{}" type="image/svg+xml">
<script src="{}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top"><div class="wide"><a class="brand" href="{}"><img src="{}" alt="" width="22" height="22">{}</a></div></header>
<main id="main" class="wide" tabindex="-1">
{}
</main>
</body>
</html>
)",
               refresh, frame.title, frame.product, style_link(frame.place, assets.style),
               style_link(frame.place, assets.charts), icon, frame.place.to(assets.script), frame.place.to("/"), icon,
               frame.product, content)
      .str();
}

std::string with_query(std::string path, std::initializer_list<std::pair<std::string_view, std::string_view>> query) {
  char before = '?';
  for (const auto& [name, value] : query) {
    if (value.empty()) continue;
    path.append(1, before).append(name).append(1, '=').append(percent_encode(value));
    before = '&';
  }
  return path;
}

Html empty_words(std::string_view text) { return piece(R"(<p class="empty">{}</p>)", text); }

Html state_badge(std::string_view state) { return piece(R"(<span class="badge state-{}">{}</span>)", state, state); }

Html progress_bar(double percent) {
  Html out;
  if (!(percent >= 0)) return out;
  const std::string number = fmt::format("{:.0f}", percent);
  return out.put(R"(<progress max="100" value="{}">{} %</progress> <span class="quiet">{} %</span>)", number, number,
                 number);
}

Html options(std::span<const std::string_view> names, std::string_view chosen, std::string_view all) {
  Html out;
  out.put(R"(<option value="">{}</option>)", all);
  for (const std::string_view each : names)
    each == chosen ? out.put("<option selected>{}</option>", each) : out.put("<option>{}</option>", each);
  return out;
}

Html pager(std::uint64_t page, std::uint64_t pages, const Link& newer, const Link& older) {
  Html before, after;
  if (page > 1) before.put(R"(<a rel="prev" href="{}">Newer</a>)", newer);
  if (page < pages) after.put(R"(<a rel="next" href="{}">Older</a>)", older);
  return piece(
      R"(<nav class="pages" aria-label="Pages"><span>{}</span><span>Page {} of {}</span><span>{}</span></nav>)", before,
      page, pages, after);
}

}  // namespace stackgate::html
