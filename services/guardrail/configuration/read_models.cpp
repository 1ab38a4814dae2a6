#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "services/guardrail/configuration/parts.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {
namespace {

// Whose endpoints speak OpenAI's protocol.
constexpr std::array<std::string_view, 26> openai_engines = {"openai",      "nim",          "nvidia_ai_endpoints",
                                                             "azure",       "azure_openai", "vllm",
                                                             "vllm_openai", "ollama",       "deepseek",
                                                             "together",    "fireworks",    "groq",
                                                             "mistral",     "mistralai",    "openrouter",
                                                             "perplexity",  "xai",          "sambanova",
                                                             "cerebras",    "databricks",   "litellm",
                                                             "lmstudio",    "tgi",          "llamacpp",
                                                             "sglang",      "stackgate"};
// That run inside of Python, as vectors.
constexpr std::array<std::string_view, 3> python_vectors = {"FastEmbed", "SentenceTransformers", "fastembed"};

std::vector<std::string_view> known_engines() { return {openai_engines.begin(), openai_engines.end()}; }

bool is_variable(std::string_view name) {
  return !name.empty() && !ascii::is_digit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return ascii::is_alphanumeric(c) || c == '_'; });
}

bool is_address(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (text.starts_with(scheme) && text.size() > scheme.size()) return true;
  return false;
}

class ModelReader {
 public:
  ModelReader(const Tree& tree, std::string path, Report& report)
      : tree_(tree), path_(std::move(path)), report_(report) {}

  Model read() {
    Model out{.type = text_of(&tree_, "type"), .engine = text_of(&tree_, "engine"), .model = text_of(&tree_, "model")};
    parameters(out);
    engine(out);
    key(out);
    mode(out);
    return out;
  }

 private:
  const Tree& place(std::string_view key) const {
    const Tree* found = tree_.at(key);
    return found == nullptr ? tree_ : *found;
  }
  void error(std::string_view key, std::string problem, std::string fix) {
    report_.error(rule::model, place(key).origin, concat({path_, ".", key}), std::move(problem), std::move(fix));
  }
  void warning(std::string_view key, std::string problem, std::string fix) {
    report_.warning(rule::model, place(key).origin, concat({path_, ".", key}), std::move(problem), std::move(fix));
  }

  /// Addresses and names that engines write among the parameters; the rest goes to the endpoint as it is.
  void parameters(Model& out) {
    const Tree* given = tree_.find("parameters");
    if (given == nullptr || !given->is(json::Type::object)) return;
    std::string rest;
    json::Writer w(rest);
    w.object([&] {
      for (const Tree& each : given->members) {
        if (each.key == "base_url" || each.key == "openai_api_base" || each.key == "api_base") {
          address(out, each);
        } else if (each.key == "model" || each.key == "model_name") {
          if (!out.model.empty())
            error(concat({"parameters.", each.key}), "names the model a second time", "remove it, or `model` above");
          else
            out.model = each.text;
        } else if (!each.is_null()) {
          w.key(each.key);
          write_json(w, each);
        }
      }
    });
    out.parameters = std::move(rest);
  }

  void address(Model& out, const Tree& tree) {
    const std::string key = concat({"parameters.", tree.key});
    if (!tree.is(json::Type::string) || !is_address(tree.text))
      return error(key, "is no http address", "write one such as http://nim:8000/v1");
    out.base_url = tree.text;
    while (out.base_url.ends_with('/')) out.base_url.pop_back();
  }

  void engine(Model& out) {
    if (out.engine.empty()) return;
    const bool is_vectors = out.type == "embeddings";
    if (is_vectors && std::ranges::find(python_vectors, out.engine) != python_vectors.end()) {
      out.local = true;
      return warning(
          "engine", concat({in_quotes(out.engine), " runs inside of Python; vectors of n-grams are made here instead"}),
          "name an OpenAI-compatible endpoint with embeddings to have better ones");
    }
    const std::string lower = ascii::to_lower(out.engine);
    if (std::ranges::find(openai_engines, lower) != openai_engines.end()) return;
    const std::string problem =
        concat({in_quotes(out.engine), " is not known as an engine whose endpoint speaks OpenAI's protocol",
                did_you_mean(lower, known_engines())});
    if (out.base_url.empty())
      error("engine", problem,
            "put an OpenAI-compatible endpoint in front of it, write its address as parameters.base_url");
    else
      warning("engine", problem, "the endpoint at parameters.base_url is asked as if it did");
  }

  void key(Model& out) {
    out.api_key_env = text_of(&tree_, "api_key_env_var");
    if (out.api_key_env.empty() || is_variable(out.api_key_env)) return;
    // Not quoted: it may be the key itself.
    error("api_key_env_var", "is no name of an environment variable",
          out.api_key_env.starts_with('$')
              ? "write the name without the $"
              : "write the name of the variable that holds the key, not the key: OPENAI_API_KEY");
  }

  void mode(Model& out) {
    const std::string mode = text_of(&tree_, "mode", "chat");
    out.completion = mode == "text";
    if (mode != "chat" && mode != "text")
      error("mode", concat({"must be chat or text, and is ", in_quotes(mode)}), "write chat");
  }

  const Tree& tree_;
  std::string path_;
  Report& report_;
};

/// `embedding_search_provider` of core or of knowledge_base: one model makes all vectors, that of `models` first.
void read_search_provider(const Tree& root, std::string_view where, std::vector<Model>& out, Report& report) {
  const std::string path = concat({where, ".embedding_search_provider"});
  const Tree* provider = root.at(path);
  if (provider == nullptr) return;
  if (const std::string name = text_of(provider, "name", "default"); name != "default")
    report.warning(rule::unsupported, provider->find("name")->origin, path + ".name",
                   concat({in_quotes(name), " is code of Python and is not run"}), "this service searches by itself");
  const Tree* parameters = provider->find("parameters");
  const Tree* engine = parameters == nullptr ? nullptr : parameters->find("embedding_engine");
  if (engine == nullptr || !engine->is(json::Type::string)) return;
  if (std::ranges::find(out, "embeddings", &Model::type) != out.end())
    return report.warning(rule::unsupported, engine->origin, path + ".parameters.embedding_engine",
                          "has no effect: another model makes the vectors", "name one, in models, of type embeddings");
  Model model{.type = "embeddings", .engine = engine->text, .model = text_of(parameters, "embedding_model")};
  if (const Tree* address = parameters->find("base_url"); address != nullptr && is_address(address->text))
    model.base_url = address->text;
  const std::string lower = ascii::to_lower(model.engine);
  model.local = model.base_url.empty() && std::ranges::find(openai_engines, lower) == openai_engines.end();
  if (model.local)
    report.warning(rule::model, engine->origin, path + ".parameters.embedding_engine",
                   concat({in_quotes(model.engine),
                           " is no engine whose endpoint speaks OpenAI's protocol; vectors of "
                           "n-grams are made here instead"}),
                   "name an OpenAI-compatible endpoint with embeddings to have better ones");
  out.push_back(std::move(model));
}

}  // namespace

std::vector<Model> read_models(const Tree& root, Report& report) {
  std::vector<Model> out;
  std::map<std::string, Origin, std::less<>> types;
  const Tree* models = root.find("models");
  for (std::size_t i = 0; models != nullptr && i < models->items.size(); ++i) {
    const Tree& tree = models->items[i];
    if (!tree.is(json::Type::object)) continue;
    const std::string path = fmt::format("models[{}]", i);
    Model model = ModelReader(tree, path, report).read();
    if (model.type.empty()) continue;
    const auto [found, is_new] = types.emplace(model.type, tree.origin);
    if (!is_new) {
      report.error(rule::model, tree.origin, path + ".type",
                   concat({in_quotes(model.type), " was given to a model before, at ", report.where(found->second)}),
                   "give each model a type of its own");
      continue;
    }
    out.push_back(std::move(model));
  }
  for (const std::string_view where : {"core", "knowledge_base"}) read_search_provider(root, where, out, report);
  return out;
}

const Model* Configuration::find_model(std::string_view type) const {
  const auto found = std::ranges::find(models, type, &Model::type);
  return found == models.end() ? nullptr : &*found;
}

}  // namespace stackgate::guardrail
