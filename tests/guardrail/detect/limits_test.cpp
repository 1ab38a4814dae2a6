// Length and language.
#include <algorithm>

#include <gtest/gtest.h>

#include "services/guardrail/detect/language.hpp"
#include "services/guardrail/detect/length.hpp"

namespace stackgate::guardrail {
namespace {

std::string excess(std::string_view text, const LengthLimits& limits) {
  const auto found = length_excess(text, limits);
  if (!found) return "";
  return std::string(found->unit) + " " + std::to_string(found->count) + " > " + std::to_string(found->limit);
}

TEST(Length, counts_bytes_characters_words_and_lines) {
  const std::string_view text = "é two\n three \n";
  EXPECT_EQ(excess(text, {}), "");
  EXPECT_EQ(excess(text, {.bytes = 15, .characters = 14, .words = 3, .lines = 2}), "");
  EXPECT_EQ(excess(text, {.bytes = 14, .characters = 1}), "bytes 15 > 14");
  EXPECT_EQ(excess(text, {.characters = 13}), "characters 14 > 13");
  EXPECT_EQ(excess(text, {.words = 2, .lines = 1}), "words 3 > 2");
  EXPECT_EQ(excess(text, {.lines = 1}), "lines 2 > 1");
  EXPECT_EQ(excess("x", {.lines = 0}), "lines 1 > 0");
  EXPECT_EQ(excess("", {.bytes = 0, .characters = 0, .words = 0, .lines = 0}), "");
}

TEST(Language, is_known_by_words_and_script) {
  struct Sample {
    std::string_view code, text;
  };
  for (const Sample& each :
       {Sample{"en", "Could you tell me what the weather will be like in Berlin tomorrow?"},
        Sample{"de", "Kannst du mir sagen, wie das Wetter morgen in Berlin wird?"},
        Sample{"de", "ÜBER DEN FLUSS UND IN DIE WÄLDER"},
        Sample{"fr", "Pouvez-vous me dire quel temps il fera demain à Berlin ?"},
        Sample{"es", "¿Puedes decirme qué tiempo hará mañana en Berlín, por favor? Es para mi viaje."},
        Sample{"it", "Puoi dirmi che tempo farà domani a Berlino? Non sono sicuro di cosa mettere."},
        Sample{"pt", "Você pode me dizer como vai estar o tempo amanhã em Berlim? Não sei o que levar."},
        Sample{"nl", "Kun je me vertellen wat voor weer het morgen in Berlijn wordt?"},
        Sample{"sv", "Kan du säga hur vädret blir i Berlin i morgon? Jag vet inte vad jag ska ta med."},
        Sample{"pl", "Czy możesz mi powiedzieć, jaka będzie jutro pogoda w Berlinie? Nie wiem, co zabrać."},
        Sample{"ru", "Не могли бы вы сказать, какая завтра будет погода в Берлине?"},
        Sample{"uk", "Чи могли б ви сказати, якою буде погода в Берліні? Я не знаю, що це."},
        Sample{"zh", "请告诉我明天柏林的天气怎么样。"},
        Sample{"ja", "明日のベルリンの天気を教えてください。"},
        Sample{"ko", "내일 베를린 날씨가 어떤지 알려 주세요."},
        Sample{"ar", "هل يمكنك أن تخبرني كيف سيكون الطقس غدا؟"},
        Sample{"he", "תוכל להגיד לי מה יהיה מזג האוויר מחר?"},
        Sample{"el", "Μπορείς να μου πεις τι καιρό θα κάνει αύριο;"},
        Sample{"hi", "क्या आप मुझे बता सकते हैं कि कल मौसम कैसा रहेगा?"},
        Sample{"th", "ช่วยบอกหน่อยว่าพรุ่งนี้อากาศเป็นอย่างไร"}}) {
    const Language found = language_of(each.text);
    EXPECT_EQ(found.code, each.code) << each.text;
    EXPECT_GT(found.confidence, 0.5) << each.text;
  }
}

TEST(Language, is_not_known_of_what_says_nothing) {
  for (const std::string_view text : {"", "12345 !!!", "xyzzy plugh", "\xff\xfe", "Berlin"})
    EXPECT_EQ(language_of(text).code, "") << text;
}

TEST(Language, is_one_of_those_served) {
  EXPECT_EQ(served_languages().size(), 19U);
  EXPECT_TRUE(std::ranges::is_sorted(served_languages()));
}

}  // namespace
}  // namespace stackgate::guardrail
