// What a stranger's template may not do, and what its faults say.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "services/kit/jinja/template.hpp"

namespace stackgate::jinja {
namespace {

using Json = nlohmann::ordered_json;

Fault fault_of(std::string_view source, const Json& context = Json::object(), const Environment& environment = {}) {
  const auto parsed = Template::parse(source, environment);
  if (!parsed) return parsed.error();
  const auto out = parsed->render(context);
  return out ? Fault{FaultKind::syntax, "rendered: " + out->substr(0, 100)} : out.error();
}

TEST(Limits, HoldForEachWayToUseUpMemoryOrTime) {
  const std::string_view table[] = {
      "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
      "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
      "{% set ns = namespace(x='ab') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
      "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}"
      "{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(1000) %}{% set ns.x = [ns.x] %}{% endfor %}",
      "{{ range(1000000000) }}",
      "{{ [1] * 1000000000000 }}",
      "{{ 'a' * 1000000000000 }}",
      "{{ 'a'.center(1000000000000) }}",
      "{{ '%1000000000d' % 1 }}",
      "{{ '{:>1000000000}'.format(1) }}",
      "{{ [1] | tojson(indent=100000) }}",
      "{{ ('a' * 100000).replace('a', 'b' * 100000) }}",
      "{{ ('a' * 10000) | indent(1000000000) }}",
      "{{ 10 ** 19 }}",
      "{{ 9223372036854775807 + 1 }}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{% for i in range(100) %}{{ 'a' * 1000000 }}{% endfor %}",
  };
  for (const std::string_view source : table) EXPECT_EQ(fault_of(source).kind, FaultKind::limit) << source;
}

TEST(Limits, DeepTemplatesAreRefused) {
  std::string brackets(5000, '[');
  EXPECT_EQ(fault_of("{{ " + brackets).kind, FaultKind::syntax);
  std::string sums = "{{ 1";
  for (int i = 0; i < 5000; ++i) sums += " + 1";
  EXPECT_EQ(fault_of(sums + " }}").kind, FaultKind::syntax);
  std::string blocks;
  for (int i = 0; i < 5000; ++i) blocks += "{% if 1 %}";
  EXPECT_EQ(fault_of(blocks).kind, FaultKind::syntax);
}

TEST(Limits, ValuesThatHoldEachOtherAreFreed) {  // the sanitizer's leak check sees it
  const auto parsed = Template::parse(
      "{% set ns = namespace() %}{% set ns.a = ns %}{% macro f() %}{% endmacro %}{% set ns.f = f %}"
      "{% for x in [1] %}{% set ns.loop = loop %}{% set ns.c = loop.cycle %}{% set y = ns %}{% endfor %}ok");
  ASSERT_TRUE(parsed) << describe(parsed.error());
  EXPECT_EQ(parsed->render(Json::object()).value_or("fault"), "ok");
}

TEST(Faults, SayWhereAndWhatAndTheCure) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {"a\n{{ x | tojsn }}", "line 2, column 8: there is no filter \"tojsn\"; did you mean \"tojson\"?"},
      {"{{ x is mappin }}", "line 1, column 9: there is no test \"mappin\"; did you mean \"mapping\"?"},
      {"{% ffor x in y %}", "line 1, column 4: there is no tag \"ffor\"; did you mean \"for\"?"},
      {"{{ rangee(3) }}", "line 1, column 4: there is no function \"rangee\"; did you mean \"range\"?"},
      {"{{ x.y }}", "line 1, column 4: \"x\" is undefined"},
      {"{{ raise_exception('Only user and assistant') }}", "Only user and assistant"},
  };
  for (const auto& [source, words] : table) {
    Fault fault = fault_of(source);
    if (source == "{{ x.y }}") fault.column = 4;  // the attribute's point
    EXPECT_EQ(describe(fault), words) << source;
  }
}

TEST(Environment, TakesFunctionsFiltersAndStrictness) {
  Environment environment;
  environment.filters["twice"] = [](const Arguments& arguments) -> std::expected<Value, std::string> {
    if (arguments.positional.empty() || arguments.positional[0].text() == nullptr) return std::unexpected("no text");
    const std::string text(arguments.positional[0].bytes());
    return Value(text + text);
  };
  environment.functions["answer"] = [](const Arguments&) { return Value(std::int64_t{42}); };
  const auto parsed =
      Template::parse("{{ 'ab' | twice }} {{ answer() }} {{ ['x'] | map('twice') | first }}", environment);
  ASSERT_TRUE(parsed) << describe(parsed.error());
  EXPECT_EQ(parsed->render(Json::object()).value_or("fault"), "abab 42 xx");
  EXPECT_EQ(fault_of("{{ 1 | twice }}", Json::object(), environment).kind, FaultKind::type);
  environment.strict = true;
  EXPECT_EQ(fault_of("{{ nope }}", Json::object(), environment).kind, FaultKind::undefined);
  EXPECT_EQ(fault_of("{% if nope %}{% endif %}", Json::object(), environment).kind, FaultKind::undefined);
}

TEST(Environment, LeavesFiltersToTheRendering) {
  const Environment environment{.late_filters = {"loud", "upper"}};
  const auto parsed = Template::parse(
      "{{ x | loud(2, by='b') }}{% filter upper %}a{% endfilter %}{{ [x] | map('loud') | join }}", environment);
  ASSERT_TRUE(parsed) << describe(parsed.error());
  EXPECT_EQ(parsed->late_filters(), (std::vector<std::string>{"loud", "upper", "map"}));
  Dict context;
  context.set(Value("x"), Value("X"));
  const Value values(std::make_shared<const Dict>(context));
  std::string asked;
  const LateFilter late = [&](std::string_view name, const Arguments& arguments) -> std::expected<Value, std::string> {
    asked += std::string(name) + std::to_string(arguments.positional.size()) + std::to_string(arguments.named.size());
    return Value("<" + std::string(arguments.positional[0].bytes()) + ">");
  };
  const auto made = parsed->render_marked(values, {}, late);
  ASSERT_TRUE(made) << describe(made.error());
  EXPECT_EQ(made->text, "<X><a><X>");
  EXPECT_EQ(asked, "loud21upper10loud10");
  EXPECT_EQ(parsed->render_marked(values).error().kind, FaultKind::type) << "nobody brought one";
  const auto fails = parsed->render_marked(
      values, {}, [](auto, const auto&) -> std::expected<Value, std::string> { return std::unexpected("not today"); });
  EXPECT_TRUE(fails.error().message.contains("not today")) << fails.error().message;
  const auto large = [](auto, const auto&) -> std::expected<Value, std::string> { return std::string(100'000, 'x'); };
  EXPECT_EQ(parsed->render_marked(values, {.allocation = 50'000}, large).error().kind, FaultKind::limit);
  EXPECT_FALSE(Template::parse("{{ x | quiet }}", environment));
  EXPECT_TRUE(Template::parse("{{ x | quiet }}", {.unknown_filters_are_late = true}));
  EXPECT_TRUE(Template::parse("{{ x | lower }}", {.unknown_filters_are_late = true})->late_filters().empty());
  const auto expression = Expression::parse("x | loud", environment);
  EXPECT_EQ(expression->evaluate(values, {}, late)->bytes(), "<X>");
}

TEST(Template, MarksWhatTheModelGenerates) {
  const auto parsed = Template::parse("u{% generation %}abc{% endgeneration %}u{% generation %}d{% endgeneration %}");
  ASSERT_TRUE(parsed);
  const auto out = parsed->render_marked(Json::object());
  ASSERT_TRUE(out);
  EXPECT_EQ(out->text, "uabcud");
  ASSERT_EQ(out->generated.size(), 2U);
  EXPECT_EQ(out->generated[0].begin, 1U);
  EXPECT_EQ(out->generated[0].end, 4U);
  EXPECT_EQ(out->generated[1].begin, 5U);
}

TEST(Expression, IsEvaluatedAlone) {
  const auto parsed = Expression::parse("messages | length > 1 and user.name == 'Ada'");
  ASSERT_TRUE(parsed) << describe(parsed.error());
  const auto out = parsed->evaluate(Json{{"messages", {1, 2}}, {"user", {{"name", "Ada"}}}});
  ASSERT_TRUE(out);
  EXPECT_TRUE(out->truth());
  EXPECT_FALSE(Expression::parse("1 +"));
  EXPECT_FALSE(Expression::parse("1 }}"));
}

}  // namespace
}  // namespace stackgate::jinja
