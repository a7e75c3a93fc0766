#include "methods/readers.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace bdl {
namespace {

constexpr const char* all_readers[] = {
#define BDL_READ(option, condition, text) text,
#include "methods/readers.def"
#undef BDL_READ
};

constexpr std::string_view rows_of_readers[] = {
#define BDL_READ(option, condition, text) #option,
#include "methods/readers.def"
#undef BDL_READ
};

constexpr std::string_view rows_of_options[] = {
#define BDL_DOUBLE(name, value, low, high, range, doc) #name,
#define BDL_INT(name, value, low, high, range, doc) #name,
#define BDL_CHOICE(Type, name, value, words, doc) #name,
#include "options/options.def"
#undef BDL_DOUBLE
#undef BDL_INT
#undef BDL_CHOICE
};
static_assert(std::ranges::equal(rows_of_readers, rows_of_options),
              "readers.def has the rows of options.def");

/// True if the combination reads the option of this row, where its method is used as it is meant to be.
bool is_read(Index wanted, const Combination& c) {
  const Options& o = c.options;
  const MethodContext& m = c.model;
  // Streams by rules blr and bbb can go on by fit and step.
  const Use use = intended_use(c);
  const bool exact = c.method.kind == MethodKind::exact, stream = use == Use::stream,
             goes_on = stream && (o.rule == Rule::blr || o.rule == Rule::bbb),
             steps = !exact && (!stream || goes_on), fits = steps && (use == Use::fit || goes_on);
  const bool mean = steps && o.rule == Rule::map, low_rank_moment = c.is(Families::low_rank_moments),
             low_rank_vi = steps && o.rule == Rule::bbb && low_rank_moment,
             diagonal = steps && o.rule == Rule::bbb && c.is(Families::diagonals),
             adam = o.descent == DescentOption::adam && (mean || low_rank_vi || diagonal);
  const bool newton = steps && o.rule == Rule::blr &&
                      (o.descent == DescentOption::vogn || o.descent == DescentOption::ivon),
             kfac = steps && o.rule == Rule::blr && o.descent == DescentOption::kfac,
             natural = steps && !mean && !low_rank_vi && !diagonal && !newton && !kfac,
             curves = natural || newton || kfac;
  const bool linearized = o.curvature == EstimateKind::lin_hess || o.curvature == EstimateKind::lin_ef,
             sampled = !exact && !linearized && o.curvature != EstimateKind::exact_hess;
  const bool noise = m.has_noise();
  Options with_evidence = o;
  with_evidence.scales = ScaleSource::evidence;
  with_evidence.learn_noise = 1;
  const bool may_use_evidence =
                 fits && c.method.kind == MethodKind::batch && learns_by_evidence(with_evidence, m),
             by_evidence = may_use_evidence && learns_by_evidence(o, m);
  const bool is_mode = mean && !c.is(Families::dropout) && m.has_hidden && m.has_matrices &&
                       m.likelihood == BDL_GAUSSIAN && (o.laplace == 0 || o.evidence != EvidenceUse::none);
  const bool is_plain = o.rule == Rule::bog || o.rule == Rule::bbb;
  const bool by_eigenpairs = (natural && !is_plain) || (fits && mean) ||
                             (stream && !is_plain && o.mean_update == MeanUpdateOption::projected);
  const bool projects = by_eigenpairs && c.is(Families::low_rank);
  Index row = 0;
#define BDL_READ(option, condition, text) \
  if (row++ == wanted) return condition;
#include "methods/readers.def"
#undef BDL_READ
  fail(Status::ERROR_INTERNAL, "no readers of option %lld", static_cast<long long>(wanted));
}

bool same_value(const OptionInfo& info, const Options& a, const Options& b) {
  if (info.type == OptionType::real) return a.*info.real == b.*info.real;
  if (info.type == OptionType::integer) return a.*info.integer == b.*info.integer;
  return info.choice(a) == info.choice(b);
}

void copy_value(const OptionInfo& info, const Options& from, Options& to) {
  if (info.type == OptionType::real)
    to.*info.real = from.*info.real;
  else if (info.type == OptionType::integer)
    to.*info.integer = from.*info.integer;
  else
    info.choose(to, info.choice(from));
}

}  // namespace

const char* readers_of(const OptionInfo& info) {
  return all_readers[&info - option_table().data()];
}

void check_read(const Combination& c, const Options& before) {
  Options usual;
  c.method.set_defaults(usual, c.model);
  for (const OptionInfo& info : option_table()) {
    if (same_value(info, c.options, before) || same_value(info, c.options, usual)) continue;
    const Index row = &info - option_table().data();
    Options without = c.options;
    copy_value(info, usual, without);
    // A choice such as descent may be read only by what it was before, or only by what it has become.
    if (is_read(row, c) || is_read(row, {without, c.method, c.model, c.family, c.rank})) continue;
    fail(Status::ERROR_UNSUPPORTED,
         "option \"%s\" is %s, but method \"%s\" does not read it here: it is read by %s", info.name,
         value_text(c.options, info).c_str(), c.method.name, readers_of(info));
  }
}

}  // namespace bdl
