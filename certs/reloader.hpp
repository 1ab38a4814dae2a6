// Decides what to do with a certificate pair that has been read: the rules of reloading without files and threads.
// A broken pair never replaces a good one.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "certs/identity.hpp"

namespace stackgate::certs {

class Reloader {
 public:
  enum class Outcome : std::uint8_t {
    unchanged,  // what is served already, or a fault that is known already
    accepted,   // identity() is new
    refused,    // a new fault: error() says it; identity() is as it was
  };

  /// `read`: the pair, or why it could not be read. Offer on every look, not only on changes: a pair that was not yet
  /// valid becomes so.
  Outcome offer(const std::expected<PemPair, Error>& read, Time now);

  /// nullptr before the first good pair.
  const std::shared_ptr<const Identity>& identity() const { return identity_; }
  /// What is wrong with the pair that was offered last; empty when it is the one served.
  const std::string& error() const { return error_; }
  std::uint64_t accepted() const { return accepted_; }
  std::uint64_t refused() const { return refused_; }

 private:
  Outcome refuse(std::string why, const PemPair* pair);

  std::shared_ptr<const Identity> identity_;
  PemPair served_;
  std::optional<PemPair> refused_pair_;
  std::string error_;
  std::uint64_t accepted_ = 0, refused_ = 0;
};

}  // namespace stackgate::certs
