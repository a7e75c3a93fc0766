// Names and values of options, right and wrong.
#pragma once

#include <string>

#include "fuzz/api/session.hpp"

namespace fuzz {

/// An option of the type; any other name if the call is faulty.
const char* option_name(Session& s, bdl_option_type type);
/// One of the option's words, or another.
std::string choice_word(Session& s, const char* name);
/// Words name=value for bdl_optimizer_set_text().
std::string option_text(Session& s);

}  // namespace fuzz
