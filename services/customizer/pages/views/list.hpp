// The list of customizations at /. Pure.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "services/customizer/job/customization.hpp"
#include "services/kit/html/frame.hpp"

namespace stackgate::customizer::pages {

/// Where the pages lie: links are relative to it.
inline constexpr html::Place at_root{0}, at_customization{1};
/// From the service's root on.
std::string path_of(std::string_view customization);

struct ListView {
  std::span<const Customization> rows{};
  std::span<const std::string> models{};  // that may be chosen
  std::string state{}, model{};           // the filter; "": all
  std::uint64_t page = 1, pages = 1, total = 0;
  Seconds now = 0;
};
html::Html list_page(const ListView& view);

}  // namespace stackgate::customizer::pages
