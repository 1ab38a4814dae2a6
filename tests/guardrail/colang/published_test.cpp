// What published configurations look like: each of these forms occurs in NeMo Guardrails' examples or library. They
// compile without an error.
#include <gtest/gtest.h>

#include "tests/guardrail/colang/listing.hpp"

namespace stackgate::guardrail::colang {
namespace {

using namespace test;

TEST(Published, the_pipeline_of_rails) {
  const auto out = compile_one(R"(
define parallel flow take the user's words
  """Every input rail runs on them."""
  event UtteranceUserActionFinished(final_transcript="...")
  $user_message = $event["final_transcript"]

  # Only if there are any.
  if $config.rails.input.flows
    if $generation_options is None or $generation_options.rails.input:
      create event StartInputRails
      event StartInputRails
      do run all input rails
      create event InputRailsFinished
  create event UserMessage(text=$user_message)


define subflow run all input rails
  $input_flows = $config.rails.input.flows

  $i = 0
  while $i < len($input_flows)
    $triggered_input_rail = $input_flows[$i]
    create event StartInputRail(flow_id=$triggered_input_rail)
    do $input_flows[$i]
    $i = $i + 1
    $triggered_input_rail = None

define flow next step
  """Comes last.

  Others have a higher priority.
  """
  priority 0.9

  user ...
  execute generate_next_steps

define parallel extension flow say it
  priority 100

  bot ...
  execute retrieve_relevant_chunks
  if "tool_call_id" in $tool_messages[$i]
    $tool_call_id = $tool_messages[$i].tool_call_id
  else
    $tool_call_id = ""
  if $generation_options and $generation_options.rails.dialog == False
    stop
)");
  EXPECT_EQ(list_findings(out.findings, false), "");
  const Flow* rails = out.program.find_flow("run all input rails");
  ASSERT_NE(rails, nullptr);
  EXPECT_EQ(list_code(*rails),
            "0 $input_flows = $config.rails.input.flows\n1 $i = 0\n2 if $i < len($input_flows) else -> 9\n"
            "3 $triggered_input_rail = $input_flows[$i]\n4 create StartInputRail(flow_id=$triggered_input_rail)\n"
            "5 do $input_flows[$i]\n6 $i = $i + 1\n7 $triggered_input_rail = None\n8 -> 2\n9 end\n");
  EXPECT_EQ(out.program.find_flow("say it")->priority, 100);
}

TEST(Published, conversations) {
  const auto out = compile_one(R"(define user greet
  "hi"
  "What's x^2 + 2*x # is that a comment?"

define flow
  user greet
  bot greet

  user ask math

  # The question in the user's words.

  $query = ...
  execute wolfram alpha request(query=$query)
  bot respond to math question

  when user agree to deliver
    bot express thanks

  else when express disagreement
    bot express goodbye

define flow rail
  $result = execute some_api(show=True, threshold=0.5)
  if $result['hit'] and $result["pii"]["guarded"]:
    $user_message = $result["pii"]['text']
    bot $result
    stop
  else if $check_facts == True
    bot inform order for $result

define bot greet
  "Man's steel: $result, {{ result.x }}"
  'It''s "so"'
)");
  EXPECT_EQ(list_findings(out.findings, false), "rails.co:34:7 colang-syntax: \"'s \"so\"'\" stands behind the text\n");
}

}  // namespace
}  // namespace stackgate::guardrail::colang
