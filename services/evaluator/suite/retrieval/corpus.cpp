#include "services/evaluator/suite/retrieval/corpus.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "services/evaluator/suite/task_rows.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator {
namespace {

constexpr std::size_t most_contexts = 200;  // of a row

std::string_view file_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

/// The first of the members that is there.
const json::Value* member_of(const json::Value& row, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const json::Value* found = row.find(name)) return found;
  return nullptr;
}

std::string title_and_text(const json::Value& row) {
  const std::string_view title = json::text(&row, {"title"}), text = json::text(&row, {"text"});
  return title.empty() ? std::string(text) : text.empty() ? std::string(title) : fmt::format("{}\n{}", title, text);
}

/// "_id" or "id", a text or a whole number.
std::string id_of(const json::Value& row) {
  const json::Value* id = member_of(row, {"_id", "id"});
  return id == nullptr ? std::string() : json::scalar_text(*id);
}

class DataReader {
 public:
  DataReader(const DataSource& data, std::size_t limit, validate::Findings& findings)
      : data_(data), limit_(limit), findings_(findings) {}

  RetrievalData read(std::string_view task, bool is_only_task) {
    const std::string* corpus = path_ending("corpus.jsonl");
    const std::string* queries = path_ending("queries.jsonl");
    if (corpus != nullptr && queries != nullptr) {
      read_corpus(*corpus);
      read_queries(*queries, gains_of(task));
    } else {
      read_rows(task, is_only_task);
    }
    return std::move(out_);
  }

 private:
  const std::string* path_ending(std::string_view name) const {
    const auto found = std::ranges::find_if(data_.paths, [&](const auto& path) { return file_name(path) == name; });
    return found == data_.paths.end() ? nullptr : &*found;
  }

  std::optional<std::string> text_of(std::string_view path) {
    auto text = data_.text(path);
    if (text) return std::move(*text);
    findings_.push_back(data_finding(path, 0, std::move(text.error()), "look whether the datastore has this file"));
    return std::nullopt;
  }

  void add_document(std::string id, std::string text) {
    if (known_.insert(id).second) out_.documents.push_back({std::move(id), std::move(text)});
  }

  void read_corpus(const std::string& path) {
    const TaskRows rows = read_task_rows({path}, data_, most_rows, findings_);
    RowFindings faults(rows, findings_);
    for (const TaskRow& row : rows.rows) {
      json::Document document;
      const auto root = json::parse(row.text, document);
      if (!root) continue;
      std::string id = id_of(*root);
      if (id.empty())
        faults.add(row, "has no \"_id\"", R"(write {"_id": "doc1", "title": "…", "text": "…"})");
      else if (known_.contains(id))
        faults.add(row, fmt::format("has the _id \"{}\" of a row before it", id),
                   "give each document an _id of its own");
      else if (const json::Value* text = root->find("text"); text == nullptr || !text->is_string())
        faults.add(row, "has no \"text\"", R"(write {"_id": "doc1", "title": "…", "text": "…"})");
      else
        add_document(std::move(id), title_and_text(*root));
    }
  }

  using Gains = std::unordered_map<std::string, std::map<std::string, double>>;

  const std::string* qrels_path(std::string_view task) {
    std::vector<const std::string*> all;
    for (const std::string& path : data_.paths)
      if (path.ends_with(".tsv") && path.contains("qrels")) all.push_back(&path);
    for (const std::string& name : {fmt::format("{}.tsv", task), std::string("test.tsv")})
      for (const std::string* path : all)
        if (file_name(*path) == name) return path;
    if (all.size() == 1) return all.front();
    findings_.push_back(data_finding(
        "qrels", 0,
        all.empty() ? "there are no judgements (qrels)" : "there are several splits, and none is called test",
        fmt::format("add qrels/{}.tsv with the columns query-id, corpus-id and score", task)));
    return nullptr;
  }

  Gains gains_of(std::string_view task) {
    Gains out;
    const std::string* path = qrels_path(task);
    if (path == nullptr) return out;
    const auto text = text_of(*path);
    if (!text) return out;
    std::string_view rest = *text;
    std::size_t faults = 0;
    for (std::uint32_t number = 1; !rest.empty(); ++number) {
      const std::size_t end = rest.find('\n');
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) continue;
      if (add_gain(line, out) || number == 1) continue;  // the first one has headers
      if (faults++ < RowFindings::most)
        findings_.push_back(data_finding(*path, number,
                                         "is no judgement: it must have a query, a document and a number",
                                         "write \"<query-id>\\t<corpus-id>\\t<score>\""));
    }
    return out;
  }

  static bool add_gain(std::string_view line, Gains& gains) {
    std::vector<std::string_view> fields;
    for (std::size_t at = 0; at <= line.size() && fields.size() < 5;) {
      const std::size_t end = std::min(line.find('\t', at), line.size());
      fields.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    if (fields.size() != 3 && fields.size() != 4) return false;
    double gain = 0;
    const std::string_view number = fields.back();
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), gain);
    if (error != std::errc{} || end != number.data() + number.size() || !std::isfinite(gain)) return false;
    if (fields[0].empty() || fields[fields.size() - 2].empty()) return false;
    gains[std::string(fields[0])][std::string(fields[fields.size() - 2])] = gain;
    return true;
  }

  void read_queries(const std::string& path, Gains gains) {
    const TaskRows rows = read_task_rows({path}, data_, most_rows, findings_);
    RowFindings faults(rows, findings_);
    std::vector<RetrievalQuery> unjudged;
    for (const TaskRow& row : rows.rows) {
      json::Document document;
      const auto root = json::parse(row.text, document);
      if (!root) continue;
      std::string id = id_of(*root);
      const std::string_view question = json::text(&*root, {"text"});
      if (id.empty() || question.empty()) {
        faults.add(row, "has no \"_id\" or no \"text\"", R"(write {"_id": "q1", "text": "…"})");
        continue;
      }
      RetrievalQuery query = query_of(row, *root, std::string(question));
      const auto found = gains.find(id);
      query.id = std::move(id);
      if (found != gains.end()) query.relevant = std::move(found->second);
      (found == gains.end() ? unjudged : out_.queries).push_back(std::move(query));
    }
    std::ranges::move(unjudged, std::back_inserter(out_.queries));
    if (out_.queries.size() > limit_) out_.queries.resize(limit_);
  }

  static RetrievalQuery query_of(const TaskRow& row, const json::Value& root, std::string question) {
    RetrievalQuery out{.question = std::move(question), .row = row.text};
    if (const json::Value* reference = member_of(root, {"reference", "ground_truth"}))
      out.reference = reference->is_array() && !reference->items().empty() ? reference->items().front().string()
                                                                           : reference->string();
    if (const json::Value* contexts = member_of(root, {"contexts", "retrieved_contexts"})) {
      auto& texts = out.contexts.emplace();
      for (const json::Value& each : contexts->items().first(std::min(contexts->items().size(), most_contexts)))
        texts.emplace_back(each.is_string() ? each.string() : json::text(&each, {"text"}));
    }
    if (const json::Value* response = member_of(root, {"response", "answer"}); response != nullptr)
      if (response->is_string()) out.response = response->string();
    return out;
  }

  void read_rows(std::string_view task, bool is_only_task) {
    const TaskRows rows =
        read_task_rows(files_of_task(task, is_only_task, data_.paths, findings_), data_, most_rows, findings_);
    RowFindings faults(rows, findings_);
    for (const TaskRow& row : rows.rows) {
      json::Document document;
      const auto root = json::parse(row.text, document);
      if (!root) continue;
      const json::Value* question = member_of(*root, {"question", "user_input", "query"});
      if (question == nullptr || question->string().empty()) {
        faults.add(row, "has no \"question\"",
                   R"(write {"question": "…"} with "documents" and "relevant", or with "contexts")");
        continue;
      }
      RetrievalQuery query = query_of(row, *root, std::string(question->string()));
      query.id = id_of(*root);
      if (query.id.empty()) query.id = std::to_string(out_.queries.size() + 1);
      const std::vector<std::string> ids = add_documents(row, *root, faults);
      read_relevant(row, *root, ids, query, faults);
      // All rows' documents are searched, so that a limit of questions makes them no easier.
      if (out_.queries.size() < limit_) out_.queries.push_back(std::move(query));
    }
  }

  /// The ids of this row's documents.
  std::vector<std::string> add_documents(const TaskRow& row, const json::Value& root, RowFindings& faults) {
    std::vector<std::string> ids;
    for (const json::Value& each : json::items(&root, {"documents"})) {
      std::string id = each.is_object() ? id_of(each) : std::string();
      if (id.empty()) id = fmt::format("{}.{}", row.line, ids.size());
      std::string text = each.is_object() ? title_and_text(each) : std::string(each.string());
      if (text.empty())
        faults.add(row, fmt::format("has a document without text, number {}", ids.size()),
                   R"(write "documents": [{"id": "doc1", "text": "…"}], or texts)");
      ids.push_back(id);
      if (!text.empty()) add_document(std::move(id), std::move(text));
    }
    return ids;
  }

  static void read_relevant(const TaskRow& row, const json::Value& root, const std::vector<std::string>& ids,
                            RetrievalQuery& query, RowFindings& faults) {
    const auto refuse = [&](std::string problem) {
      faults.add(row, std::move(problem), R"(write "relevant": ["doc1"], {"doc1": 2}, or [0] for its first document)");
    };
    const json::Value relevant = json::value_at(&root, {"relevant"});
    for (const json::Member& each : relevant.members()) {
      if (!each.value.is_number() || !std::isfinite(each.value.number()))
        refuse(fmt::format("has a gain for \"{}\" that is no number", each.key));
      else
        query.relevant[std::string(each.key)] = each.value.number();
    }
    for (const json::Value& each : relevant.items()) {
      if (each.is_string())
        query.relevant[std::string(each.string())] = 1;
      else if (each.is_integer() && each.integer() >= 0 && each.integer() < static_cast<std::int64_t>(ids.size()))
        query.relevant[ids[static_cast<std::size_t>(each.integer())]] = 1;
      else
        refuse("names a relevant document by what is neither an id nor the number of one of its documents");
    }
    if (!relevant.is_null() && !relevant.is_object() && !relevant.is_array())
      refuse("has \"relevant\" of another type");
  }

  const DataSource& data_;
  const std::size_t limit_;
  validate::Findings& findings_;
  RetrievalData out_;
  std::unordered_set<std::string> known_;
};

}  // namespace

RetrievalData read_retrieval_data(std::string_view task, bool is_only_task, const DataSource& data, std::size_t limit,
                                  validate::Findings& findings) {
  return DataReader(data, limit, findings).read(task, is_only_task);
}

std::vector<Passage> passages_of(const std::vector<Document>& documents, ChunkSizes sizes) {
  std::vector<Passage> out;
  for (std::uint32_t number = 0; number < documents.size(); ++number) {
    const Document& document = documents[number];
    const auto chunks = chunks_of(document.text, sizes);
    for (std::size_t i = 0; i < chunks.size(); ++i)
      out.push_back({.id = sizes.size == 0 ? document.id : fmt::format("{}#{}", document.id, i),
                     .document = number,
                     .text = std::string(chunks[i])});
  }
  return out;
}

}  // namespace stackgate::evaluator
