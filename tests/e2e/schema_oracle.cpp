// Holds the compiled schema checker against a real API server: dry-run creates of generated objects, valid and mutated,
// of all eight kinds; the verdicts and the places of the faults must be the same.
//   schema_oracle URL NAMESPACE [OBJECTS-PER-KIND [FIRST-SEED]]
// URL is that of `kubectl proxy`. A current server is asked to refuse unknown fields; it also evaluates the CEL rules
// of the definitions, and each that it finds broken the rule book must find broken. The 1.20 server drops unknown
// fields and knows no CEL. Which one answers is tried out. Prints "ok …" and "not ok …" lines.
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <curl/curl.h>
#include <fmt/format.h>

#include "crds/embedded.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/schema/check.hpp"
#include "tests/support/object_generator.hpp"
#include "validators/rulebook.hpp"

namespace {

using namespace stackgate;
using stackgate::testing::Dice;
using stackgate::testing::ObjectGenerator;
using stackgate::testing::Tree;
using validate::schema::Fault;
using validate::schema::SchemaFault;

struct Verdict {
  long status = 0;
  std::string message;
  std::set<std::string> fields;                             // of the causes
  std::vector<std::pair<std::string, std::string>> causes;  // field, message
  bool accepted() const { return status == 201; }
};

// "labels[x/y]" and "labels.x/y" are the same place. Positions in lists are left out: the 1.20 server leaves them out
// too.
std::string common_form(std::string_view path) {
  std::string out;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find_first_of(".[]", at), path.size());
    const std::string_view part = path.substr(at, end - at);
    if (!part.empty() && !std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; })) {
      if (!out.empty()) out += '.';
      out += part;
    }
    at = end + 1;
  }
  return out;
}

class Server {
 public:
  explicit Server(std::string url) : url_(std::move(url)), curl_(curl_easy_init(), curl_easy_cleanup) {
    headers_.reset(curl_slist_append(nullptr, "Content-Type: application/json"));
  }

  /// Whether it refuses unknown fields when it is asked to.
  bool is_strict(std::string_view ns) {
    const crds::KindInfo& kind = crds::kinds.front();
    const Tree probe{{"apiVersion", crds::api_group_version},
                     {"kind", kind.name},
                     {"metadata", {{"name", "probe"}}},
                     {"spec", {{"noSuchField", 1}}}};
    return create(ns, kind.plural, probe.dump()).message.find("unknown field") != std::string::npos;
  }

  Verdict create(std::string_view ns, std::string_view plural, const std::string& body) {
    const std::string url = fmt::format("{}/apis/{}/namespaces/{}/{}?dryRun=All&fieldValidation=Strict", url_,
                                        crds::api_group_version, ns, plural);
    std::string answer;
    CURL* curl = curl_.get();
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers_.get());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 20L);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    curl_easy_setopt(
        curl, CURLOPT_WRITEFUNCTION, +[](char* data, std::size_t size, std::size_t count, void* to) {
          static_cast<std::string*>(to)->append(data, size * count);
          return size * count;
        });
    Verdict out;
    if (const CURLcode code = curl_easy_perform(curl); code != CURLE_OK) {
      out.message = curl_easy_strerror(code);
      return out;
    }
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &out.status);
    if (out.accepted()) return out;
    const auto tree = nlohmann::json::parse(answer, nullptr, false);
    if (!tree.is_object()) {
      out.message = answer.substr(0, 300);
      return out;
    }
    out.message = tree.value("message", "");
    if (tree.contains("details") && tree["details"].contains("causes"))
      for (const auto& cause : tree["details"]["causes"]) {
        std::string field = cause.value("field", "");
        if (field == "<nil>") field.clear();
        // "Checked value must be of type integer with format int32 in spec.replicas"
        constexpr std::string_view width = "with format int32 in ";
        const std::string words = cause.value("message", "");
        if (const std::size_t at = words.find(width); field.empty() && at != std::string::npos)
          field = words.substr(at + width.size());
        out.fields.insert(common_form(field));
        out.causes.emplace_back(std::move(field), cause.value("message", ""));
      }
    return out;
  }

 private:
  std::string url_;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl_;
  struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };
  std::unique_ptr<curl_slist, FreeList> headers_;
};

bool is_at_or_inside(std::string_view path, std::string_view of) {
  return of.empty() || path == of || (path.starts_with(of) && path[of.size()] == '.');
}
bool are_near(std::string_view a, std::string_view b) { return is_at_or_inside(a, b) || is_at_or_inside(b, a); }

// Our messages of CEL rules end with the id of the rule that says the same at the gate: "… [url-user-info]". They are
// evaluated when the schema has nothing to say. Empty when the message is not of a CEL rule.
std::string cel_rule_of(const std::string& message) {
  const std::size_t at = message.rfind('[');
  if (!message.ends_with(']') || at == std::string::npos) return {};
  const std::string id = message.substr(at + 1, message.size() - at - 2);
  return validate::rule_page(id) != nullptr ? id : "";
}
bool is_about_cel(const std::string& message) {
  return !cel_rule_of(message).empty() || message.find("validation rules were not checked") != std::string::npos;
}

// Faults that the 1.20 server does not look for, though the child that is made from the resource would be refused for
// them.
bool is_ours_alone(const SchemaFault& fault) {
  return fault.fault == Fault::format && fault.problem.find("32 bits") != std::string::npos;
}

// The 1.20 server takes an empty string for null when it was built with Go 1.17 or later, as Debian's source is here:
// its library compares the inside of two reflect.Values, which such a compiler lets coincide. Released binaries do not.
bool is_empty_string_taken_for_null(const std::string& message) {
  return message.ends_with("must be of type string: \"null\"");
}

struct Tally {
  std::size_t empty_strings = 0;
  std::size_t asked = 0, accepted = 0, refused = 0, same_fields = 0, ours_alone = 0, refused_by_cel = 0,
              bad_request = 0;
  std::set<std::string> cel_rules;  // those that the server found broken
  std::size_t disagreements = 0;
};

class Oracle {
 public:
  Oracle(Server& server, std::string ns, bool strict) : server_(server), ns_(std::move(ns)), strict_(strict) {}

  void ask(const crds::KindInfo& kind, const validate::schema::Schema& schema, const Tree& object,
           const std::string& how) {
    const std::string text = object.dump();
    json::Document document;
    const auto value = json::parse(text, document);
    if (!value) return;
    auto ours =
        validate::schema::check(schema.root(), *value, nullptr, {.unknown_fields = strict_, .max_faults = 1000});
    const std::size_t alone = strict_ ? 0 : std::erase_if(ours, is_ours_alone);
    Verdict theirs = server_.create(ns_, kind.plural, text);
    ++tally.asked;
    const auto disagree = [&](const std::string& what) {
      if (++tally.disagreements > 20) return;
      fmt::print("not ok {} ({}): {}\n", kind.name, how, what);
      fmt::print("  object {}\n  server {} {}\n", text.substr(0, 1500), theirs.status, theirs.message.substr(0, 800));
      for (const auto& [field, message] : theirs.causes) fmt::print("  server: {} | {}\n", field, message);
      for (const SchemaFault& each : ours) fmt::print("  ours: {} | {}\n", each.path, each.problem);
    };
    if (theirs.status != 201 && theirs.status != 422 && theirs.status != 400)
      return disagree("the server gave no verdict");
    if (theirs.status == 422 && strict_)
      if (const auto unforeseen = unforeseen_cel_rules(theirs, kind, *value); !unforeseen.empty())
        return disagree("the rule book does not find what CEL finds: " + unforeseen);
    if (theirs.status == 422) leave_out_known(theirs, ours);
    if (alone > 0 && ours.empty() && theirs.accepted()) {
      ++tally.ours_alone;
      return;
    }
    if (theirs.accepted() != ours.empty())
      return disagree(theirs.accepted() ? "only ours refuses it" : "only the server refuses it");
    if (theirs.accepted()) {
      ++tally.accepted;
      return;
    }
    ++tally.refused;
    if (theirs.fields.empty()) {  // strict decoding and malformed metadata: the message alone says where
      ++tally.bad_request;
      return;
    }
    std::set<std::string> our_fields;
    for (const SchemaFault& each : ours) our_fields.insert(common_form(each.path));
    for (const std::string& field : theirs.fields)
      if (std::ranges::none_of(our_fields, [&](const std::string& mine) { return are_near(mine, field); }))
        return disagree("only the server complains about " + field);
    for (const std::string& field : our_fields)
      if (std::ranges::none_of(theirs.fields, [&](const std::string& other) { return are_near(other, field); }))
        return disagree("only ours complains about " + field);
    if (our_fields == theirs.fields) ++tally.same_fields;
  }

  Tally tally;

 private:
  /// The CEL rules that the server found broken and our rule book does not foresee, neither by that rule nor by another
  /// error in the same place, nor by a value inside that the schema does not take.
  std::string unforeseen_cel_rules(const Verdict& theirs, const crds::KindInfo& kind, const json::Value& object) {
    auto errors = validate::review({.kind = kind.kind, .object = &object, .ns = ns_}, nullptr);
    std::erase_if(errors, [](const auto& each) { return each.severity != validate::Severity::error; });
    std::string out;
    for (const auto& [field, message] : theirs.causes) {
      const std::string rule = cel_rule_of(message);
      if (rule.empty()) continue;
      tally.cel_rules.insert(rule);
      const std::string place = common_form(field);
      const bool foreseen = std::ranges::any_of(errors, [&](const validate::Finding& each) {
        const std::string mine = common_form(each.path);
        return each.rule == rule || mine == place || (each.rule.starts_with("schema-") && is_at_or_inside(mine, place));
      });
      if (!foreseen) out += (out.empty() ? "" : ", ") + rule;
    }
    return out;
  }

  // Causes that are no verdict of the schema.
  void leave_out_known(Verdict& theirs, const std::vector<SchemaFault>& ours) {
    const auto near_ours = [&](const std::string& field) {
      return std::ranges::any_of(
          ours, [&](const SchemaFault& each) { return are_near(common_form(each.path), common_form(field)); });
    };
    const auto dropped = std::erase_if(theirs.causes, [&](const auto& cause) {
      return strict_ ? is_about_cel(cause.second)
                     : is_empty_string_taken_for_null(cause.second) && !near_ours(cause.first);
    });
    if (dropped == 0) return;
    ++(strict_ ? tally.refused_by_cel : tally.empty_strings);
    theirs.fields.clear();
    for (const auto& cause : theirs.causes) theirs.fields.insert(common_form(cause.first));
    if (theirs.causes.empty()) theirs.status = 201;
  }

  Server& server_;
  std::string ns_;
  bool strict_;
};

const json::Value* schema_in(const json::Value& definition) {
  return definition.find("spec")->find("versions")->items()[0].find("schema")->find("openAPIV3Schema");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: schema_oracle URL NAMESPACE [OBJECTS-PER-KIND [FIRST-SEED]]\n");
    return 2;
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::size_t per_kind = argc > 3 ? std::stoul(argv[3]) : 40;
  const std::size_t first_seed = argc > 4 ? std::stoul(argv[4]) : 1;
  Server server(argv[1]);
  const bool strict = server.is_strict(argv[2]);
  fmt::print("# the server {}\n", strict ? "refuses unknown fields and evaluates CEL rules" : "drops unknown fields");
  const auto began = std::chrono::steady_clock::now();
  std::size_t disagreements = 0, asked = 0;
  for (const crds::KindInfo& kind : crds::kinds) {
    json::Document definition;
    const auto parsed = json::parse(crds::definition_json(kind.kind), definition);
    const auto schema = validate::schema::Schema::compile(*schema_in(*parsed));
    Oracle oracle(server, argv[2], strict);
    for (std::size_t seed = first_seed; seed < first_seed + per_kind; ++seed) {
      Dice dice(seed);
      ObjectGenerator generator(dice);
      const Tree object = generator.resource(schema->root(), crds::api_group_version, kind.name);
      oracle.ask(kind, *schema, object, fmt::format("seed {}", seed));
      for (int round = 0; round < 9; ++round) {
        Tree changed = object;
        const std::string how = stackgate::testing::mutate(changed, dice);
        oracle.ask(kind, *schema, changed, fmt::format("seed {}, {}", seed, how));
      }
    }
    // What stands outside the spec.
    const Tree plain = [&] {
      Dice dice(first_seed);
      ObjectGenerator generator(dice);
      return generator.resource(schema->root(), crds::api_group_version, kind.name);
    }();
    const std::map<std::string, Tree> metadata{{"labels", Tree{{"a", 1}}},
                                               {"annotations", Tree::array()},
                                               {"finalizers", "x"},
                                               {"creationTimestamp", "yesterday"},
                                               {"ownerReferences", Tree::array({Tree::object()})},
                                               {"labels ", nullptr},
                                               {"deletionGracePeriodSeconds", "1"},
                                               {"generateName", 7}};
    for (const auto& [key, value] : metadata) {
      Tree changed = plain;
      if (value.is_null())
        changed["metadata"]["labels"] = nullptr;
      else
        changed["metadata"][key] = value;
      oracle.ask(kind, *schema, changed, "metadata." + key);
    }
    const Tally& tally = oracle.tally;
    disagreements += tally.disagreements;
    asked += tally.asked;
    fmt::print("{} {}: {} objects, {} accepted and {} refused by both; faults at the same places in {} of {}{}{}{}\n",
               tally.disagreements == 0 ? "ok" : "not ok", kind.name, tally.asked, tally.accepted, tally.refused,
               tally.same_fields, tally.refused - tally.bad_request,
               tally.ours_alone > 0 ? fmt::format("; {} beyond 32 bits are refused by us alone", tally.ours_alone) : "",
               tally.empty_strings > 0 ? fmt::format("; in {} the server took \"\" for null", tally.empty_strings) : "",
               tally.refused_by_cel > 0
                   ? fmt::format("; {} also broke CEL rules, {} different ones, which the rule book found too",
                                 tally.refused_by_cel, tally.cel_rules.size())
                   : "");
    // An oracle that only ever accepts or refuses proves nothing.
    if (tally.accepted < per_kind / 4 || tally.refused < per_kind)
      fmt::print("not ok {}: the generated objects are one-sided\n", kind.name), ++disagreements;
  }
  fmt::print("# {} objects in {:.1f} s\n", asked,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  return disagreements == 0 ? 0 : 1;
}
