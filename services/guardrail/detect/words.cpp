#include "services/guardrail/detect/words.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

#include "services/kit/base/ascii.hpp"

namespace stackgate::guardrail {
namespace {

using Set = std::unordered_set<std::string_view>;

Set split(std::string_view text, char separator) {
  Set out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) out.insert(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

constexpr std::string_view given =
    "Aaron Abdul Abigail Adam Adrian Agnes Ahmed Aisha Alan Albert Alejandro Alex Alexander Alexandra Alexis Alfred "
    "Ali "
    "Alice Alicia Alison Amanda Amelia Amir Amy Ana Anastasia Andre Andrea Andreas Andrew Angela Anita Anna Anne "
    "Annette Anthony Antonio Arjun Arnold Arthur Ashley Astrid Audrey Barbara Beatrice Benjamin Bernard Beth Betty "
    "Beverly Birgit Bradley Brandon Brenda Brian Bruce Bruno Bryan Camila Carl Carla Carlos Carmen Carol Caroline "
    "Carolyn Catherine Cecilia Charles Charlotte Cheryl Chloe Chris Christian Christina Christine Christopher Cindy "
    "Claire Clara Claudia Connor Craig Cynthia Dana Daniel Daniela Darren David Deborah Debra Dennis Derek Diana Diane "
    "Diego Dimitri Dmitri Dominic Donald Donna Doris Dorothy Douglas Dylan Edgar Edith Edward Edwin Eileen Elena "
    "Eleanor "
    "Elisabeth Elizabeth Ella Ellen Emilia Emily Emma Emmanuel Enrique Eric Erica Erik Erika Ernest Esther Ethan "
    "Eugene "
    "Eva Evan Evelyn Fatima Felicia Felipe Felix Fernando Fiona Florence Frances Francesca Francesco Francis Francisco "
    "Franz Fred Frederick Friedrich Gabriel Gabriela Gabrielle Gareth Gary George Gerald Geraldine Gianna Giovanni "
    "Gisela Gladys Gloria Gordon Greg Gregory Guillermo Gustav Hannah Hans Harold Harriet Harry Hassan Hazel Heather "
    "Heidi Heinrich Helen Helena Helga Henri Henry Herbert Hiroshi Howard Hugo Hussein Ian Ibrahim Ingrid Irene "
    "Irina Isaac Isabel Isabella Isabelle Ivan Jacob Jacqueline Jacques Jake James Jamie Jan Jane Janet Janice Jason "
    "Javier Jean Jeff Jeffrey Jennifer Jeremy Jerry Jesse Jessica Jim Joan Joanna Joe Joel Johan Johann Johannes John "
    "Jonas Jonathan Jorge Jose José Josef Joseph Joshua Joyce Juan Juana Judith Judy Julia Julian Julie Juliet Justin "
    "Karen Karin Karl Katherine Kathleen Kathryn Kathy Katie Keith Kelly Kenneth Kenji Kevin Kimberly Klaus Kristen "
    "Kristin Kumar Kurt Kyle Larry Laura Lauren Lawrence Leah Leo Leon Leonard Leonardo Leslie Liam Linda Lisa Lois "
    "Lorenzo Lorraine Louis Louise Luca Lucas Lucia Lucy Luis Luisa Lukas Luke Lydia Madison Manuel Marc Marcel Marco "
    "Marcus Margaret Maria María Marie Marilyn Marina Mario Marion Marlene Marta Martha Martin Martina Mary Mateo "
    "Matteo Matthew Matthias Maureen Maurice Max Maximilian Megan Mehmet Melanie Melissa Mia Michael Michel Michelle "
    "Miguel Mildred Miriam Mohamed Mohammad Mohammed Monica Monika Muhammad Nadia Nancy Naomi Natalia Natalie Natasha "
    "Nathan Nathaniel Neil Nicholas Nicola Nicolas Nicole Nigel Nina Noah Nora Norma Norman Oliver Olivia Omar Oscar "
    "Otto "
    "Pablo Pamela Patricia Patrick Paul Paula Pauline Pedro Peggy Penelope Peter Petra Philip Philippe Phillip Phyllis "
    "Pierre Priya Rachel Rafael Raj Ralph Ramon Raymond Rebecca Renate Ricardo Richard Rita Robert Roberto Rodrigo "
    "Roger "
    "Roland Ronald Rosa Rosemary Roy Russell Ruth Ryan Sabine Sally Samantha Samuel Sandra Sara Sarah Scott Sean "
    "Sebastian "
    "Sergei Sergio Shannon Sharon Sheila Shirley Silvia Simon Simone Sofia Sophia Sophie Stefan Stefanie Stephanie "
    "Stephen Steve Steven Stuart Susan Susanne Suzanne Svetlana Sven Sylvia Tamara Tanya Tatiana Teresa Terry Theodore "
    "Theresa Thomas Tiffany Tim Timothy Tina Tobias Todd Tom Tracy Tyler Ulrich Ulrike Ursula Valentina Valerie "
    "Vanessa "
    "Vera Veronica Victor Victoria Vincent Virginia Vladimir Walter Wanda Wayne Wendy Werner William Wolfgang Xavier "
    "Yusuf "
    "Yuki Yvonne Zachary Zoe";
constexpr std::string_view ambiguous_given =
    "Amber April Art August Austin Bill Bob Chad Charity Chase Chuck Clay Crystal Dawn Dean Drew Faith Frank Gene "
    "Georgia "
    "Gill Grace Grant Guy Heath Hope Hunter Iris Ivy Jack Jasmine Jay Jordan Josh Joy June Ken Lance Lily Mark Matt "
    "May "
    "Miles Mike Nick Olive Paris Pat Pearl Ray Reed Rich Rob Robin Rose Ruby Rusty Sam Sandy Sidney Skip Stone Sue "
    "Summer "
    "Sunny Sydney Trinity Violet Wade Will Winter";
constexpr std::string_view surnames =
    "Adams Ahmed Alexander Ali Allen Alvarez Anderson Andersson Armstrong Bailey Baker Barnes Bauer Becker Bell "
    "Bennett "
    "Bernard Bianchi Brooks Brown Bryant Butler Campbell Carter Castillo Castro Chavez Chen Clark Clarke Cohen Coleman "
    "Collins Cook Cooper Cox Cruz Cunningham Davies Davis Diaz Doe Dubois Dupont Durand Edwards Ellis Evans Ferguson "
    "Fernandez Fischer Fisher Flores Ford Foster Fox Freeman Garcia García Gibson Gomez Gonzales Gonzalez Gordon "
    "Graham "
    "Gray Green Griffin Gupta Gutierrez Hall Hamilton Hansen Harris Harrison Hayes Henderson Hernandez Herrera Hill "
    "Hoffmann Holmes Hopper Howard Hughes Hunt Hussain Ivanov Jackson Jansen James Jenkins Jensen Jimenez Johansson "
    "Johnson Johnston Jones Kaur Kelly Kennedy Khan Kim King Klein Koch Kowalski Kumar Laurent Lee Lewis Li Lopez "
    "Martin "
    "Martinez Mason Mendoza Meyer Miller Mitchell Mohammed Moore Morales Moreau Morgan Moreno Morris Morrison Müller "
    "Murphy Murray Myers Nelson Nguyen Nielsen Novak Nowak Olson Ortiz Owens Palmer Park Parker Patel Patterson Perez "
    "Perry Petersen Peterson Petrov Phillips Powell Price Ramirez Ramos Reyes Reynolds Richards Richardson Rivera "
    "Roberts "
    "Robinson Rodriguez Rogers Romero Rossi Russell Russo Ruiz Ryan Sanchez Sanders Santos Schmidt Schneider Schulz "
    "Schwarz Scott Shah Sharma Shaw Silva Simmons Simpson Singh Smirnov Smith Snyder Stevens Stewart Sullivan Suzuki "
    "Tanaka Taylor Thomas Thompson Torres Tucker Turner Vargas Vasquez Wagner Walker Wallace Wang Ward Washington "
    "Watanabe "
    "Watson Weber Wells West White Williams Wilson Wong Wood Woods Wright Wu Yang Young Zhang Zhao Zimmermann";
constexpr std::string_view titles =
    "Mr Mrs Ms Miss Mx Dr Prof Professor Sir Lady Lord Rev Herr Frau Monsieur Madame Mme Señor Señora Signor Signora";
constexpr std::string_view no_names =
    "A About After All Also Although An And Any Are As At Avenue Bank Because Before Both But By Can City Company "
    "Could "
    "County Court Day Did Do Does Drive Each English Every First For French Friday From German God Had Has Have He "
    "Hello "
    "Her Here Hi His Hospital How However I If In Inc Is It Its January February March April May June July August "
    "September "
    "October November December Just Lane Last Let Like Limited Love Ltd Many Maybe Monday Most My New No Not Now Of "
    "Office On "
    "Only Or Our Park Please Road Saturday School She Should So Some Spanish Square State Street Sunday Thank Thanks "
    "That The "
    "Their Then There These They This Those Thursday To Today Tomorrow Tuesday University Was We Wednesday Were What "
    "When "
    "Where Which While Who Why Will With Would Yes Yesterday You Your";
constexpr std::string_view places =
    "Afghanistan;Albania;Algeria;Andorra;Angola;Argentina;Armenia;Australia;Austria;Azerbaijan;Bahamas;Bahrain;"
    "Bangladesh;"
    "Barbados;Belarus;Belgium;Belize;Benin;Bhutan;Bolivia;Bosnia;Botswana;Brazil;Brunei;Bulgaria;Burkina Faso;Burundi;"
    "Cambodia;Cameroon;Canada;Cape Verde;Chile;China;Colombia;Comoros;Congo;Costa Rica;Croatia;Cuba;Cyprus;Czechia;"
    "Czech Republic;Denmark;Djibouti;Dominica;Dominican Republic;Ecuador;Egypt;El "
    "Salvador;England;Eritrea;Estonia;Eswatini;"
    "Ethiopia;Fiji;Finland;France;Gabon;Gambia;Germany;Ghana;Greece;Grenada;Guatemala;Guinea;Guyana;Haiti;Honduras;"
    "Hungary;"
    "Iceland;India;Indonesia;Iran;Iraq;Ireland;Israel;Italy;Ivory Coast;Jamaica;Japan;Kazakhstan;Kenya;Kosovo;Kuwait;"
    "Kyrgyzstan;Laos;Latvia;Lebanon;Lesotho;Liberia;Libya;Liechtenstein;Lithuania;Luxembourg;Madagascar;Malawi;"
    "Malaysia;"
    "Maldives;Mali;Malta;Mauritania;Mauritius;Mexico;Moldova;Monaco;Mongolia;Montenegro;Morocco;Mozambique;Myanmar;"
    "Namibia;"
    "Nepal;Netherlands;New Zealand;Nicaragua;Niger;Nigeria;North Korea;North Macedonia;Northern "
    "Ireland;Norway;Oman;Pakistan;"
    "Panama;Papua New Guinea;Paraguay;Peru;Philippines;Poland;Portugal;Puerto Rico;Qatar;Romania;Russia;Rwanda;Samoa;"
    "Saudi Arabia;Scotland;Senegal;Serbia;Seychelles;Sierra Leone;Singapore;Slovakia;Slovenia;Somalia;South Africa;"
    "South Korea;South Sudan;Spain;Sri "
    "Lanka;Sudan;Suriname;Sweden;Switzerland;Syria;Taiwan;Tajikistan;Tanzania;Thailand;Togo;"
    "Trinidad;Tunisia;Turkmenistan;Uganda;Ukraine;United Arab Emirates;United Kingdom;United States;Uruguay;Uzbekistan;"
    "Vatican City;Venezuela;Vietnam;Wales;Yemen;Zambia;Zimbabwe;"
    "Alabama;Alaska;Arizona;Arkansas;California;Colorado;Connecticut;Delaware;Florida;Hawaii;Idaho;Illinois;Indiana;"
    "Iowa;"
    "Kansas;Kentucky;Louisiana;Maine;Maryland;Massachusetts;Michigan;Minnesota;Mississippi;Missouri;Montana;Nebraska;"
    "Nevada;"
    "New Hampshire;New Jersey;New Mexico;New York;North Carolina;North Dakota;Ohio;Oklahoma;Oregon;Pennsylvania;Rhode "
    "Island;"
    "South Carolina;South Dakota;Tennessee;Texas;Utah;Vermont;West Virginia;Wisconsin;Wyoming;Ontario;Quebec;British "
    "Columbia;"
    "Alberta;Bavaria;Catalonia;Tuscany;Queensland;"
    "Aberdeen;Abu Dhabi;Addis "
    "Ababa;Amsterdam;Ankara;Antwerp;Athens;Atlanta;Auckland;Baghdad;Baltimore;Bangalore;Bangkok;"
    "Barcelona;Basel;Beijing;Beirut;Belfast;Belgrade;Berlin;Bern;Birmingham;Bogota;Bologna;Bordeaux;Boston;Bratislava;"
    "Brisbane;"
    "Bristol;Brussels;Bucharest;Budapest;Buenos Aires;Cairo;Calgary;Cape "
    "Town;Caracas;Casablanca;Chennai;Chicago;Cincinnati;"
    "Cleveland;Cologne;Copenhagen;Dallas;Delhi;Denver;Detroit;Dhaka;Dresden;Dubai;Dublin;Edinburgh;Frankfurt;Geneva;"
    "Genoa;Glasgow;"
    "Gothenburg;Guadalajara;Hamburg;Hanoi;Havana;Helsinki;Ho Chi Minh City;Hong "
    "Kong;Honolulu;Houston;Hyderabad;Istanbul;Jakarta;"
    "Jerusalem;Johannesburg;Karachi;Kathmandu;Kiev;Kyiv;Kolkata;Kuala Lumpur;Kyoto;Lagos;Lahore;Las "
    "Vegas;Leeds;Leipzig;Lima;Lisbon;"
    "Liverpool;London;Los Angeles;Lyon;Madrid;Manchester;Manila;Marrakesh;Marseille;Melbourne;Mexico "
    "City;Miami;Milan;Milwaukee;"
    "Minneapolis;Minsk;Montevideo;Montreal;Moscow;Mumbai;Munich;Nairobi;Naples;Nashville;New Delhi;New "
    "Orleans;Osaka;Oslo;Ottawa;"
    "Oxford;Philadelphia;Portland;Prague;Pretoria;Pyongyang;Quito;Reykjavik;Riga;Rio de "
    "Janeiro;Riyadh;Rome;Rotterdam;Sacramento;"
    "Saint Petersburg;Salt Lake City;San Antonio;San Diego;San Francisco;San Jose;Santiago;Sao "
    "Paulo;Sarajevo;Seattle;Seoul;Seville;"
    "Shanghai;Sheffield;Shenzhen;Sofia;Stockholm;Stuttgart;Taipei;Tallinn;Tashkent;Tbilisi;Tehran;Tel "
    "Aviv;Tokyo;Toronto;Tripoli;"
    "Tunis;Turin;Valencia;Vancouver;Venice;Vienna;Vilnius;Warsaw;Washington;Wellington;Zagreb;Zurich";
constexpr std::string_view ambiguous_places =
    "Cuba;Chad;Georgia;Jordan;Turkey;Victoria;Virginia;Sydney;Austin;Paris;Charlotte;Florence;Lincoln;Madison;Orlando;"
    "Phoenix;"
    "Nice;Cork;Bath;Cambridge;Columbus;Jackson;Perth;Sofia;Adelaide;Santiago;Mali;Niger;Togo;Guinea;Bern;Benin";
constexpr std::string_view streets =
    "Street St Avenue Ave Road Rd Boulevard Blvd Lane Ln Drive Dr Court Ct Way Place Pl Terrace Highway Hwy";
constexpr std::array<std::string_view, 12> months{"january",   "february", "march",    "april",
                                                  "may",       "june",     "july",     "august",
                                                  "september", "october",  "november", "december"};

Set first_words(const Set& names) {
  Set out;
  for (const std::string_view name : names) out.insert(name.substr(0, name.find(' ')));
  return out;
}

const Set& all_places() {
  static const Set set = [] {
    Set out = split(places, ';');
    out.merge(split(ambiguous_places, ';'));
    return out;
  }();
  return set;
}

}  // namespace

bool is_given_name(std::string_view word) {
  static const Set set = split(given, ' ');
  return set.contains(word);
}

bool is_ambiguous_given_name(std::string_view word) {
  static const Set set = split(ambiguous_given, ' ');
  return set.contains(word);
}

bool is_surname(std::string_view word) {
  static const Set set = split(surnames, ' ');
  return set.contains(word);
}

bool is_title(std::string_view word) {
  static const Set set = split(titles, ' ');
  return set.contains(word);
}

bool is_particle(std::string_view word) {
  constexpr std::array<std::string_view, 12> particles{"van",   "von", "der", "den", "de", "da",
                                                       "della", "di",  "la",  "bin", "al", "del"};
  return word.size() <= 5 && std::ranges::find(particles, word) != particles.end();
}

bool is_no_name(std::string_view word) {
  static const Set set = split(no_names, ' ');
  return set.contains(word);
}

bool begins_place(std::string_view word) {
  static const Set set = first_words(all_places());
  return set.contains(word);
}

bool is_place(std::string_view name) { return all_places().contains(name); }

bool is_ambiguous_place(std::string_view name) {
  static const Set set = split(ambiguous_places, ';');
  return set.contains(name);
}

bool is_street(std::string_view word) {
  static const Set set = split(streets, ' ');
  return set.contains(word);
}

bool is_month(std::string_view word) {
  if (word.size() < 3 || word.size() > 9) return false;
  if (ascii::equal_ignoring_case(word, "sept")) return true;
  return std::ranges::any_of(months, [&](std::string_view month) {
    return ascii::equal_ignoring_case(word, word.size() == 3 ? month.substr(0, 3) : month);
  });
}

}  // namespace stackgate::guardrail
