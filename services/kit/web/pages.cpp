#include "services/kit/web/pages.hpp"

#include <utility>

#include "services/kit/crypto/digest.hpp"
#include "services/kit/web/call.hpp"
#include "services/kit/web/conditional.hpp"
#include "services/kit/web/send.hpp"

namespace stackgate::web {

PageFiles::PageFiles(const std::vector<PageFile>& files) {
  constexpr std::size_t version_digits = 12;
  for (const PageFile& each : files)
    files_.push_back({each, crypto::to_hex(crypto::sha256(each.bytes)).substr(0, version_digits)});
}

const PageFiles::Known* PageFiles::find(std::string_view name) const {
  for (const Known& each : files_)
    if (each.file.name == name) return &each;
  return nullptr;
}

std::string_view PageFiles::version(std::string_view name) const {
  const Known* found = find(name);
  return found == nullptr ? std::string_view() : found->version;
}

std::string PageFiles::address(std::string_view name) const {
  std::string out("/-/assets/");
  out.append(name);
  if (const std::string_view mark = version(name); !mark.empty()) out.append("?v=").append(mark);
  return out;
}

Answer PageFiles::send(Call& call) const {
  const Known* found = find(call.parameter("name"));
  if (found == nullptr) return Failure{.status = 404, .message = "there is no such file"};
  const bool exact = call.query().get("v") == found->version;
  return send_content(
      call, {.size = found->file.bytes.size(),
             .type = std::string(found->file.type),
             .validators = {.etag = make_etag(found->version)},
             .headers = {{"Cache-Control", exact ? "public, max-age=31536000, immutable" : "no-cache"},
                         {"X-Content-Type-Options", "nosniff"},
                         {"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"}},
             .bytes = found->file.bytes});
}

std::vector<Route> PageFiles::routes() const {
  return {{"GET",
           "/-/assets/{name}",
           [this](Call& call) { return send(call); },
           {.dialect = Dialect::html, .quiet = true}}};
}

Headers page_headers(bool connects) {
  std::string policy =
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; "
      "frame-ancestors 'none'; base-uri 'none'";
  if (connects) policy += "; connect-src 'self'";
  return {{"Content-Security-Policy", policy},
          {"X-Content-Type-Options", "nosniff"},
          // Not "no-referrer": browsers would send "Origin: null" with our own forms.
          {"Referrer-Policy", "same-origin"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cache-Control", "no-store"}};
}

Answer page_answer(std::string html) {
  return http::Response{.status = 200,
                        .content_type = "text/html; charset=utf-8",
                        .headers = page_headers(true),
                        .body = std::move(html)};
}

}  // namespace stackgate::web
