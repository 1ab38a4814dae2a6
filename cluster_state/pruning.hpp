// What is kept of a stored object: compact JSON without what nobody reads.
// Pure and thread-safe.
#pragma once
#include <cstdint>
#include <string>

#include "services/kit/json/value.hpp"

namespace stackgate::cluster {

struct Keep {
  bool status = false;
  bool content = true;  // data, stringData, binaryData: false for Secrets, whose values never enter a cache
};

/// Without metadata.managedFields and kubectl's last-applied annotation.
std::string pruned_json(const json::Value& object, const Keep& keep);

/// The index of our own entry in metadata.managedFields that a plain create or update left, or -1. Server-side apply
/// does not take fields out that such an entry owns, so it has to be turned into an Apply entry before the first
/// update.
/// https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply
int create_entry(const json::Value& object);

/// metadata.resourceVersion as a number, 0 when it is none. Versions of one object may be compared so since always in
/// practice, and officially (KEP-5504); an API server where they are no numbers only loses the guard against old
/// events.
std::uint64_t version_of(const json::Value& object);

/// What is held is newer than what comes now: an event that was under way while we wrote.
inline bool is_stale(std::uint64_t held, std::uint64_t coming) { return coming != 0 && coming < held; }

/// A fingerprint of what a Secret or ConfigMap holds, so that pods restart when it changes and nobody has to keep it:
/// the first 16 hex digits of a SHA-256 over the object's name and all of data and binaryData, sorted by key. It stands
/// in an annotation of pods: who can read those, but not the Secret, could try out guesses of a short value.
std::string content_hash(const json::Value& object);

}  // namespace stackgate::cluster
