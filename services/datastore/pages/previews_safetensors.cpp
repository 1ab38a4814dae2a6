#include <map>

#include <fmt/format.h>

#include "services/datastore/pages/previews.hpp"
#include "services/kit/html/words.hpp"
#include "services/kit/safetensors/header.hpp"

namespace stackgate::datastore::pages {
namespace tensors_detail {

constexpr std::uint64_t most_header = 4ULL << 20U;
constexpr std::size_t most_tensors = 250, most_metadata = 30;

std::string shape_words(const safetensors::Tensor& tensor) {
  std::string out;
  for (const std::uint64_t size : tensor.shape) out += fmt::format("{}{}", out.empty() ? "" : " × ", size);
  return out.empty() ? "scalar" : out;
}

html::Html facts(const safetensors::Header& header) {
  html::Html list;
  std::map<std::string, std::uint64_t> by_type;
  std::uint64_t parameters = 0;
  for (const safetensors::Tensor& each : header.tensors) {
    const std::uint64_t count = safetensors::elements_of(each).value_or(0);
    by_type[each.dtype] += count;
    parameters += count;
  }
  list.put("<dt>Tensors</dt><dd>{}</dd><dt>Parameters</dt><dd>{}</dd>", html::grouped(header.tensors.size()),
           html::grouped(parameters));
  for (const auto& [type, count] : by_type) list.put("<dt>{}</dt><dd>{}</dd>", type, html::grouped(count));
  for (std::size_t i = 0; i < std::min(header.metadata.size(), most_metadata); ++i)
    list.put("<dt>{}</dt><dd>{}</dd>", header.metadata[i].first.substr(0, 80),
             header.metadata[i].second.substr(0, 400));
  return html::piece(R"(<dl class="facts-list">{}</dl>)", list);
}

html::Html problem(std::string_view text) {
  return html::piece(R"(<div class="pad"><p class="notice bad">This is no sound safetensors file: {}.</p></div>)",
                     text);
}

}  // namespace tensors_detail

html::Html safetensors_preview(const Visit& visit, const Place& place, const git::Entry& entry) {
  using namespace tensors_detail;
  html::Html out, rows;
  auto head = read_head(visit, place, entry, 8);
  if (!head) return out.put(R"(<p class="empty">{}</p>)", head.error().message);
  const auto length = safetensors::header_length(head->bytes);
  if (!length) return problem(length.error());
  if (*length > head->size - 8) return problem("its header is said to be longer than the file");
  if (*length > most_header)
    return out.put(R"(<p class="empty">The header has {}; that is too much to show.</p>)", html::size_words(*length));
  head = read_head(visit, place, entry, 8 + *length);
  if (!head) return out.put(R"(<p class="empty">{}</p>)", head.error().message);
  const safetensors::Header header =
      safetensors::read_header(std::string_view(head->bytes).substr(8), head->size - 8 - *length, 5);
  for (const safetensors::Fault& fault : header.faults)
    out.put("{}", problem(fault.tensor.empty() ? fault.problem : fault.tensor + ": " + fault.problem));
  for (std::size_t i = 0; i < std::min(header.tensors.size(), most_tensors); ++i) {
    const safetensors::Tensor& each = header.tensors[i];
    rows.put(R"(<tr><td>{}</td><td>{}</td><td>{}</td><td class="number">{}</td></tr>)", each.name, each.dtype,
             shape_words(each), html::size_words(each.end - each.begin));
  }
  out.put("{}", facts(header));
  if (!rows.empty())
    out.put(
        R"(<div class="wrap" tabindex="0" role="region" aria-label="Tensors"><table class="data"><thead><tr><th scope="col">Tensor</th><th scope="col">Type</th><th scope="col">Shape</th><th scope="col">Size</th></tr></thead><tbody>{}</tbody></table></div>)",
        rows);
  if (header.tensors.size() > most_tensors)
    out.put(R"(<p class="pad quiet">The first {} of {} tensors are shown.</p>)", most_tensors,
            html::grouped(header.tensors.size()));
  return out;
}

}  // namespace stackgate::datastore::pages
