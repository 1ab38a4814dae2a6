// A fingerprint of what a Secret or ConfigMap holds, so that pods restart when it changes and nobody has to keep it.
#pragma once
#include <string>

#include "services/kit/json/value.hpp"

namespace stackgate::cluster {

/// The first 16 hex digits of a SHA-256 over the object's name and all of data and binaryData, sorted by key. It stands
/// in an annotation of pods: who can read those, but not the Secret, could try out guesses of a short value.
std::string content_hash(const json::Value& object);

}  // namespace stackgate::cluster
