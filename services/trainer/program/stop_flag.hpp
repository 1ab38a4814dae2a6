// SIGTERM and SIGINT as something to ask for between two steps.
#pragma once

namespace stackgate::trainer {

/// From now on these signals end nothing: they raise the flag. A handler rather than run::StopSignals' mask: OpenBLAS
/// makes its threads before main() begins, and a signal would go to one of these, which have no mask.
void watch_stop_signals();
bool stop_asked();

}  // namespace stackgate::trainer
