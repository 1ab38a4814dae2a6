#include "services/guardrail/detect/sensitive_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/guardrail/detect/detect_support.hpp"

namespace stackgate::guardrail {
namespace {

using ::testing::HasSubstr;

struct Case {
  std::string_view text, expected;
};

TEST(SensitiveData, finds_each_entity) {
  const SensitiveData all = test::sensitive();
  const Case cases[] = {
      {"write to jane.doe+x@mail.example.co.uk.", "EMAIL_ADDRESS:jane.doe+x@mail.example.co.uk"},
      {"Ünal: ünal@müller.de", "EMAIL_ADDRESS:ünal@müller.de"},
      {"card 4111 1111 1111 1111, thanks", "CREDIT_CARD:4111 1111 1111 1111"},
      {"card 4111-1111-1111-1111", "CREDIT_CARD:4111-1111-1111-1111"},
      {"378282246310005", "CREDIT_CARD:378282246310005"},
      {"3782 822463 10005", "CREDIT_CARD:3782 822463 10005"},
      {"IBAN GB29 NWBK 6016 1331 9268 19.", "IBAN_CODE:GB29 NWBK 6016 1331 9268 19"},
      {"DE89370400440532013000", "IBAN_CODE:DE89370400440532013000"},
      {"my ssn is 536-22-1234", "US_SSN:536-22-1234"},
      {"call (212) 555-0100 now", "PHONE_NUMBER:(212) 555-0100"},
      {"+49 30 901820", "PHONE_NUMBER:+49 30 901820"},
      {"+1 (212) 555-0100", "PHONE_NUMBER:+1 (212) 555-0100"},
      {"020 7946 0958 is Ofcom's", "PHONE_NUMBER:020 7946 0958"},
      {"1-800-555-0199", "PHONE_NUMBER:1-800-555-0199"},
      {"from 192.168.0.17:8080", "IP_ADDRESS:192.168.0.17"},
      {"at 2001:db8::8a2e:370:7334 and ::1", "IP_ADDRESS:2001:db8::8a2e:370:7334 | IP_ADDRESS:::1"},
      {"fe80:0:0:0:204:61ff:fe9d:f156", "IP_ADDRESS:fe80:0:0:0:204:61ff:fe9d:f156"},
      {"::ffff:192.0.2.1", "IP_ADDRESS:::ffff:192.0.2.1"},
      {"see https://example.com/a?b=c#d, or", "URL:https://example.com/a?b=c#d"},
      {"see www.example.org/x or example.net.", "URL:www.example.org/x | URL:example.net"},
      {"1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "CRYPTO:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"},
      {"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "CRYPTO:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
      {"NHS number 943 476 5919", "UK_NHS:943 476 5919"},
      {"DEA AB1234563", "MEDICAL_LICENSE:AB1234563"},
      {"taxpayer 912-70-1234", "US_ITIN:912-70-1234"},
      {"passport 912803456", "US_PASSPORT:912803456"},
      {"bank account 945456787654", "US_BANK_NUMBER:945456787654"},
      {"driver license H12234567", "US_DRIVER_LICENSE:H12234567"},
      {"on 2024-03-12T10:30:00Z", "DATE_TIME:2024-03-12T10:30:00Z"},
      {"on 12 March 2024, at 2:30 pm", "DATE_TIME:12 March 2024 | DATE_TIME:2:30 pm"},
      {"March 12th, 2024; 03/12/24; 12.3.2024; the 1st of May",
       "DATE_TIME:March 12th, 2024 | DATE_TIME:03/12/24 | DATE_TIME:12.3.2024 | DATE_TIME:1st of May"},
      {"I met John F. Kennedy there", "PERSON:John F. Kennedy"},
      {"Dr. Strangelove-Smith said", "PERSON:Strangelove-Smith"},
      {"JOHN SMITH and María de la Cruz", "PERSON:JOHN SMITH | PERSON:María de la Cruz"},
      {"My name is Xyzzy Plugh.", "PERSON:Xyzzy Plugh"},
      {"from New York to Rio de Janeiro", "LOCATION:New York | LOCATION:Rio de Janeiro"},
      {"at 221B Baker Street, London", "LOCATION:221B Baker Street | LOCATION:London"},
  };
  for (const Case& each : cases) EXPECT_EQ(test::shown(all, each.text), each.expected) << each.text;
}

TEST(SensitiveData, passes_over_what_only_looks_like_it) {
  const SensitiveData all = test::sensitive();
  for (const std::string_view text : {"4111 1111 1111 1112",
                                      "GB29 NWBK 6016 1331 9268 18",
                                      "version 1.2.3.4.5",
                                      "256.1.1.1",
                                      "3.14159265358979",
                                      "std::vector<int> and bad::face",
                                      "00:1A:2B:3C:4D:5E",
                                      "main.py, script.sh and README.md",
                                      "a@b",
                                      "@mention",
                                      "user@localhost",
                                      "e.g. this",
                                      "the end.Next one",
                                      "will may mark the rose",
                                      "Mark the date",
                                      "May I?",
                                      "The White House",
                                      "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb",
                                      "000-22-1234",
                                      "code 12345",
                                      "2024",
                                      "ftp://",
                                      "://x",
                                      "x=1;y=2",
                                      "550e8400-e29b-41d4-a716-446655440000",
                                      "Mr. and",
                                      "12 monkeys",
                                      "13/13/2024",
                                      "25:61"})
    EXPECT_EQ(test::shown(all, text), "") << text;
}

TEST(SensitiveData, finds_only_what_is_asked_for) {
  const std::string_view text = "John, john@example.com, 4111111111111111";
  EXPECT_EQ(test::shown(test::sensitive({"CREDIT_CARD"}), text), "CREDIT_CARD:4111111111111111");
  EXPECT_EQ(test::shown(test::sensitive({"PERSON", "EMAIL_ADDRESS"}), text),
            "PERSON:John | EMAIL_ADDRESS:john@example.com");
  EXPECT_EQ(test::shown(test::sensitive({}), text), "");
}

TEST(SensitiveData, finds_one_kind_wherever_it_lies) {
  const std::pair<std::string, std::string> cases[] = {
      {"EMAIL_ADDRESS", "jane.doe+x@mail.example.co.uk"},
      {"EMAIL_ADDRESS", "ünal@müller.de"},
      {"CREDIT_CARD", "4111 1111 1111 1111"},
      {"IBAN_CODE", "DE89370400440532013000"},
      {"US_SSN", "536-22-1234"},
      {"PHONE_NUMBER", "(212) 555-0100"},
      {"URL", "https://example.com/a?b=c#d"},
      {"URL", "www.example.org/x"},
      {"CRYPTO", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
  };
  for (const auto& [entity, text] : cases)
    for (std::size_t before = 0; before < 40; ++before)
      for (const std::size_t behind : {0UL, 1UL, 20UL})
        EXPECT_EQ(test::shown(test::sensitive({entity}),
                              std::string(before, 'w') + " ü_ " + text + " " + std::string(behind, 'w')),
                  entity + ":" + text);
}

float score_of(const SensitiveData& detector, std::string_view text) {
  const Spans spans = detector.find(text);
  return spans.size() == 1 ? spans[0].score : -1;
}

TEST(SensitiveData, scores_as_presidio_does) {
  const SensitiveData ssn = test::sensitive({"US_SSN"}, 0), card = test::sensitive({"CREDIT_CARD"}, 0);
  EXPECT_FLOAT_EQ(score_of(card, "4111111111111111"), 1.0F);
  EXPECT_FLOAT_EQ(score_of(ssn, "536-22-1234"), 0.5F);
  EXPECT_FLOAT_EQ(score_of(ssn, "536221234"), 0.05F);
  EXPECT_FLOAT_EQ(score_of(ssn, "SSN: 536-22-1234"), 0.85F);
  EXPECT_FLOAT_EQ(score_of(ssn, "SSN: 536221234"), 0.4F);
  EXPECT_FLOAT_EQ(score_of(ssn, "security one two three four 536221234"), 0.4F) << "the fifth word before";
  EXPECT_FLOAT_EQ(score_of(ssn, "security one two three four five 536221234"), 0.05F) << "the sixth";
}

TEST(SensitiveData, leaves_out_what_scores_below_the_threshold) {
  EXPECT_EQ(test::shown(test::sensitive({"US_SSN"}, 0.5), "536-22-1234 536221234"), "US_SSN:536-22-1234");
  EXPECT_EQ(test::shown(test::sensitive({"US_SSN"}, 0.51), "536-22-1234"), "");
}

TEST(SensitiveData, masks_by_entity_or_token) {
  const std::string_view text = "é john@example.com, 4111111111111111 ü";
  const SensitiveData named = test::sensitive();
  EXPECT_EQ(named.masked(text, named.find(text)), "é <EMAIL_ADDRESS>, <CREDIT_CARD> ü");
  const auto token = SensitiveData::compile({.entities = test::all_entities(), .mask_token = "***"}, "input");
  ASSERT_TRUE(token);
  EXPECT_EQ(token->masked(text, token->find(text)), "é ***, *** ü");
}

TEST(SensitiveData, gives_what_lies_inside_to_what_is_around_it) {
  const SensitiveData all = test::sensitive();
  EXPECT_EQ(test::shown(all, "https://example.com/?mail=a@b.de&ip=1.2.3.4"),
            "URL:https://example.com/?mail=a@b.de&ip=1.2.3.4");
  EXPECT_EQ(test::shown(test::sensitive({"EMAIL_ADDRESS"}), "https://example.com/?mail=a@b.de&ip=1.2.3.4"),
            "EMAIL_ADDRESS:a@b.de");
}

TEST(SensitiveData, shares_what_crosses) {
  const std::vector<Recognizer> recognizers = {
      {.name = "a", .supported_entity = "A", .patterns = {{.regex = "one two", .score = 0.5}}},
      {.name = "b", .supported_entity = "B", .patterns = {{.regex = "two three", .score = 0.9}}}};
  const SensitiveData both = test::sensitive({"A", "B"}, 0, recognizers);
  EXPECT_EQ(test::shown(both, "one two three"), "A:one  | B:two three");
}

TEST(SensitiveData, uses_custom_recognizers) {
  const std::vector<Recognizer> recognizers = {
      {.name = "ticket",
       .supported_entity = "TICKET",
       .patterns = {{.name = "t", .regex = "\\bINC[0-9]{6}\\b", .score = 0.3}},
       .context = {"Ticket"}},
      {.name = "codename", .supported_entity = "CODENAME", .deny_list = {"blue (moon)", "Osiris"}}};
  const SensitiveData custom = test::sensitive({"TICKET", "CODENAME"}, 0, recognizers);
  EXPECT_EQ(test::shown(custom, "see inc123456 of Blue (Moon) or osiris, osirisx"),
            "TICKET:inc123456 | CODENAME:Blue (Moon) | CODENAME:osiris");
  EXPECT_FLOAT_EQ(score_of(custom, "inc123456"), 0.3F);
  EXPECT_FLOAT_EQ(score_of(custom, "ticket inc123456"), 0.65F);
}

TEST(SensitiveData, tells_every_fault_of_a_configuration_at_once) {
  const std::vector<Recognizer> recognizers = {
      {.name = "one", .patterns = {{.regex = "(?<=a)b", .score = 2}}},
      {.name = "two", .supported_entity = "TWO"},
      {.name = "three", .supported_entity = "THREE", .patterns = {{.regex = "x*"}}}};
  const auto made = SensitiveData::compile({.entities = {"EMAIL_ADRESS", "PERSON", "TWO"}, .score_threshold = 7},
                                           "rails.config.x.input", recognizers, "rails.config.x.recognizers");
  ASSERT_FALSE(made);
  std::string all;
  for (const auto& finding : made.error()) all += finding.path + ": " + to_line(finding) + "\n";
  EXPECT_THAT(all, HasSubstr("rails.config.x.input.score_threshold: "));
  EXPECT_THAT(all, HasSubstr("rails.config.x.input.entities[0]: "));
  EXPECT_THAT(all, HasSubstr("did you mean EMAIL_ADDRESS?"));
  EXPECT_THAT(all, HasSubstr("rails.config.x.recognizers[0]: names no supported_entity"));
  EXPECT_THAT(all, HasSubstr("rails.config.x.recognizers[0].patterns[0]: is no score"));
  EXPECT_THAT(all, HasSubstr("invalid perl operator"));
  EXPECT_THAT(all, HasSubstr("rails.config.x.recognizers[1]: has neither"));
  EXPECT_THAT(all, HasSubstr("matches the empty text"));
  EXPECT_EQ(made.error().size(), 7U) << all;
}

TEST(SensitiveData, knows_its_entities_by_name) {
  for (const std::string_view name : served_entities()) {
    const auto entity = entity_from(name);
    ASSERT_TRUE(entity) << name;
    EXPECT_EQ(to_string(*entity), name);
  }
  EXPECT_EQ(served_entities().size(), entity_count);
  EXPECT_FALSE(entity_from("NOBODY"));
  EXPECT_FALSE(entity_from(""));
}

}  // namespace
}  // namespace stackgate::guardrail
