#include "services/guardrail/dialog/fiber.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"

namespace stackgate::guardrail {
namespace {

using colang::Instruction;
using colang::Op;

constexpr std::size_t most_frames = 64;
constexpr jinja::Limits expression_limits{
    .steps = 100'000, .output = 1U << 20U, .allocation = 16U << 20U, .calls = 16, .value_depth = 64};

std::string place_of(const Scope& scope, const colang::Place& place) {
  const auto& files = scope.program.files;
  return fmt::format("{}:{}", place.file < files.size() ? files[place.file] : "built-in rails", place.line);
}

/// nullptr: there is no such variable.
const jinja::Value* find(const Fiber& fiber, const SharedVariables& turn, const std::string& name) {
  for (const Variables* each : {&fiber.given, &fiber.own})
    if (const auto found = each->find(name); found != each->end()) return &found->second;
  return turn.find(name);
}

/// One step after the other until there is a Need.
class Stepper {
 public:
  Stepper(Fiber& fiber, const Scope& scope) : fiber_(fiber), scope_(scope) {}

  Need run() {
    while (!fiber_.frames.empty()) {
      if (scope_.steps_left == 0) return Broken{"the flows took too many steps"};
      --scope_.steps_left;
      Frame& frame = fiber_.frames.back();
      if (frame.at >= frame.flow->code.size()) {
        fiber_.frames.pop_back();
        continue;
      }
      at_ = &frame.flow->code[frame.at];
      if (auto need = step(frame)) return std::move(*need);
    }
    return Ended{};
  }

 private:
  /// Nothing: it goes on.
  std::optional<Need> step(Frame& frame) {
    switch (at_->op) {
      case Op::wait:
      case Op::wait_any:
        return Wait{};
      case Op::bot:
        ++frame.at;
        return say();
      case Op::bot_any:
        ++frame.at;
        return Say{};
      case Op::execute:
        ++frame.at;
        return act(at_->name);
      case Op::generate:
        ++frame.at;
        return generate();
      case Op::assign:
        ++frame.at;
        return assign();
      case Op::call:
        ++frame.at;
        return call();
      case Op::branch:
        return branch(frame);
      case Op::jump:
        frame.at = at_->target;
        return std::nullopt;
      case Op::create_event:
        ++frame.at;
        return create();
      case Op::stop:
        fiber_.frames.clear();
        return Stopped{};
      case Op::end:
        fiber_.frames.pop_back();
        return std::nullopt;
    }
    std::unreachable();
  }

  Need broken(std::string_view what) const { return Broken{fmt::format("{}: {}", place_of(scope_, at_->place), what)}; }

  /// Of all variables those that it names.
  jinja::Value read_by(const colang::Expression& expression) const {
    auto dict = std::make_shared<jinja::Dict>();
    for (const std::string& name : expression.reads)
      if (const jinja::Value* value = find(fiber_, scope_.turn, name)) dict->set(jinja::Value(name), *value);
    return jinja::Value(jinja::DictPtr(std::move(dict)));
  }

  std::expected<jinja::Value, Need> value_of(const colang::Expression& expression) const {
    if (expression.constant) return *expression.constant;
    if (expression.is_variable) {
      const jinja::Value* const found = find(fiber_, scope_.turn, expression.reads.front());
      return found == nullptr ? jinja::Value(jinja::None()) : *found;
    }
    auto value = colang::evaluate(expression, read_by(expression), expression_limits);
    if (!value) return std::unexpected(broken(fmt::format("{}: {}", expression.source, value.error().message)));
    return std::move(*value);
  }

  /// Arguments by position are "0", "1", ….
  std::expected<Variables, Need> arguments() const {
    Variables out;
    std::size_t position = 0;
    for (const colang::Argument& argument : at_->arguments) {
      auto value = TRY(value_of(argument.value));
      out.insert_or_assign(argument.name.empty() ? std::to_string(position++) : argument.name, std::move(value));
    }
    return out;
  }

  Need act(std::string_view action) const {
    auto parameters = arguments();
    if (!parameters) return std::move(parameters.error());
    return Act{std::string(action), std::move(*parameters), at_->variable};
  }

  Need generate() const {
    return Act{"generate_value",
               {{"name", jinja::Value(at_->variable)}, {"instructions", jinja::Value(at_->text)}},
               at_->variable};
  }

  Need create() const {
    auto values = arguments();
    if (!values) return std::move(values.error());
    return Create{{at_->name, std::move(*values)}};
  }

  Need say() const {
    const colang::BotMessage* message = scope_.program.find_bot_message(at_->name);
    if (at_->said) {
      auto text = at_->said->render_marked(visible(fiber_, scope_), expression_limits);
      if (!text) return broken(text.error().message);
      return Say{at_->name, std::move(text->text), true, at_->said_variable};
    }
    if (message == nullptr || message->texts.empty()) return Say{at_->name};
    auto text = text_of(*message, visible(fiber_, scope_), scope_.seed);
    if (!text) return broken(text.error());
    return Say{at_->name, std::move(*text), true};
  }

  std::optional<Need> assign() {
    auto value = value_of(*at_->expression);
    if (!value) return std::move(value.error());
    const bool raw = holds_text(*value) && std::ranges::any_of(at_->expression->reads, [this](const std::string& name) {
                       return is_raw(name);
                     });
    raw ? (void)fiber_.raw.insert(at_->variable) : (void)fiber_.raw.erase(at_->variable);
    fiber_.own.insert_or_assign(at_->variable, std::move(*value));
    return std::nullopt;
  }

  bool is_raw(const std::string& name) const {
    if (fiber_.given.contains(name)) return false;
    return fiber_.own.contains(name) ? fiber_.raw.contains(name) : scope_.raw.contains(name);
  }

  std::optional<Need> branch(Frame& frame) {
    const auto value = value_of(*at_->expression);
    if (!value) return value.error();
    frame.at = value->truth() ? frame.at + 1 : at_->target;
    return std::nullopt;
  }

  std::optional<Need> call() {
    if (fiber_.frames.size() >= most_frames) return broken("too many flows inside of each other");
    const colang::Flow* flow = nullptr;
    if (at_->expression) {
      const auto name = value_of(*at_->expression);
      if (!name) return name.error();
      FlowCall called = parse_flow_call(name->bytes());
      flow = scope_.program.find_flow(called.flow);
      if (flow == nullptr) return broken(fmt::format("there is no flow \"{}\"", called.flow));
      for (auto& [key, value] : called.arguments) fiber_.given.insert_or_assign(key, std::move(value));
    } else {
      flow = &scope_.program.flows[at_->target];
    }
    fiber_.frames.push_back({flow, 0});
    return std::nullopt;
  }

  Fiber& fiber_;
  const Scope& scope_;
  const Instruction* at_ = nullptr;
};

}  // namespace

bool holds_text(const jinja::Value& value) {
  return value.text() != nullptr || value.list() != nullptr || value.dict() != nullptr || value.object() != nullptr;
}

SharedVariables snapshot(const Fiber& fiber, const SharedVariables& turn) {
  SharedVariables out = turn;
  for (const Variables* more : {&fiber.own, &fiber.given})
    for (const auto& [name, value] : *more) out.set(name, value);
  return out;
}

jinja::Value visible(const Fiber& fiber, const Scope& scope) {
  auto dict = std::make_shared<jinja::Dict>();
  snapshot(fiber, scope.turn).each([&](const std::string& name, const jinja::Value& value) {
    dict->set(jinja::Value(name), value);
  });
  return jinja::Value(jinja::DictPtr(std::move(dict)));
}

Need advance(Fiber& fiber, const Scope& scope) { return Stepper(fiber, scope).run(); }

FlowCall parse_flow_call(std::string_view text) {
  FlowCall out;
  const std::size_t first = text.find(" $");
  out.flow = text.substr(0, first);
  while (!out.flow.empty() && out.flow.back() == ' ') out.flow.pop_back();
  for (std::size_t at = first; at != std::string_view::npos;) {
    const std::size_t next = text.find(" $", at + 1);
    const std::string_view part = text.substr(at + 2, next == std::string_view::npos ? next : next - at - 2);
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos) {
      std::string_view value = part.substr(equals + 1);
      while (value.ends_with(' ')) value.remove_suffix(1);
      if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
        value = value.substr(1, value.size() - 2);
      out.arguments.insert_or_assign(std::string(part.substr(0, equals)), jinja::Value(value));
    }
    at = next;
  }
  return out;
}

std::expected<std::string, std::string> text_of(const colang::BotMessage& message, const jinja::Value& variables,
                                                std::uint64_t seed) {
  auto text = message.texts[seed % message.texts.size()].render_marked(variables, expression_limits);
  if (!text) return std::unexpected(fmt::format("bot {}: {}", message.name, text.error().message));
  return std::move(text->text);
}

}  // namespace stackgate::guardrail
