// SIGTERM and SIGINT as something to ask for between two steps.
#pragma once

namespace stackgate::trainer {

/// From now on these signals end nothing: they raise the flag.
void watch_stop_signals();
bool stop_asked();

}  // namespace stackgate::trainer
