// The frame around the pages of a service, and the parts that lists and records of several services share. Pure.
//
// Links are relative, so that a proxy may serve the pages below a path of its own.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "services/kit/html/html.hpp"

namespace stackgate::html {

/// How many segments a page's own path has beyond the first: "/" and "/jobs" 0, "/jobs/mine" 1.
class Place {
 public:
  constexpr explicit Place(unsigned depth) : depth_(depth) {}
  /// `path`: of this service, from its root on: "/jobs/mine?a=b".
  Link to(std::string_view path) const;

 private:
  unsigned depth_;
};

/// Files of the program, from the service's root on; "": there is none.
struct Assets {
  std::string style{}, charts{}, script{}, icon{};
};

struct Frame {
  std::string_view product{};  // "Evaluator"
  std::string title{};
  Place place{0};
  bool refreshes = false;  // every five seconds, where there is no script
};
/// A whole document.
std::string framed(const Frame& frame, const Assets& assets, const Html& content);

/// "/jobs?a=b&c=d": of what is not empty, escaped.
std::string with_query(std::string path, std::initializer_list<std::pair<std::string_view, std::string_view>> query);

/// A paragraph for what is not there.
Html empty_words(std::string_view text);
/// `state`: letters, digits and "-".
Html state_badge(std::string_view state);
/// A bar with its number: 0 to 100; nothing for what is less.
Html progress_bar(double percent);
/// <option>s: one for `all`, which filters nothing, and the names.
Html options(std::span<const std::string_view> names, std::string_view chosen, std::string_view all);
/// Links to the pages before and after, of those that are there; "": there is none.
Html pager(std::uint64_t page, std::uint64_t pages, const Link& newer, const Link& older);

/// Of all the above, in light and dark, for screens of any width.
extern const std::string_view frame_style;
/// Renews [data-live] from the address that it names, until its first element has data-state="final"; only those
/// elements that changed, where they have data-part.
extern const std::string_view live_script;

}  // namespace stackgate::html
