// Pages for browsers: files that are part of the program, and what every page's head says.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/web/answer.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::web {

/// Style, script, icon. `bytes` live as long as the program.
struct PageFile {
  std::string_view name, type, bytes;
};

/// Files below /-/assets/. Their addresses change with their content, so browsers keep them. Immutable, thread-safe.
class PageFiles {
 public:
  explicit PageFiles(const std::vector<PageFile>& files);
  /// "/-/assets/style.css?v=0123456789ab"; of another name without a version.
  std::string address(std::string_view name) const;
  std::string_view version(std::string_view name) const;
  /// GET /-/assets/{name}. `this` must outlive them.
  std::vector<Route> routes() const;

 private:
  struct Known {
    PageFile file;
    std::string version;
  };
  const Known* find(std::string_view name) const;
  Answer send(Call& call) const;

  std::vector<Known> files_;
};

/// Scripts and styles of this server only, none inside of the page; no frames, nothing kept. `connects`: its script may
/// ask this server.
Headers page_headers(bool connects);
/// A page, or a part of one, whose script may ask this server.
Answer page_answer(std::string html);

}  // namespace stackgate::web
