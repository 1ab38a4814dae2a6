// Names of people and places, as lists: what is not in them is not recognised. Immutable; any number of threads.
#pragma once
#include <string_view>

namespace stackgate::guardrail {

/// Given names as they are written, "Maria".
bool is_given_name(std::string_view word);
/// Given names that are words, months or places too: "Mark", "Grace".
bool is_ambiguous_given_name(std::string_view word);
bool is_surname(std::string_view word);
/// "Mr", "Dr", "Frau", without a full stop.
bool is_title(std::string_view word);
/// "van", "de": between the words of a name.
bool is_particle(std::string_view word);
/// Capitalised words that begin sentences or stand for no person: "The", "Monday", "Street".
bool is_no_name(std::string_view word);

/// Whether a place's name begins with this word.
bool begins_place(std::string_view word);
/// Whole names with single blanks, "New York", "Germany".
bool is_place(std::string_view name);
/// Places that are words or names of people too: "Turkey", "Jordan".
bool is_ambiguous_place(std::string_view name);
/// "Street", "Rd", "Boulevard".
bool is_street(std::string_view word);

/// "March", "mar", "MARCH"; at least three letters.
bool is_month(std::string_view word);

}  // namespace stackgate::guardrail
