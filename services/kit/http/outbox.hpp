// What has been written to an answer that no thread waits for, and what the connection has not sent of it yet.
#pragma once
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "services/kit/http/body_stream.hpp"

namespace stackgate::http {

/// Thread-safe. The first part is for the writers' threads, the second for the connection's loop.
class Outbox {
 public:
  static constexpr std::size_t most_held = 64 * 1024;
  enum class End : std::uint8_t { open, finished, dropped };

  explicit Outbox(AnswerBody::Shape&& shape) : shape_(std::move(shape)), left_(shape_.length) {}

  struct Put {
    bool wake = false;  // the loop does not know yet that there is something
    bool more = false;  // there is room for more
  };
  Put put(std::string_view bytes);
  /// The same for the end. Fewer bytes than announced are a dropped answer, however it ends.
  Put end(End how);

  const AnswerBody::Shape& shape() const { return shape_; }
  /// Something was put in before the end came.
  bool is_begun();
  /// Appends all that is here to `out`, and returns whether it was the end.
  End take(std::string& out);
  /// The connection still has `unsent` bytes of what it took. True: a writer waits for room, and there is some again.
  bool has_room_for_writer(std::size_t unsent);
  /// Nothing is taken any more.
  void close();

 private:
  Put put_end(End how);

  const AnswerBody::Shape shape_;
  std::mutex mutex_;
  std::uint64_t left_;  // of the announced length
  std::string waiting_;
  std::size_t unsent_ = 0;
  bool begun_ = false;
  bool is_loop_woken_ = false;
  bool is_writer_waiting_ = false;
  bool is_closed_ = false;
  End end_ = End::open;
};

}  // namespace stackgate::http
