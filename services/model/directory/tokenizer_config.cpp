#include "services/model/directory/tokenizer_config.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/findings/json_report.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::model {
namespace {

using validate::JsonPlace;
using validate::JsonReport;

constexpr std::size_t most_special_tokens = 1024, most_templates = 16;
constexpr double longest_true_length = 1U << 24U;  // transformers writes 1e30 for "no limit"
/// Classes that add the token for the beginning unless the file says otherwise.
constexpr std::array<std::string_view, 2> beginners{"LlamaTokenizer", "LlamaTokenizerFast"};

class Reader {
 public:
  Reader(const json::Value& root, JsonReport& report, TokenizerConfig& out)
      : top_{{}, root}, report_(report), out_(out) {}

  void read() {
    for (const json::Member& each : top_.value.members()) {
      if (each.value.is_null() || each.key.starts_with("add_")) continue;
      if (each.key.ends_with("_token")) special_token(top_, each);
    }
    additional();
    const bool begins = std::ranges::find(beginners, report_.text(top_, "tokenizer_class")) != beginners.end();
    out_.add_bos = report_.flag(top_, "add_bos_token", begins);
    out_.add_eos = report_.flag(top_, "add_eos_token", false);
    templates();
    max_length();
  }

 private:
  void special_token(const JsonPlace& of, const json::Member& member) {
    if (auto text = token_text(of.member(member.key, member.value)))
      out_.special_tokens.texts.emplace_back(member.key, std::move(*text));
  }

  /// A token is written as a text or as an object with its "content".
  std::optional<std::string> token_text(const JsonPlace& at) {
    const json::Value* content = at.value.is_object() ? at.value.find("content") : &at.value;
    if (content != nullptr && content->is_string()) return std::string(content->string());
    report_.wrong_type(at, "a text, or an object with \"content\"");
    return std::nullopt;
  }

  /// Newer files name more tokens in "extra_special_tokens", which was an object for a time and is a list again.
  void additional() {
    for (const std::string_view key : {"additional_special_tokens", "extra_special_tokens"}) {
      const json::Value* found = JsonReport::present(top_, key);
      if (found == nullptr) continue;
      const JsonPlace at = top_.member(key, *found);
      if (found->items().size() + found->members().size() > most_special_tokens ||
          !(found->is_array() || (found->is_object() && key.starts_with("extra")))) {
        report_.wrong_type(at, fmt::format("a list of at most {} tokens", most_special_tokens));
        continue;
      }
      for (std::size_t i = 0; i < found->items().size(); ++i)
        if (auto text = token_text(top_.item(key, i, found->items()[i])))
          out_.special_tokens.additional.push_back(std::move(*text));
      for (const json::Member& each : found->members()) special_token(at, each);
    }
  }

  void templates() {
    constexpr std::string_view key = "chat_template";
    const json::Value* found = JsonReport::present(top_, key);
    if (found == nullptr) return;
    if (found->is_string()) return add_template(top_.member(key, *found), "default", found->string());
    if (!found->is_array() || found->items().size() > most_templates)
      return report_.wrong_type(top_.member(key, *found),
                                fmt::format("a text, or a list of at most {} templates", most_templates));
    for (std::size_t i = 0; i < found->items().size(); ++i) {
      const JsonPlace each = top_.item(key, i, found->items()[i]);
      const std::string_view name = json::text_at(each.value, "name"), source = json::text_at(each.value, "template");
      if (name.empty() || each.value.find("template") == nullptr)
        report_.wrong_type(each, "an object with \"name\" and \"template\"");
      else
        add_template(each, name, source);
    }
  }

  void add_template(const JsonPlace& at, std::string_view name, std::string_view source) {
    if (source.size() > largest_chat_template)
      return report_.wrong("tokenizer-config-limit", at, "has more than 1 MiB", "write a shorter template");
    if (std::ranges::find(out_.templates, name, &NamedTemplate::name) != out_.templates.end())
      return report_.wrong("tokenizer-config-twice", at, fmt::format("the name \"{}\" stands twice", name),
                           "give each template its own name");
    out_.templates.push_back({std::string(name), std::string(source)});
  }

  void max_length() {
    const json::Value* found = JsonReport::present(top_, "model_max_length");
    if (found == nullptr) return;
    if (!found->is_number() || found->number() < 1)
      return report_.wrong_type(top_.member("model_max_length", *found), "a number of tokens");
    if (found->number() <= longest_true_length) out_.max_length = static_cast<std::uint32_t>(found->number());
  }

  const JsonPlace top_;
  JsonReport& report_;
  TokenizerConfig& out_;
};

}  // namespace

const std::string* SpecialTokens::find(std::string_view name) const {
  const auto found = std::ranges::find(texts, name, &std::pair<std::string, std::string>::first);
  return found == texts.end() ? nullptr : &found->second;
}

TokenizerConfigRead read_tokenizer_config(std::string_view json) {
  TokenizerConfigRead read;
  JsonReport report(read.findings, "tokenizer_config.json",
                    {"tokenizer-config-type", "tokenizer-config-missing", "tokenizer-config-not-served"});
  json::Document document;
  if (const auto root = report.parse("tokenizer-config-json", json, document,
                                     {.max_depth = 64, .max_bytes = largest_tokenizer_config}))
    Reader(*root, report, read.config).read();
  return read;
}

std::optional<tokenizer::TokenId> id_of(const tokenizer::Description& tokenizer, std::string_view text) {
  const auto added = std::ranges::find(tokenizer.added, text, &tokenizer::AddedToken::content);
  if (added != tokenizer.added.end()) return added->id;
  return tokenizer.vocabulary.find(text);
}

validate::Findings surround(const TokenizerConfig& config, tokenizer::Description& tokenizer) {
  validate::Findings findings;
  if (tokenizer.has_template) return findings;
  const auto add = [&](bool wanted, std::string_view name, std::vector<tokenizer::TokenId>& to) {
    if (!wanted) return;
    const std::string* text = config.special_tokens.find(name);
    const auto id = text == nullptr ? std::nullopt : id_of(tokenizer, *text);
    if (id) return to.push_back(*id);
    findings.push_back({.rule = "tokenizer-config-token",
                        .path = fmt::format("tokenizer_config.json: {}", name),
                        .value = {},
                        .problem = text == nullptr ? "is missing, and is to be put around each text"
                                                   : fmt::format("\"{}\" is no token of tokenizer.json", *text),
                        .fix = fmt::format("write the token, or \"add_{}\": false", name)});
  };
  add(config.add_bos, "bos_token", tokenizer.prefix);
  add(config.add_eos, "eos_token", tokenizer.suffix);
  return findings;
}

}  // namespace stackgate::model
