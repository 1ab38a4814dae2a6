#include "services/guardrail/detect/language_words.hpp"

namespace stackgate::guardrail {
namespace {

// A word that several share counts for each of them.
constexpr LanguageWords profiles[] = {
    {"de",
     "der die das und ist nicht ein eine einen einem einer ich du er sie wir ihr mit von zu zum zur den dem des auf "
     "für im in am an es sich auch als wie was wer wo wird werden war sind sein hat haben kann können bitte mir mich "
     "über nach bei aus oder aber dass wenn nur noch mehr um kannst mein meine dir"},
    {"en",
     "the of and to in is that it was for on are as with his they i at be this have from or one had by but not what "
     "all were we when your can said there an which she do how their if will up about out many then them these so "
     "some her would make like him into has my me you please could write give does am"},
    {"es",
     "el la de que y en un una ser se no haber por con su para como estar tener le lo todo pero más hacer poder este "
     "ya entre porque muy sin sobre mi me te los las del al es son está qué cómo puedes quiero tengo hay una unos "
     "también desde cuando"},
    {"fr",
     "le la les de des du un une et est en que qui dans pour pas sur ce il elle je tu nous vous ils ne se au aux avec "
     "plus par son sa ses mon ma mes être avoir fait comme mais ou où cette ces sont était peut pouvez quelle quel "
     "leur si très bien"},
    {"it",
     "il lo la i gli le di a da in con su per tra e è un una uno che non si mi ti ci vi sono ho hai ha abbiamo come "
     "ma più anche del della dei delle al alla nel nella questo questa quando perché cosa puoi vorrei molto tutto "
     "essere fare dove"},
    {"nl",
     "de het een en van ik te dat die in je is niet zijn op aan met als voor had er maar om hem dan zou of wat mijn "
     "men dit zo door over ze bij ook tot kan kun hoe wij heeft hebben naar heb uit nog wel waar worden"},
    {"pl",
     "i w na z do nie się że jest to o jak a po co ale za od tak czy przez dla ten ta być może mnie mi moje są był "
     "była "
     "ich jego jej które który która przy proszę bardzo kiedy gdzie tylko już mam"},
    {"pt",
     "o a os as de que e do da dos das em um uma para com não se na no por mais como mas foi ao ele ela seu sua ou "
     "ser quando muito há nos já está eu também só pelo pela até isso meu minha você são tem estou posso quero fazer "
     "onde"},
    {"ru",
     "и в не на я быть он с что а по это она этот к но они мы весь который из у то за свой так же от мочь вы как для "
     "мне меня его её их или если только уже бы ли есть был была были очень можно мой пожалуйста почему когда где"},
    {"sv",
     "och i att det som en på är av för med till den har de inte om ett han men var jag sig från vi så kan man när år "
     "nu eller du vad hur min mitt mig dig skulle kunna vill blir också där här bara efter under"},
    {"uk",
     "і в не на я бути він з що а по це вона цей до але вони ми весь який із у та за свій так же від могти ви як для "
     "мені мене його її їх або якщо тільки вже би чи є був була були дуже можна мій будь ласка чому коли де"},
};

}  // namespace

std::span<const LanguageWords, language_word_lists> language_words() { return profiles; }

}  // namespace stackgate::guardrail
