// An archive on its way in: written and hashed as it comes, while a second thread takes it apart from the file that
// grows. So the upload is judged a moment after its last byte, and nothing is held but one block on either side.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <expected>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "services/entitystore/registration/inspect.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::entitystore {

class Intake {
 public:
  /// `spool` must outlive it. Nothing is written before the first byte.
  Intake(const Spool& spool, std::string id, InspectLimits limits);
  /// Ends the second thread; the spool's folder stays.
  ~Intake();
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  /// One thread. The error is the disk's.
  std::expected<void, ServiceError> add(std::string_view bytes);

  struct Outcome {
    Inspected inspected;
    std::string sha256;  // of the archive
    std::uint64_t bytes = 0;
  };
  /// After the last byte, once. With `keep` the archive stays for a restart, unless it is no good.
  std::expected<Outcome, ServiceError> finish(bool keep);

 private:
  std::expected<void, ServiceError> begin();
  std::expected<std::size_t, archive::ReadError> read(std::span<char> space);

  const Spool& spool_;
  std::string id_;
  InspectLimits limits_;
  crypto::Sha256Stream hash_;
  files::File file_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::uint64_t written_ = 0, taken_ = 0;
  bool whole_ = false, given_up_ = false;
  std::optional<Inspected> inspected_;
  std::jthread thread_;
};

/// The same from an archive that lies in the spool whole. The error is the disk's.
std::expected<Intake::Outcome, ServiceError> inspect_again(const Spool& spool, std::string_view id,
                                                           const InspectLimits& limits);

}  // namespace stackgate::entitystore
