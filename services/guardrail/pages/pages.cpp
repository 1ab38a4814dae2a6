#include "services/guardrail/pages/pages.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/files/file.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/json.hpp"
#include "services/kit/web/pages.hpp"

namespace stackgate::guardrail {
namespace {

constexpr std::uint64_t largest_challenges = 1U << 20U;

const web::PageFiles& page_files() {
  static const web::PageFiles files({{"style.css", "text/css; charset=utf-8", embedded_chat_style},
                                     {"chat.js", "text/javascript; charset=utf-8", embedded_chat_script},
                                     {"icon.svg", "image/svg+xml", embedded_chat_icon}});
  return files;
}

/// Its addresses are relative, so that it works below a proxy's path; here they get their versions.
std::string chat_page() {
  std::string out(embedded_chat_page);
  for (const std::string_view name : {"style.css", "chat.js", "icon.svg"}) {
    const std::string plain = fmt::format("\"-/assets/{}\"", name);
    const std::string exact = fmt::format("\"{}\"", page_files().address(name).substr(1));
    for (std::size_t at = out.find(plain); at != std::string::npos; at = out.find(plain, at + exact.size()))
      out.replace(at, plain.size(), exact);
  }
  return out;
}

web::Answer show_chat(web::Call&) {
  static const std::string page = chat_page();
  return http::Response{
      .status = 200, .content_type = "text/html; charset=utf-8", .headers = web::page_headers(true), .body = page};
}

web::Answer show_nothing(web::Call&) { return web::json_answer(std::string(R"({"status":"ok"})")); }

std::expected<std::string, std::string> read_challenges(const std::string& folder) {
  if (folder.empty()) return "[]";
  auto text = files::read_file(folder + "/challenges.json", largest_challenges);
  if (!text && (text.error() == ENOENT || text.error() == ENOTDIR)) return "[]";
  if (!text) return std::unexpected(std::generic_category().message(text.error()));
  json::Document document;
  const auto root = json::parse(*text, document);
  if (!root) return std::unexpected(fmt::format("{} at byte {}", root.error().message, root.error().offset));
  if (!root->is_array() ||
      !std::ranges::all_of(root->items(), [](const json::Value& each) { return each.is_object(); }))
    return std::unexpected("it is no list of objects with id, name and description");
  return *std::move(text);
}

web::Answer list_challenges(const std::string& folder) {
  auto found = read_challenges(folder);
  if (found) return web::json_answer(*std::move(found));
  log::error("challenges.json cannot be read", {{"why", found.error()}});
  return web::Failure{.status = 500, .message = fmt::format("challenges.json cannot be read: {}.", found.error())};
}

}  // namespace

std::vector<web::Route> page_routes(const PageOptions& options) {
  std::vector<web::Route> out;
  if (options.chat) out = page_files().routes();
  out.push_back({"GET",
                 "/",
                 options.chat ? show_chat : show_nothing,
                 {.dialect = options.chat ? web::Dialect::html : web::Dialect::openai, .on_io_thread = true}});
  out.push_back({"GET",
                 "/v1/challenges",
                 [folder = options.folder](web::Call&) { return list_challenges(folder); },
                 {.dialect = web::Dialect::openai}});
  return out;
}

}  // namespace stackgate::guardrail
