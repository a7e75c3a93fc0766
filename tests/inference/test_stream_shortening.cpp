// Streams stay positive definite whatever rule, estimate, family and rate: steps that would not are
// shortened, counted, or refused where that is asked for (docs/theory/natural-gradients.md, "Positive
// definiteness and shortening").
#include "support/streams.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// A random small network, data and rate; the prior is N(m, I).
template <class T>
struct Problem {
  Likelihood likelihood;
  std::shared_ptr<Network<T>> model;
  std::shared_ptr<Posterior<T>> prior;
  StreamData data;
  Options options;

  Problem(const FamilyKind& kind, Rule rule, EstimateKind estimate, std::uint64_t seed)
      : likelihood(pick(seed)),
        model(make_network<T>({2, 2, likelihood.outputs()}, likelihood)),
        prior(random_prior<T>(kind, model->parameters(), seed)),
        data(likelihood, 2, 3, seed + 1),
        options(stream_options(rule, estimate)) {
    Random random(seed);
    if (seed % 2 == 0)
      prior->set_diagonal(std::vector<T>(static_cast<std::size_t>(prior->dimension()), T(1)), seed);
    options.learning_rate = std::pow(10, random.uniform() * 2 - 1);  // 0.1 .. 10
    if (rule == Rule::blr) options.learning_rate = random.uniform();
    options.iterations = 1 + static_cast<Index>(seed % 3);
    options.samples = 1 + static_cast<Index>(seed % 4);
    options.probes = static_cast<Index>(seed % 2);
    options.seed = static_cast<Index>(seed);
  }

 private:
  static Likelihood pick(std::uint64_t seed) {
    const bdl_likelihood kinds[] = {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL};
    const bdl_likelihood kind = kinds[seed / 3 % 3];
    return kind == BDL_GAUSSIAN ? gaussian(2, {4}) : Likelihood(kind, kind == BDL_CATEGORICAL ? 3 : 1);
  }
};

template <class T>
void assert_proper(const Posterior<T>& q, const char* family) {
  Padded<T> variance(poison(q.dimension(), 1));
  Scratch scratch;
  q.marginal_variance(variance.column(), scratch);
  for (const T value : variance.column())
    if (!(value > 0 && std::isfinite(value))) fail_msg("%s: variance %g", family, static_cast<double>(value));
  for (const T value : std::as_const(q).mean())
    if (!std::isfinite(value)) fail_msg("%s: mean %g", family, static_cast<double>(value));
  assert_true(std::isfinite(q.log_det_covariance()));
}

enum class Outcome { whole, shortened, diverged };

template <class T>
void assert_unchanged(const Learner<T>& learner, const Posterior<T>& q, const TrainingState& state) {
  assert_same("mean", learner.mean(), column_of(q.mean()));
  assert_same("precision", learner.precision(), dense_precision(q));
  assert_true(learner.optimizer.state.step == state.step);
  assert_true(learner.optimizer.state.prequential.examples == state.prequential.examples);
  assert_true(learner.optimizer.state.shortened_steps == state.shortened_steps);
}

/// Observes row t. An error changes nothing.
template <class T>
Outcome observe_row(Learner<T>& learner, const Problem<T>& p, Index t) {
  const TrainingState before = learner.optimizer.state;
  const auto q = learner.q->clone();
  try {
    learner.observe(rows_of(p.data.x, t, 1), rows_of(p.data.y, t, 1));
  } catch (const Error& error) {
    assert_int_equal(error.status(), Status::ERROR_DIVERGED);
    assert_unchanged(learner, *q, before);
    return std::strstr(error.what(), "would leave") ? Outcome::shortened : Outcome::diverged;
  }
  return learner.optimizer.state.shortened_steps > before.shortened_steps ? Outcome::shortened
                                                                          : Outcome::whole;
}

struct Count {
  int problems = 0, shortened = 0, diverged = 0;
};

/// Each observation either is taken whole or counts once, and is refused by the other option then.
template <class T>
void run(const FamilyKind& kind, Rule rule, EstimateKind estimate, std::uint64_t seed, Count& count) {
  const Problem<T> p(kind, rule, estimate, seed);
  Learner<T> learner(p.model, std::shared_ptr<Posterior<T>>(p.prior->clone()), p.options);
  Options strict = p.options;
  strict.indefinite = Indefinite::error;
  ++count.problems;
  for (Index t = 0; t < 3; ++t) {
    Learner<T> twin(p.model, std::shared_ptr<Posterior<T>>(learner.q->clone()), strict);
    twin.optimizer.state = learner.optimizer.state;
    const Index before = learner.optimizer.state.shortened_steps;
    const Outcome refused = observe_row(twin, p, t), outcome = observe_row(learner, p, t);
    assert_proper(*learner.q, kind.name);
    if (outcome == Outcome::diverged) {  // what iterations make of a rate that is far too large
      ++count.diverged;
      return;
    }
    assert_true(outcome == refused);
    assert_int_equal(learner.optimizer.state.shortened_steps - before, outcome == Outcome::shortened ? 1 : 0);
    count.shortened += outcome == Outcome::shortened ? 1 : 0;
  }
}

/// Natural gradients with a factor of the curvature never lose positive definiteness, nor does bog of
/// low-rank posteriors.
bool never_shortened(const FamilyKind& kind, Rule rule, EstimateKind estimate) {
  const bool natural_family = kind.family == Family::low_rank || kind.family == Family::full;
  const bool natural = rule == Rule::bong || rule == Rule::blr;
  return (natural_family && natural && estimate != EstimateKind::mc_hess) ||
         (kind.rank > 0 && rule == Rule::bog);
}

/// 96 algorithms, 21 random problems each.
template <class T>
void two_thousand_random_problems_stay_proper(void**) {
  Count all;
  for (const FamilyKind& kind : family_kinds)
    for (const Rule rule : rules) {
      Count count;
      for (const EstimateKind estimate : estimates) {
        if (!exists(kind, estimate)) continue;
        Count own;
        for (std::uint64_t seed = 100; seed < 121; ++seed) run<T>(kind, rule, estimate, seed, own);
        if (never_shortened(kind, rule, estimate)) assert_int_equal(own.shortened, 0);
        if (rule != Rule::bbb) assert_int_equal(own.diverged, 0);
        count.shortened += own.shortened;
        all.problems += own.problems;
        all.diverged += own.diverged;
      }
      // The others do lose it where rates are large: something was tested.
      if (!never_shortened(kind, rule, EstimateKind::lin_hess))
        assert_true(count.shortened >= (kind.rank > 0 ? 1 : 10));
    }
  assert_int_equal(all.problems, 96 * 21);
  assert_true(all.diverged < all.problems / 100);
}

/// Batches count, too.
void shortened_minibatch_steps_count(void**) {
  const auto model = make_network<double>({2, 2, 1}, gaussian(1, {4}));
  const auto q = random_prior<double>(diagonal_moment_kind, model->parameters(), 91, 0.01);
  Optimizer<double> optimizer(model, q, find_method("slang"), 1000);
  Options options = optimizer.options();
  options.samples = 1;
  options.curvature_rate = 0.9;
  options.learn_noise = options.learn_prior = 0;
  optimizer.set_options(options);
  const StreamData data(gaussian(1, {1}), 2, 8, 92);
  step_on(optimizer, transposed(data.x), transposed(data.y));
  assert_proper(*q, "vogn");
  assert_int_equal(optimizer.state.shortened_steps, 1);
  options.indefinite = Indefinite::error;
  optimizer.set_options(options);
  const Dense before = dense_precision(*q);
  const Dense wild = 100.0 * data.x;
  expect_error(Status::ERROR_DIVERGED, "would leave", [&] {
    for (int k = 0; k < 20; ++k) step_on(optimizer, transposed(wild), transposed(100.0 * data.y));
  });
  assert_int_equal(optimizer.state.shortened_steps, 1);
  assert_true(max_abs(before) > 0);
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_stream_shortening() {
  const CMUnitTest tests[] = {
      BOTH(two_thousand_random_problems_stay_proper),
      cmocka_unit_test(shortened_minibatch_steps_count),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
