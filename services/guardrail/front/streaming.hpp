// Answers as streams: nothing leaves before the output rails have seen it, unless the configuration wants it so.
#pragma once
#include <memory>
#include <optional>

#include "services/guardrail/front/exchange.hpp"
#include "services/kit/web/deferred.hpp"

namespace stackgate::guardrail {

/// A configuration whose output rails are to work on streams and cannot: 400, with their names.
std::optional<web::Failure> refuse_stream(const Configuration& configuration, const ChatRequest& request);

// How an answer is streamed:
//   as it comes       no output rails
//   window by window  rails.output.streaming is enabled
//   at its end        everything else: dialogs, and output rails that want the whole answer
void stream_answer(const std::shared_ptr<Exchange>& exchange, std::shared_ptr<web::Deferred> client);

}  // namespace stackgate::guardrail
