#include <array>

#include "services/model/tokenizer/read_parts.hpp"

namespace stackgate::tokenizer {
namespace {

constexpr std::array<std::string_view, 7> known_decoders = {"ByteLevel", "ByteFallback", "Metaspace", "Replace",
                                                            "Fuse",      "Strip",        "Sequence"};

class DecoderReader {
 public:
  DecoderReader(Description& out, Report& report) : out_(out.decoder), report_(report) {}

  void read(const Component& at, std::size_t depth) {
    const std::string_view type = component_type(at, report_);
    if (type.empty()) return;
    if (type == "Sequence")
      return read_sequence(at, "decoders", depth, report_, [&](const Component& each) { read(each, depth + 1); });
    if (type == "Fuse") {
      fused_ = true;
      return;
    }
    if (type == "ByteLevel") {
      out_.byte_level = true;
    } else if (type == "ByteFallback") {
      out_.byte_fallback = true;
    } else if (type == "Metaspace") {
      metaspace(at);
    } else if (type == "Replace") {
      replace(at);
    } else if (type == "Strip") {
      strip(at);
    } else {
      report_.not_served(at, "decoder", type, known_decoders);
    }
  }

 private:
  void out_of_order(const Component& at, std::string problem) {
    report_.wrong("tokenizer-not-served", at, std::move(problem),
                  "write Sequence[Replace, ByteFallback, Fuse, Strip], in this order");
  }

  void replace(const Component& at) {
    const json::Value* pattern = at.value.find("pattern");
    const json::Value* text = pattern == nullptr ? nullptr : pattern->find("String");
    const std::string content = report_.text(at, "content");
    if (text == nullptr || text->string().empty()) return out_of_order(at, "replaces something other than a text");
    if (fused_ || out_.byte_fallback) return out_of_order(at, "replaces what was put together before");
    if (content.size() > 16 * text->string().size() || out_.replacements.size() >= 8)
      return out_of_order(at, "makes texts more than 16 times as long, or is one of more than 8");
    out_.replacements.push_back({std::string(text->string()), content});
  }

  void metaspace(const Component& at) {
    const std::string mark = report_.text(at, "replacement", "\xE2\x96\x81");
    if (mark.empty() || fused_) return out_of_order(at, "replaces nothing, or what was put together before");
    out_.replacements.push_back({mark, " "});
    const bool old_prefix = report_.flag(at, "add_prefix_space", true);
    if (report_.text(at, "prepend_scheme", old_prefix ? "always" : "never") == "never") return;
    out_.strip = " ";
    out_.strip_start = 1;
  }

  void strip(const Component& at) {
    const std::string character = report_.text(at, "content");
    const auto start = report_.needed_number(at, "start", 0, 1024);
    const auto stop = report_.needed_number(at, "stop", 0, 1024);
    if (character.size() != 1) return out_of_order(at, "strips something other than one ASCII character");
    if (!fused_) return out_of_order(at, "strips each token: Fuse does not stand before it");
    if (stop.value_or(0) != 0) return out_of_order(at, "strips the end of a text, which no stream can do");
    out_.strip = character;
    out_.strip_start = start.value_or(0);
  }

  DecoderPlan& out_;
  Report& report_;
  bool fused_ = false;
};

}  // namespace

void read_decoder(const Component& at, Description& out, Report& report) {
  DecoderReader(out, report).read(at, 0);
  if (out.decoder.byte_level == out.byte_level) return;
  report.wrong(
      "tokenizer-not-served", at,
      out.byte_level ? "is not ByteLevel, as the pre-tokenizer is" : "is ByteLevel, but no pre-tokenizer makes bytes",
      "write ByteLevel as both");
}

}  // namespace stackgate::tokenizer
