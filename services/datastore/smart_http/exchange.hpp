// One request's body into a git process and its output back, with back-pressure both ways and no more than a few
// hundred KiB held.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "services/datastore/git/child.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::smart_http {

struct Exchange {
  std::string content_type;
  /// true: once the body is here whole, git may finish although the client has gone: what it asked for is then done,
  /// not half done.
  bool outlives_client = false;
  /// Called when git has ended, before the client gets the last of the answer.
  std::function<void()> before_end{};
  /// For output that does not stand in the answer as it is: appends a piece, framed. An empty piece, asked for now and
  /// then while git is silent, keeps the client waiting.
  std::function<void(std::string& answer, std::string_view piece)> frame{};
  /// With `frame`: what ends the answer.
  std::function<void(std::string& answer, bool well)> close{};
};

/// `prefix` is what has been read of the body already, `at_end` whether that was all.
web::Answer exchange(web::Call& call, git::Child& child, std::string_view prefix, bool at_end, const Exchange& how);

/// Headers that every answer of this protocol has.
http::Response protocol_response(std::string content_type);

}  // namespace stackgate::datastore::smart_http
