#include "certs/reloader.hpp"

namespace stackgate::certs {

Reloader::Outcome Reloader::offer(const std::expected<PemPair, Error>& read, Time now) {
  if (!read) return refuse(read.error().message, nullptr);
  if (identity_ && *read == served_) {
    error_.clear();
    refused_pair_.reset();
    return Outcome::unchanged;
  }
  auto made = make_identity(*read, now);
  if (!made) return refuse(std::move(made.error().message), &*read);
  identity_ = std::make_shared<const Identity>(std::move(*made));
  served_ = *read;
  error_.clear();
  refused_pair_.reset();
  ++accepted_;
  return Outcome::accepted;
}

// Each fault counts once, however often it is looked at.
Reloader::Outcome Reloader::refuse(std::string why, const PemPair* pair) {
  const bool same_pair = pair == nullptr ? !refused_pair_ : refused_pair_ && *refused_pair_ == *pair;
  if (same_pair && why == error_) return Outcome::unchanged;
  error_ = std::move(why);
  refused_pair_ = pair == nullptr ? std::nullopt : std::optional(*pair);
  ++refused_;
  return Outcome::refused;
}

}  // namespace stackgate::certs
