// One call, attempted until it gets a reply worth giving. Knows no network.
#pragma once
#include <chrono>
#include <expected>
#include <functional>
#include <optional>
#include <string>

#include "services/kit/fetch/client.hpp"

namespace stackgate::fetch {

struct Ended {
  std::expected<Reply, std::string> result;  // the words may hold secrets of the URL
  bool reached = true;                       // see Attempt
  bool final = false;                        // not to be repeated, whatever it was
};

/// Blocks while it waits between attempts, though never past `until`: then the last result is what there is.
std::expected<Reply, Error> persist(const Call& call, const std::string& url, unsigned retries,
                                    std::optional<std::chrono::steady_clock::time_point> until,
                                    const std::function<Ended(std::optional<std::chrono::milliseconds> left)>& attempt);

}  // namespace stackgate::fetch
