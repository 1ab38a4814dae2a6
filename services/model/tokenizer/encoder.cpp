#include "services/model/tokenizer/encoder.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/base/utf8.hpp"

namespace stackgate::tokenizer {
namespace {

std::expected<void, EncodeError> check_text(std::string_view text) {
  using Reason = EncodeError::Reason;
  if (text.size() > longest_text)
    return std::unexpected(EncodeError{
        Reason::too_long, fmt::format("the text has {} bytes, more than 8 MiB", text.size()), "shorten it"});
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8::sequence_length(text.substr(at));
    if (length == 0)
      return std::unexpected(
          EncodeError{Reason::not_utf8, fmt::format("the text is not UTF-8 at byte {}", at), "send UTF-8"});
    at += length;
  }
  return {};
}

}  // namespace

Encoder::Encoder(std::shared_ptr<const Tokenizer> tokenizer, std::size_t cache_entries)
    : tokenizer_(std::move(tokenizer)), pre_tokenizer_(tokenizer_->description_.pre_tokenizer), cache_(cache_entries) {}

std::expected<std::vector<TokenId>, EncodeError> Encoder::encode(std::string_view text, EncodeOptions options) {
  want_spans_ = false;
  TRY(run(text, options));
  return std::move(ids_);
}

std::expected<std::vector<TokenSpan>, EncodeError> Encoder::encode_with_spans(std::string_view text,
                                                                              EncodeOptions options) {
  want_spans_ = true;
  TRY(run(text, options));
  return std::move(spans_);
}

void Encoder::emit(TokenId id, std::uint32_t begin, std::uint32_t end) {
  if (want_spans_)
    spans_.push_back({id, begin, end});
  else
    ids_.push_back(id);
}

std::expected<void, EncodeError> Encoder::run(std::string_view text, EncodeOptions options) {
  TRY(check_text(text));
  ids_ = {};
  spans_ = {};
  if (!want_spans_) ids_.reserve(text.size() / 3 + 8);
  const Description& description = tokenizer_->description_;
  if (options.add_special_tokens)
    for (const TokenId id : description.prefix) emit(id, 0, 0);
  const Slice whole{.text = text};
  std::size_t at = 0;
  bool good = true;
  while (const auto hit = tokenizer_->raw_added_.next(text, at)) {
    good = good && section(whole.part(at, hit->begin));
    emit(hit->token->id, static_cast<std::uint32_t>(hit->begin), static_cast<std::uint32_t>(hit->end));
    at = hit->end;
  }
  good = good && section(whole.part(at, text.size()));
  if (!good)
    return std::unexpected(EncodeError{EncodeError::Reason::too_many_steps,
                                       "the tokenizer's split pattern takes too many steps on this text",
                                       "shorten the text, or use a tokenizer with a simpler pattern"});
  const auto end = static_cast<std::uint32_t>(text.size());
  if (options.add_special_tokens)
    for (const TokenId id : description.suffix) emit(id, end, end);
  return {};
}

/// Text between added tokens that are looked for as they are.
bool Encoder::section(const Slice& text) {
  if (text.text.empty()) return true;
  const Slice normal = normalizer_.run(tokenizer_->description_.normalizer, text, want_spans_);
  std::size_t at = 0;
  while (const auto hit = tokenizer_->normalized_added_.next(normal.text, at)) {
    if (!plain(normal.part(at, hit->begin))) return false;
    emit(hit->token->id, normal.offset(hit->begin), normal.offset(hit->end));
    at = hit->end;
  }
  return plain(normal.part(at, normal.text.size()));
}

bool Encoder::plain(const Slice& text) {
  if (text.text.empty()) return true;
  if (tokenizer_->words_apart_) return words(text);
  return pre_tokenizer_.run(text, want_spans_, [this](const Slice& each) { piece(each); });
}

/// Cuts before each run of U+2581.
bool Encoder::words(const Slice& text) {
  constexpr std::string_view mark = "\xE2\x96\x81";
  std::size_t begin = 0;
  while (begin < text.text.size()) {
    std::size_t end = begin;
    while (text.text.substr(end).starts_with(mark)) end += mark.size();
    end = std::min(text.text.find(mark, end), text.text.size());
    piece(text.part(begin, end));
    begin = end;
  }
  return true;
}

void Encoder::piece(const Slice& text) {
  const Description& description = tokenizer_->description_;
  if (description.ignore_merges) {
    if (const auto id = description.vocabulary.find(text.text))
      return emit(*id, text.offset(0), text.offset(text.text.size()));
  }
  if (want_spans_) {
    const auto& symbols = tokenizer_->model_.encode(text.text, scratch_);
    std::size_t length = 0;
    for (const BpeModel::Symbol& symbol : symbols) length += symbol.length;
    std::size_t at = text.text.size() - length;  // what was dropped at the beginning
    for (const BpeModel::Symbol& symbol : symbols) {
      emit(symbol.id, text.offset(at), text.offset(at + symbol.length));
      at += symbol.length;
    }
    return;
  }
  if (const auto known = cache_.find(text.text); !known.empty()) {
    ids_.insert(ids_.end(), known.begin(), known.end());
    return;
  }
  const std::size_t before = ids_.size();
  for (const BpeModel::Symbol& symbol : tokenizer_->model_.encode(text.text, scratch_)) ids_.push_back(symbol.id);
  cache_.keep(text.text, std::span(ids_).subspan(before));
}

}  // namespace stackgate::tokenizer
