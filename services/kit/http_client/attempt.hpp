// One attempt of a blocking call: the caller's functions run on the caller's thread while the engine moves the bytes.
#pragma once
#include "services/kit/http_client/engine.hpp"
#include "services/kit/http_client/repeat.hpp"

namespace stackgate::http_client {

/// Blocks. `request` is complete but for the upload; throws what the caller's functions throw.
AttemptResult attempt(Engine& engine, const Request& call, ExchangeRequest request);

}  // namespace stackgate::http_client
