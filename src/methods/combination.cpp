#include "methods/combination.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "base/error.hpp"

namespace bdl {
namespace {

/// A set of abilities: a bit for each BDL_NEED of needs.def, in that order.
using Needs = std::uint64_t;

struct Ability {
  Status status;
  const char* text;
};

constexpr Ability abilities[] = {
#define BDL_NEED(ability, status, text) {Status::ERROR_##status, text},
#include "methods/needs.def"
};
static_assert(std::size(abilities) <= 64);

/// A row of needs.def about a part of a combination.
struct Part {
  const char* text;
  Needs needs, has;
};

/// Calls visit(part) for each part of a combination that is put to this use.
template <class Visit>
void for_each_part(const Combination& c, Use use, Visit&& visit) {
  enum Order {
#define BDL_NEED(ability, status, text) ability##_place,
#include "methods/needs.def"
  };
  enum : Needs {
    none = 0,
#define BDL_NEED(ability, status, text) ability = Needs{1} << ability##_place,
#include "methods/needs.def"
  };
  const Options& o = c.options;
  const MethodContext& m = c.model;
#define BDL_PART(text, condition, needs, has) \
  if (condition) visit(Part{text, needs, has});
#include "methods/needs.def"
}

/// Returns the value that {word} stands for in texts.
std::string value_of(std::string_view word, const Combination& c) {
  const MethodContext& m = c.model;
  const auto lacking = [](const std::string& layer) {
    return layer.empty() ? "custom model" : "network's " + layer;
  };
  if (word == "method") return c.method.name;
  if (word == "family") return words_of(family_of(c.family, c.rank));
  if (word == "image") return std::to_string(m.input.rows) + " x " + std::to_string(m.input.columns);
  if (word == "rough layer") return lacking(m.without_second_derivatives);
  if (word == "changing layer") return lacking(m.without_one_function);
  if (word == "joining layer") return lacking(m.without_separate_examples);
  return value_text(c.options, find_option(word));
}

std::string filled(std::string_view text, const Combination& c) {
  const std::size_t begin = text.find('{'), end = text.find('}');
  if (begin == text.npos) return std::string(text);
  return std::string(text.substr(0, begin)) + value_of(text.substr(begin + 1, end - begin - 1), c) +
         filled(text.substr(end + 1), c);
}

}  // namespace

Use intended_use(const Combination& c) {
  if (c.method.kind == MethodKind::exact) return Use::fit;
  const bool streams = c.options.rule == Rule::bong || c.options.rule == Rule::bog;
  if (c.method.kind == MethodKind::stream || (streams && c.model.has_model)) return Use::stream;
  return c.model.has_model && c.model.has_gradients ? Use::fit : Use::rows;
}

void check_combination(const Combination& c, Use use) {
  if (!c.is(c.method.families))
    fail(Status::ERROR_UNSUPPORTED, "method \"%s\" is for posteriors of family %s, this one's is %s",
         c.method.name, words_of(c.method.families), words_of(family_of(c.family, c.rank)));
  Needs needs = 0, has = 0;
  for_each_part(c, use, [&](const Part& part) { needs |= part.needs, has |= part.has; });
  const Needs missing = needs & ~has, first = missing & (0 - missing);
  if (missing == 0) return;
  Part needing{};
  for_each_part(c, use, [&](const Part& part) {
    if (!needing.text && (part.needs & first) != 0) needing = part;
  });
  const Ability& ability = abilities[std::countr_zero(first)];
  const char* const connective = ability.status == Status::ERROR_UNSUPPORTED ? "but" : "expected";
  fail(ability.status, "%s, %s %s", filled(needing.text, c).c_str(), connective,
       filled(ability.text, c).c_str());
}

void check_sums(const Combination& c) {
  if (intended_use(c) == Use::stream)
    fail(Status::ERROR_UNSUPPORTED,
         "method \"%s\" does not work on shards of the data: a stream's observations depend on each other",
         c.method.name);
}

void check_together(Use use) {
  if (use == Use::stream || use == Use::rows)
    fail(Status::ERROR_UNSUPPORTED,
         "the optimizer has a communicator, but %s are one process's alone: remove its communicator first",
         use == Use::stream ? "streams" : "steps on rows");
}

void check_laplace_family(Family family) {
  if (!contains(Families::laplaces, family_of(family, 0)))
    fail(Status::ERROR_UNSUPPORTED,
         "Laplace's approximation is for low-rank, diagonal (rank 0), full, layerwise-full and "
         "Kronecker-factored posteriors");
}

}  // namespace bdl
