// Cuts the API server's answers into objects while they stream in, holding no more than one object at a time.
// Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
// Pure; not thread-safe. Only structure is looked at here: each piece still has to be parsed.
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>

#include "services/kit/base/error.hpp"

namespace stackgate::kube {

/// An object in etcd has at most 1.5 MiB by default, a request at most 3 MiB: what is larger is a fault.
inline constexpr std::size_t most_object_bytes = 16U << 20U;

/// Gets one whole object's text, valid during the call. False stops.
using PieceSink = std::function<bool(std::string_view piece)>;

/// Follows an object from its opening brace to the matching one, and gathers it when it comes in pieces.
class ObjectGatherer {
 public:
  enum class State : std::uint8_t { more, whole, too_large, stopped };
  /// Takes the object's bytes off the front of `bytes`, which begin with the brace or go on where the last ones ended.
  /// A whole object goes to `sink`.
  State feed(std::string_view& bytes, const PieceSink& sink);
  /// Bytes of an unfinished object are held.
  bool is_open() const { return !held_.empty(); }

 private:
  std::size_t advance(std::string_view bytes, bool& complete);

  std::string held_;
  std::uint32_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

/// A watch: objects one after the other, with white space between them.
class FrameSplitter {
 public:
  /// False when `sink` stopped it or the stream is broken: fault() then says how.
  bool feed(std::string_view bytes, const PieceSink& sink);
  const std::string& fault() const { return fault_; }
  /// Bytes of an unfinished object are waiting.
  bool partial() const { return object_.is_open(); }
  void reset() { *this = {}; }

 private:
  ObjectGatherer object_;
  std::string fault_;
};

/// What a list holds beside its items.
struct ListPage {
  std::string resource_version;
  std::string continue_token;  // empty on the last page
};

/// A list: {"metadata": {…}, "items": [object, …]} in any order.
class ListSplitter {
 public:
  bool feed(std::string_view bytes, const PieceSink& sink);
  const std::string& fault() const { return fault_; }
  /// After the last byte.
  std::expected<ListPage, Error> finish();

 private:
  void feed_item(std::string_view& bytes, const PieceSink& sink);
  void feed_rest(char c);

  ObjectGatherer item_;
  std::string rest_;  // the list without its items
  std::string key_;   // the last string at the outermost level
  std::string fault_;
  std::uint32_t depth_ = 0;
  bool in_string_ = false, escaped_ = false;
  bool after_colon_ = false;
  bool in_items_ = false, in_item_ = false;
};

}  // namespace stackgate::kube
