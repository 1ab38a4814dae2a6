#include <gmock/gmock.h>

#include "services/customizer/pages/views/curves.hpp"
#include "services/customizer/pages/views/customization.hpp"

namespace stackgate::customizer::pages {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view hostile = "<script>alert(1)</script>";
constexpr Seconds now = 1'769'875'260;

Customization customization(State state = State::running) {
  Customization out{.id = "cust-1", .name = "mine", .state = state};
  out.request =
      R"({"name":"mine","target":{"name":"acme/<b>tiny</b>@1.0","base_model":"acme/tiny"},"config":{"name":"c"},"dataset":{"repository":"ada/colours","revision":"0123"},"hyperparameters":{"lora_rank":8,"lora_alpha":16,"learning_rate":0.0001,"num_epochs":2},"output_model":"ada/green@1.0.0"})";
  out.progress =
      R"({"step":20,"max_steps":40,"epoch":1,"num_epochs":2,"tokens_per_second":1200,"eta_seconds":65,"percent":50})";
  out.created_at = out.started_at = now - 60;
  out.stage(Stage::download) = {.state = State::completed, .attempts = 1, .started_at = now - 50, .ended_at = now - 40};
  out.stage(Stage::training) = {.state = state, .attempts = 2, .message = "the queue research has no room"};
  return out;
}

TEST(List, has_states_reasons_and_links) {
  std::vector<Customization> rows{customization(), customization(State::completed)};
  rows[0].message = hostile;
  const std::vector<std::string> models{"acme/tiny@1.0", "acme/other@1.0"};
  const std::string page = list_page({.rows = rows,
                                      .models = models,
                                      .state = "running",
                                      .model = "acme/tiny@1.0",
                                      .page = 2,
                                      .pages = 3,
                                      .total = 120,
                                      .now = now})
                               .str();
  EXPECT_THAT(page, HasSubstr("120 customizations"));
  EXPECT_THAT(page, HasSubstr(R"(<a href="./customizations/mine">mine</a>)"));
  EXPECT_THAT(page, HasSubstr(R"(<progress max="100" value="50">50 %</progress>)"));
  EXPECT_THAT(page, HasSubstr("acme/&lt;b&gt;tiny"));
  EXPECT_THAT(page, HasSubstr("ada/green@1.0.0"));
  EXPECT_THAT(page, HasSubstr("<option selected>acme/tiny@1.0</option>"));
  EXPECT_THAT(page, HasSubstr(R"(href="./?state=running&amp;model=acme%2Ftiny%401.0&amp;page=3")"));
  EXPECT_THAT(page, HasSubstr("1 minute ago"));
  EXPECT_THAT(page, Not(HasSubstr(hostile)));
}

TEST(List, without_rows_says_what_to_do) {
  EXPECT_THAT(list_page({}).str(), HasSubstr("POST /v1/customizations makes one"));
  EXPECT_THAT(list_page({.state = "failed"}).str(), HasSubstr("No customization is like that"));
  EXPECT_THAT(list_page({.page = 9, .pages = 1, .total = 3}).str(), Not(HasSubstr("yet")));
}

TEST(Curves, are_two_lines_with_their_last_values) {
  const std::vector<MetricPoint> points{{.step = 10, .train_loss = 2.5, .val_loss = {}},
                                        {.step = 20, .train_loss = 1.25, .val_loss = 1.5}};
  const std::string chart = curves(points).str();
  EXPECT_THAT(chart, HasSubstr("training from 2.5 at step 10 to 1.25 at step 20; validation from 1.5 at step 20"));
  EXPECT_THAT(chart, AllOf(HasSubstr("training (1.25)"), HasSubstr("validation (1.5)")));
  EXPECT_THAT(curves(std::span(points).first(1)).str(), Not(HasSubstr("validation")));
  EXPECT_THAT(curves({}).str(), HasSubstr("No step was reported yet"));
}

TEST(CustomizationPage, shows_how_far_it_is_and_asks_for_more) {
  Customization job = customization();
  job.message = "the queue research has no room for its pods";
  const std::vector<Event> events{
      {.number = 1, .at = now, .message = "TrainingJobPending", .detail = std::string(hostile)}};
  const std::vector<Event> lines{
      {.number = 2, .at = now, .message = "<b>loss</b>", .detail = "training-2", .is_log = true}};
  const std::string page =
      customization_page({.job = job, .events = events, .lines = lines, .entitystore_url = "http://e:1/", .now = now})
          .str();
  EXPECT_THAT(page, HasSubstr(R"(<div data-live="../customizations/mine/live"><div data-state="running">)"));
  EXPECT_THAT(page, HasSubstr(R"(<p class="notice">the queue research has no room for its pods</p>)"));
  EXPECT_THAT(page, HasSubstr("<dt>Step</dt><dd>20 of 40</dd>"));
  EXPECT_THAT(page, HasSubstr("<dt>Trained in about</dt><dd>1 min 5 s</dd>"));
  EXPECT_THAT(
      page,
      HasSubstr(
          R"(<th scope="row">training</th><td><span class="badge state-running">running</span></td><td class="number">2</td><td>the queue research has no room</td>)"));
  EXPECT_THAT(page, HasSubstr("TrainingJobPending: &lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("<pre>[training-2] &lt;b&gt;loss&lt;/b&gt;\n</pre>"));
  EXPECT_THAT(page, HasSubstr("ada/green@1.0.0 will be made of it."));
  EXPECT_THAT(page, HasSubstr(R"(href="../v1/customizations/mine/logs")"));
  EXPECT_THAT(page, HasSubstr("<dt>Commit</dt><dd>0123</dd>"));
  EXPECT_THAT(page, HasSubstr("<dt>Learning rate</dt><dd>0.0001</dd>"));
  EXPECT_THAT(page, Not(HasSubstr(hostile)));
}

TEST(CustomizationPage, of_what_has_ended_links_the_adapter_and_asks_nothing) {
  const Customization job = customization(State::completed);
  const std::string page = customization_page({.job = job, .entitystore_url = "http://e:1/", .now = now}).str();
  EXPECT_THAT(
      page,
      HasSubstr(R"(<a href="http://e:1/v1/adapters?namespace=ada&amp;name=green">ada/green@1.0.0</a> is ready.)"));
  EXPECT_THAT(page,
              AllOf(Not(HasSubstr("data-live")), HasSubstr(R"(data-state="final")"), Not(HasSubstr("<progress"))));
  EXPECT_THAT(customization_page({.job = job}).str(), HasSubstr("<p>ada/green@1.0.0 is ready.</p>"));
}

TEST(CustomizationPage, says_why_it_failed_and_what_was_warned_of) {
  Customization job = customization(State::failed);
  job.message = "the upload has failed";
  job.warnings = R"([{"loc":["body","dataset"],"msg":"<few> lines","type":"t"}])";
  const std::string page = customization_page({.job = job}).str();
  EXPECT_THAT(page, HasSubstr(R"(<p class="notice bad" role="alert">the upload has failed</p>)"));
  EXPECT_THAT(page, HasSubstr("<li>&lt;few&gt; lines</li>"));
  job.request = job.progress = job.warnings = "nonsense";
  EXPECT_THAT(customization_page({.job = job}).str(), HasSubstr("Stages"));
}

}  // namespace
}  // namespace stackgate::customizer::pages
