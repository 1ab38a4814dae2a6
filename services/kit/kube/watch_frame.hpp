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

/// Follows an object from its opening brace to the matching one.
class ObjectEnd {
 public:
  /// Bytes of the object in `bytes`, which begins with the brace or continues after earlier bytes; `complete` becomes
  /// whether the object ended there.
  std::size_t advance(std::string_view bytes, bool& complete);

 private:
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
  bool partial() const { return !held_.empty(); }
  void reset();

 private:
  ObjectEnd end_;
  std::string held_;
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
  std::size_t feed_item(std::string_view bytes, const PieceSink& sink);
  void feed_rest(char c);

  ObjectEnd end_;
  std::string held_;  // of the item that has begun
  std::string rest_;  // the list without its items
  std::string key_;   // the last string at the outermost level
  std::string fault_;
  std::uint32_t depth_ = 0;
  bool in_string_ = false, escaped_ = false;
  bool after_colon_ = false;
  bool in_items_ = false, in_item_ = false;
};

}  // namespace stackgate::kube
