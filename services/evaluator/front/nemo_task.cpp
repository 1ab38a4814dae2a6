#include "services/evaluator/front/nemo_task.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/evaluator/suite/rows/similarity.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator {
namespace nemo_task_detail {

constexpr std::string_view answer_template = "{{sample.output_text}}";
constexpr double unbounded = 1e9;  // a score without minimum and maximum
constexpr std::array<std::string_view, 3> settings = {"max_tokens", "temperature", "top_p"};

std::string without_blanks(std::string_view text) {
  std::string out(text);
  std::erase_if(out, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; });
  return out;
}

/// What stands between "{{" and "}}", where that is all.
std::string_view expression_of(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  text = text.substr(begin, end - begin + 1);
  if (text.size() < 4 || !text.starts_with("{{") || !text.ends_with("}}")) return {};
  text = text.substr(2, text.size() - 4);
  return text.find("}}") == std::string_view::npos && text.find("{{") == std::string_view::npos ? text
                                                                                                : std::string_view();
}

class Reader {
 public:
  Reader(std::string_view path, const json::Value& task, bool asks, validate::Findings& findings)
      : path_(path), task_(task), asks_(asks), findings_(findings) {}

  NemoTask read() {
    read_type();
    if (asks_) read_template(json::value_at(&task_, {"params", "template"}));
    for (const json::Member& each : json::members(&task_, {"metrics"})) read_metric(each);
    if (json::members(&task_, {"metrics"}).empty())
      wrong("metrics", "has none",
            R"(write, for example, {"same": {"type": "string-check", "params": {"check": […]}}})");
    choose_framework();
    return std::move(out_);
  }

 private:
  void wrong(std::string_view place, std::string problem, std::string fix) {
    findings_.push_back({.rule = "evaluation-job",
                         .path = place.empty() ? path_ : fmt::format("{}.{}", path_, place),
                         .problem = std::move(problem),
                         .fix = std::move(fix)});
  }

  void read_type() {
    const std::string_view type = json::text(&task_, {"type"});
    out_.chat = type != "completion";
    if (type == "data") {
      asks_ = false;
    } else if (type != "completion" && type != "chat-completion" && type != "default" && !type.empty()) {
      wrong("type", fmt::format("\"{}\" is none of this service", type), "write chat-completion, completion or data");
    } else if (!asks_ && type != "default" && !type.empty()) {
      wrong("type", "asks a model, and the target is none", R"(write "data", or a target of type "model")");
    }
  }

  void read_template(const json::Value& given) {
    if (given.is_string()) {
      out_.prompt = given.string();
      return;
    }
    out_.prompt = json::text(&given, {"prompt"});
    if (given.find("messages") != nullptr) out_.prompt = of_messages("params.template", given, false);
    for (const json::Member& each : given.members()) {
      if (std::ranges::find(settings, each.key) != settings.end())
        out_.settings.push_back(each);
      else if (each.key != "prompt" && each.key != "messages")
        wrong(fmt::format("params.template.{}", each.key), "is not sent by this service", "leave it out");
    }
    if (out_.prompt.empty())
      wrong("params.template", "says nothing that the model is asked",
            R"(write {"messages": [{"role": "user", "content": "{{item.question}}"}]})");
  }

  /// The text of one message of the user. A judge's system message goes before it.
  std::string of_messages(std::string_view place, const json::Value& given, bool is_judge) {
    std::string out;
    for (const json::Value& each : json::items(&given, {"messages"})) {
      const std::string_view role = json::text(&each, {"role"}), content = json::text(&each, {"content"});
      const bool is_user = role == "user" && (out.empty() || is_judge);
      if (content.empty() || (!is_user && !(is_judge && role == "system"))) {
        wrong(fmt::format("{}.messages", place), "is more than one message of the user",
              R"(write [{"role": "user", "content": "…"}], or mt-bench for conversations)");
        return "?";
      }
      out.append(out.empty() ? "" : "\n\n").append(content);
    }
    return out;
  }

  void read_metric(const json::Member& metric) {
    const std::string place = fmt::format("metrics.{}", metric.key);
    std::string type(json::text(&metric.value, {"type"}));
    if (type.empty()) type = metric.key;
    std::ranges::replace(type, '_', '-');
    const json::Value params = json::value_at(&metric.value, {"params"});
    if (type == "exact-match") type = "em";
    if (type == "string-check")
      read_check(place, metric.key, params);
    else if (type == "llm-judge")
      read_judge(place, params);
    else if (type == "tool-calling")
      calls_ = true;
    else if (similarity_named(type))
      read_similarity(place, type, params);
    else
      wrong(place + ".type", fmt::format("\"{}\" is no metric of this service", type),
            fmt::format("choose from string-check, llm-judge, tool-calling, {}", fmt::join(similarity_names, ", ")));
  }

  /// {"references": […]}, {"ground_truth"} or {"reference"}; and {"candidate"} or {"prediction"} for what is scored.
  void read_similarity(const std::string& place, const std::string& type, const json::Value& params) {
    out_.metrics.push_back(type);
    std::string reference;
    for (const std::string_view key : {"ground_truth", "reference"})
      if (reference.empty()) reference = json::text(&params, {key});
    const auto references = json::items(&params, {"references"});
    if (reference.empty() && references.size() == 1) reference = references[0].string();
    if (reference.empty() && references.size() > 1) reference = list_of(references);
    if (reference.empty() && references.size() > 1)
      wrong(place + ".params.references", "has several, and one of them is no single expression",
            R"(write each as one, such as "{{item.answer}}")");
    else if (reference.empty())
      wrong(place + ".params", "names nothing that is expected", R"(write "references": ["{{item.answer}}"])");
    else if (!out_.reference.empty() && out_.reference != reference)
      wrong(place + ".params", "expects something else than the metric before it", "write a job for each of them");
    else
      out_.reference = reference;
    std::string scored;
    for (const std::string_view key : {"candidate", "prediction"})
      if (scored.empty()) scored = json::text(&params, {key});
    if (!scored.empty() || !asks_) set_scored(place + ".params.candidate", scored);
  }

  /// One template whose value is a list of those of all; "" where that cannot be written.
  static std::string list_of(std::span<const json::Value> templates) {
    std::string out;
    for (const json::Value& each : templates) {
      const std::string_view inside = expression_of(each.string());
      if (inside.empty()) return {};
      out += fmt::format("{}({})", out.empty() ? "" : ", ", inside);
    }
    return fmt::format("{{{{ [{}] }}}}", out);
  }

  /// What is scored: the answer of the model that was asked, or a template of answers that stand in the rows.
  void set_scored(const std::string& place, const std::string& scored) {
    const bool is_answer = without_blanks(scored) == answer_template;
    if (asks_) {
      if (!is_answer)
        wrong(place, "is not what the model answers",
              fmt::format("write \"{}\", or a target of rows for answers that are there", answer_template));
    } else if (scored.empty() || is_answer) {
      wrong(place, "is what a model answers, and none is asked",
            R"(write the template of the answer that the rows have, such as "{{item.answer}}")");
    } else if (!out_.response.empty() && out_.response != scored) {
      wrong(place, "is another answer than the metric before it has", "write a job for each of them");
    } else {
      out_.response = scored;
    }
  }

  /// ["{{sample.output_text}}", "equals", "{{item.answer}}"]; either way round where that is the same. Of rows the left
  /// side is the answer.
  void read_check(const std::string& place, std::string_view name, const json::Value& params) {
    const auto check = json::items(&params, {"check"});
    const bool whole =
        check.size() == 3 && std::ranges::all_of(check, [](const json::Value& each) { return each.is_string(); });
    const auto operation = whole ? string_check_named(check[1].string()) : std::nullopt;
    if (!operation) {
      wrong(place + ".params.check", "is no comparison",
            R"(write ["{{sample.output_text}}", "equals", "{{item.answer}}"]: equals, not equals, contains, )"
            R"(not contains, startswith or endswith)");
      return;
    }
    std::string left(check[0].string()), right(check[2].string());
    const bool same_either_way = *operation == StringCheck::equals || *operation == StringCheck::not_equals;
    if (asks_ && same_either_way && without_blanks(right) == answer_template) std::swap(left, right);
    set_scored(place + ".params.check", left);
    constexpr std::array<std::string_view, 6> words = {"equals",       "not equals",  "contains",
                                                       "not contains", "starts with", "ends with"};
    out_.checks.push_back({.name = std::string(name),
                           .operation = std::string(words.at(static_cast<std::size_t>(*operation))),
                           .reference = right});
  }

  void read_judge(const std::string& place, const json::Value& params) {
    if (out_.judge) {
      wrong(place, "is a second judge", "write a job for each of them");
      return;
    }
    out_.judge = nemo_endpoint(json::value_at(&params, {"model"}));
    if (out_.judge->url.empty())
      wrong(place + ".params.model", "has no endpoint", R"(write {"api_endpoint": {"url", "model_id"}})");
    const json::Value given = json::value_at(&params, {"template"});
    out_.judge_prompt = given.is_string() ? std::string(given.string()) : std::string(json::text(&given, {"prompt"}));
    if (given.find("messages") != nullptr) out_.judge_prompt = of_messages(place + ".params.template", given, true);
    if (out_.judge_prompt.empty())
      wrong(place + ".params.template", "says nothing that the judge is asked",
            R"(write {"messages": [{"role": "user", "content": "… {{sample.output_text}}"}]})");
    if (!asks_ && out_.judge_prompt.find("sample.") != std::string::npos)
      wrong(place + ".params.template", "has what a model answers, and none is asked",
            "write the answer that the rows have, such as {{item.answer}}");
    for (const json::Member& each : json::members(&params, {"scores"})) read_score(place, each);
    if (out_.scores.empty())
      wrong(place + ".params.scores", "has none that is read from what the judge says",
            R"x(write {"rating": {"type": "int", "parser": {"type": "regex", "pattern": "RATING: (\\d+)"}}})x");
  }

  void read_score(const std::string& place, const json::Member& score) {
    const json::Value parser = json::value_at(&score.value, {"parser"});
    const std::string_view type = json::text(&parser, {"type"});
    JudgeScore out{.name = std::string(score.key), .least = -unbounded, .most = unbounded};
    if (type == "regex") {
      out.pattern = json::text(&parser, {"pattern"});
    } else if (type == "json") {
      std::string_view key = json::text(&parser, {"json_path"});
      key.remove_prefix(key.rfind('.') + 1);  // npos + 1 is 0
      const auto fits = [](char c) { return ascii::is_alphanumeric(c) || c == '_' || c == '-' || c == ' '; };
      if (!key.empty() && std::ranges::all_of(key, fits))
        out.pattern = fmt::format(R"re("{}"\s*:\s*"?(-?\d+(?:\.\d+)?))re", key);
    }
    if (out.pattern.empty())
      wrong(fmt::format("{}.params.scores.{}.parser", place, score.key), "is none of this service",
            R"x(write {"type": "regex", "pattern": "RATING: (\\d+)"})x");
    if (const json::Value* least = score.value.find("minimum"); least != nullptr && least->is_number())
      out.least = least->number();
    if (const json::Value* most = score.value.find("maximum"); most != nullptr && most->is_number())
      out.most = most->number();
    out_.scores.push_back(std::move(out));
  }

  void choose_framework() {
    if (out_.judge) out_.framework = Framework::llm_as_judge;
    // A judge of rows sees them itself; what is scored there is the row.
    if (out_.judge && !asks_ && out_.response.empty()) out_.response = "{{ item | tojson }}";
    if (out_.judge && !out_.metrics.empty())
      wrong("metrics", "has a judge and metrics of similarity", "write a job for each of them");
    if (!calls_) return;
    out_.framework = Framework::bfcl;
    if (out_.judge || !out_.metrics.empty() || !out_.checks.empty())
      wrong("metrics", "has calls of tools and other metrics", "write a job for each of them");
  }

  const std::string path_;
  const json::Value& task_;
  bool asks_, calls_ = false;
  validate::Findings& findings_;
  NemoTask out_{};
};

}  // namespace nemo_task_detail

ModelEndpoint nemo_endpoint(const json::Value& model) {
  const json::Value endpoint = json::value_at(&model, {"api_endpoint"});
  std::string_view url = json::text(&endpoint, {"url"});
  for (const std::string_view end : {"/chat/completions", "/completions", "/embeddings"})
    if (url.ends_with(end)) url.remove_suffix(end.size());
  return {.url = std::string(url),
          .model = std::string(json::text(&endpoint, {"model_id"})),
          .api_key = std::string(json::text(&endpoint, {"api_key"}))};
}

void write_nemo_endpoint(json::Writer& w, const ModelEndpoint& endpoint) {
  w.member("model_endpoint", endpoint.url);
  if (!endpoint.model.empty()) w.member("model", endpoint.model);
  if (!endpoint.api_key.empty()) w.member("api_key", endpoint.api_key);
}

NemoTask read_nemo_task(std::string_view path, const json::Value& task, bool asks, validate::Findings& findings) {
  return nemo_task_detail::Reader(path, task, asks, findings).read();
}

}  // namespace stackgate::evaluator
