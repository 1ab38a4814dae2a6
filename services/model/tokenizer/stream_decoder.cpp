#include "services/model/tokenizer/stream_decoder.hpp"

namespace stackgate::tokenizer {

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, DecodeOptions options)
    : tokenizer_(&tokenizer),
      options_(options),
      strip_left_(options.continuation ? 0 : tokenizer.description().decoder.strip_start) {}

void StreamDecoder::push(TokenId id, std::string& out) {
  if (options_.skip_special_tokens && tokenizer_->is_special(id)) return;
  std::string_view bytes = tokenizer_->token_bytes(id);
  const char strip = strip_left_ > 0 ? tokenizer_->description().decoder.strip[0] : '\0';
  while (strip_left_ > 0 && !bytes.empty()) {
    strip_left_ = bytes.front() == strip ? strip_left_ - 1 : 0;
    if (bytes.front() == strip)
      bytes.remove_prefix(1);
    else
      break;
  }
  mender_.push(bytes, out);
}

}  // namespace stackgate::tokenizer
