// What a turn is made of inside: phases that wait for actions by functions that go on with the result.
#pragma once
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "services/guardrail/dialog/fiber.hpp"
#include "services/guardrail/dialog/flows.hpp"
#include "services/guardrail/dialog/turn.hpp"

namespace stackgate::guardrail {

struct Turn::Impl {
  using Then = std::move_only_function<void()>;
  using WithResult = std::move_only_function<void(ActionResult)>;

  /// How a flow came to rest.
  enum class Rest : std::uint8_t { ended, waits, stopped, broken };

  /// A flow under way: a rail, or one of the dialog.
  struct Running {
    Fiber fiber{};
    std::size_t log = 0;  // in out.rails
    std::vector<std::string> said{};
    std::optional<Event> exception{};
    std::string error{};
    std::move_only_function<void(Rest)> then{};
  };
  using RunningPtr = std::shared_ptr<Running>;

  /// A list of rails, some of them side by side.
  struct RailRun {
    RailType type = RailType::input;
    bool parallel = false;
    std::vector<const RailCall*> calls{};
    std::size_t next = 0;
    std::vector<RunningPtr> group{};
    std::size_t left = 0;  // of the group
    Then then{};           // all have passed
  };

  explicit Impl(TurnInput input);

  // phases.cpp
  void start();
  void check_result();
  void after_input();
  void generate();
  void check_answer();
  void happen(const Happening& event);
  void next_happening();
  void go_on(const Continuation& where, Then then);

  // steps.cpp
  void recognise();
  void ask_for_intent();
  void foretell();
  void recognised(const std::string& intent);
  void ask_next_step(const std::string& intent);
  void follow(std::size_t log);
  std::expected<Say, std::string> defined(const std::string& intent);

  // saying.cpp
  void say(std::size_t log, Say what, Then then);
  void retrieve(Then then);
  void compose(std::string intent, Then then);
  void check_output(std::string text, std::string calls, Then then);
  void check_texts(std::string text, std::string calls, Then then);
  void utter(std::string text);

  // rail_runs.cpp
  void run_rails(RailType type, const RailList& rails, const RailChoice& choice, Then then);
  void next_group(const std::shared_ptr<RailRun>& run);
  void rail_rested(const std::shared_ptr<RailRun>& run, const RunningPtr& rail, Rest rest);
  void block(const RunningPtr& rail, Rest rest);
  void hide(std::string text);
  void hide_answer();
  RunningPtr second_alteration(const RailRun& run) const;
  void merge(Fiber& fiber);
  void hide_before(RailType type);
  void conceal(RailType type);
  void judge(RailType type);
  void judged_all();
  std::string refusal() const;

  // impl.cpp
  RunningPtr open(RailType type, std::string name, const colang::Flow& flow, std::uint32_t at);
  void drive(const RunningPtr& running);
  bool perform(const RunningPtr& running, Need need);
  void create(const RunningPtr& running, Event event);
  void ask(std::size_t log, std::string action, Variables parameters, const Fiber* fiber, WithResult then);
  std::size_t log_rail(RailType type, std::string name);
  void decide(std::size_t log, std::string decision) { out.rails[log].decisions.push_back(std::move(decision)); }
  void set(std::string_view name, jinja::Value value) { turn.set(name, std::move(value)); }
  std::string text_of(std::string_view variable) const;
  Scope scope() { return {program, turn, in.seed, steps_left, raw}; }
  void fail(std::string error);
  void finish();
  std::vector<ActionRequest> outgoing();

  TurnInput in;
  const colang::Program& program;
  TurnResult out{};
  SharedVariables turn{};  // what all flows see
  std::vector<WaitingFlow> waiting{};
  std::vector<std::string> planned{};                 // DialogState::planned
  std::string foretold_intent{}, foretold_message{};  // of the bot, by a single call; "": none
  std::vector<Happening> happened{};                  // not yet looked at
  std::vector<std::string> said{};                    // to the user
  std::string history{};                              // Colang's, of this turn
  std::vector<std::string> judged{};                  // of the model's answer, by output rails
  Names raw{};                                        // variables that hold what rails have yet to pass
  std::uint32_t steps_left, actions_left;
  std::uint64_t next_id = 1;
  std::unordered_map<std::uint64_t, WithResult> under_way{};
  std::vector<ActionRequest> requests{};
  std::shared_ptr<RailRun> rail_run{};  // the last one; rails hold theirs weakly, as it holds them
  Moment now{};
  bool ended = false;
};

}  // namespace stackgate::guardrail
