#include <array>
#include <optional>
#include <vector>

#include "services/kit/base/ascii.hpp"
#include "services/model/tokenizer/byte_alphabet.hpp"
#include "services/model/tokenizer/read.hpp"
#include "services/model/tokenizer/read_parts.hpp"

namespace stackgate::tokenizer {
namespace {

bool is_byte_token(std::string_view text) {
  return text.size() == 6 && text.starts_with("<0x") && text[5] == '>' && ascii::is_hex(text[3]) &&
         ascii::is_hex(text[4]);
}

class ModelReader {
 public:
  ModelReader(const Component& at, Description& out, Report& report) : at_(at), out_(out), report_(report) {}

  void read() {
    options();
    const json::Value* vocab = at_.value.find("vocab");
    if (vocab == nullptr || !vocab->is_object() || vocab->members().size() > most_tokens)
      return report_.wrong("tokenizer-type", at_, "lacks an object \"vocab\" of at most 2097152 tokens",
                           "write \"vocab\": {\"<token>\": <id>, …}");
    vocabulary(*vocab);
    unknown();
    const json::Value* merges = at_.value.find("merges");
    if (merges == nullptr || !merges->is_array() || merges->items().size() > most_merges)
      return report_.wrong("tokenizer-type", at_, "lacks a list \"merges\" of at most 2097152 pairs",
                           "write \"merges\": [\"a b\", …]");
    read_merges(*merges);
  }

 private:
  void options() {
    out_.ignore_merges = report_.flag(at_, "ignore_merges", false);
    out_.byte_fallback = report_.flag(at_, "byte_fallback", false);
    out_.fuse_unknown = report_.flag(at_, "fuse_unk", false);
    for (const std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (!report_.text(at_, key).empty())
        report_.wrong("tokenizer-not-served", at_, fmt::format("has a \"{}\"", key),
                      "use a model whose tokens are byte-level, or mark words by ▁");
    if (const json::Value* dropout = Report::present(at_, "dropout"); dropout != nullptr && dropout->number() != 0)
      report_.wrong("tokenizer-not-served", at_.member("dropout", *dropout), "merges at random", "write null");
  }

  /// The bytes of a token's text, in `arena_` where the byte alphabet changes them.
  Vocabulary::Entry entry_of(std::string_view text) {
    Vocabulary::Entry entry{.bytes = text, .flags = Vocabulary::present | Vocabulary::in_model};
    if (is_byte_token(text)) entry.flags |= Vocabulary::byte_token;
    if (!out_.byte_level) return entry;
    const std::size_t begin = arena_.size();
    if (append_alphabet_bytes(text, arena_))
      entry.bytes = std::string_view(arena_).substr(begin);
    else
      entry.flags = Vocabulary::present | Vocabulary::literal;  // nothing that is merged can become it
    return entry;
  }

  void vocabulary(const json::Value& vocab) {
    std::size_t bytes = 0;
    for (const json::Member& member : vocab.members()) bytes += member.key.size();
    arena_.reserve(bytes);  // views into it stay
    for (const json::Member& member : vocab.members()) {
      const Component each{"model.vocab", member.value};
      if (!member.value.is_integer() || member.value.integer() < 0 || member.value.integer() >= most_tokens) {
        report_.wrong("tokenizer-type", each, fmt::format("the id of \"{}\" must be 0 to 2097151", member.key),
                      "write a whole number");
        continue;
      }
      if (member.key.empty()) {
        report_.wrong("tokenizer-type", each, "has a token without text", "remove it");
        continue;
      }
      Vocabulary::Entry& entry = at_id(static_cast<TokenId>(member.value.integer()));
      if (entry.flags != 0)
        report_.wrong("tokenizer-twice", each, fmt::format("\"{}\" has the id of another token", member.key),
                      "give each token its own id");
      entry = entry_of(member.key);
    }
    add_added(vocab);
    out_.vocabulary = Vocabulary(entries_);
  }

  Vocabulary::Entry& at_id(TokenId id) {
    if (id >= entries_.size()) entries_.resize(id + 1);
    return entries_[id];
  }

  void add_added(const json::Value& vocab) {
    std::string bytes;
    for (std::size_t i = 0; i < out_.added.size(); ++i) {
      const AddedToken& token = out_.added[i];
      Vocabulary::Entry& entry = at_id(token.id);
      bytes.clear();
      const bool mapped = out_.byte_level && append_alphabet_bytes(token.content, bytes);
      const bool same = entry.bytes == token.content || (mapped && entry.bytes == bytes);
      if (entry.flags != 0 && !same)
        report_.wrong(
            "tokenizer-twice", Component{fmt::format("added_tokens[{}]", i), vocab},
            fmt::format("\"{}\" has the id {}, which is another token in model.vocab", token.content, token.id),
            "give it the id that model.vocab has, or one beyond");
      entry.flags |= Vocabulary::present | Vocabulary::added;
      if (token.special) entry.flags |= Vocabulary::special;
      if (entry.bytes == token.content) continue;
      entry.bytes = token.content;  // decoded as it is, whatever its characters are in the byte alphabet
      entry.flags &= static_cast<std::uint8_t>(~Vocabulary::in_model);
    }
  }

  void unknown() {
    const std::string name = report_.text(at_, "unk_token");
    if (name.empty()) return;
    if (const auto id = out_.vocabulary.find(name)) {
      out_.unknown = id;
      return;
    }
    for (const AddedToken& token : out_.added)
      if (token.content == name) out_.unknown = token.id;
    if (!out_.unknown)
      report_.wrong("tokenizer-missing", at_, fmt::format("\"unk_token\" {} is no token", name),
                    "write a token of the vocabulary, or null");
  }

  void read_merges(const json::Value& list) {
    std::vector<Merge> merges;
    merges.reserve(list.items().size());
    for (std::size_t i = 0; i < list.items().size(); ++i) {
      const json::Value& item = list.items()[i];
      std::string_view left, right;
      if (item.is_string()) {
        const std::size_t space = item.string().find(' ');
        if (space != std::string_view::npos && item.string().find(' ', space + 1) == std::string_view::npos) {
          left = item.string().substr(0, space);
          right = item.string().substr(space + 1);
        }
      } else if (item.items().size() == 2) {
        left = item.items()[0].string();
        right = item.items()[1].string();
      }
      if (left.empty() || right.empty()) {
        report_.wrong_type({fmt::format("model.merges[{}]", i), item}, "two tokens: \"a b\" or [\"a\", \"b\"]");
        continue;
      }
      if (const auto merge = merge_of(left, right))
        merges.push_back(*merge);
      else
        report_.wrong("tokenizer-missing", {fmt::format("model.merges[{}]", i), item},
                      "one of the two, or both together, is no token", "remove it, or add the token to model.vocab");
    }
    out_.merges = MergeTable(merges);
  }

  std::optional<Merge> merge_of(std::string_view left, std::string_view right) {
    joined_.clear();
    if (!out_.byte_level) {
      joined_ += left;
      joined_ += right;
    } else if (!append_alphabet_bytes(left, joined_)) {
      return std::nullopt;
    }
    const std::size_t cut = out_.byte_level ? joined_.size() : left.size();
    if (out_.byte_level && !append_alphabet_bytes(right, joined_)) return std::nullopt;
    const std::string_view both = joined_;
    const auto first = out_.vocabulary.find(both.substr(0, cut));
    const auto second = out_.vocabulary.find(both.substr(cut));
    const auto result = out_.vocabulary.find(both);
    if (!first || !second || !result) return std::nullopt;
    return Merge{.left = *first, .right = *second, .result = *result};
  }

  const Component& at_;
  Description& out_;
  Report& report_;
  std::string arena_, joined_;
  std::vector<Vocabulary::Entry> entries_;
};

constexpr std::array<std::string_view, 1> known_models = {"BPE"};

}  // namespace

void read_model(const Component& at, Description& out, Report& report) {
  if (!at.value.is_object()) return report.wrong_type(at, "an object");
  // Old files say nothing of the type: what has merges is BPE.
  const std::string type = report.text(at, "type", at.value.find("merges") != nullptr ? "BPE" : "");
  if (type != "BPE") return report.not_served(at, "model", type, known_models);
  ModelReader(at, out, report).read();
}

}  // namespace stackgate::tokenizer
