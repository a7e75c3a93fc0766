// Option indefinite = improved in batches and streams: where it ends, that nothing is shortened, and what it
// does not go with (docs/theory/guard.md, "The improved Bayesian learning rule").
#include "support/streams.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr double delta = 2, noise_precision = 1.5;

struct Trained {
  Dense precision;
  Index shortened;
};

/// Steps of rule blr with constant rates from a precision of `start`, all data in each.
Trained train(const FamilyKind& kind, const std::string& options, double start, const Dense& x,
              const Dense& y, int steps = 2000) {
  const auto model = make_network<double>({3, 1}, gaussian(1, {noise_precision}), false);
  const auto q = random_prior<double>(kind, 3, 7, start);
  Optimizer<double> optimizer(model, q, find_method("slang"), x.cols);
  Options chosen = optimizer.options();
  chosen.learn_prior = chosen.learn_noise = 0;
  chosen.prior_precision = delta;
  chosen.prior_scaling = PriorScaling::unit;
  set_option_text(chosen,
                  ("momentum=0 samples=1 learning_rate=0.05 curvature_rate=0.3 schedule=power decay=0 "
                   "start_share=0 curvature=mc-hess " +
                   options)
                      .c_str());
  optimizer.check_options(chosen);
  optimizer.set_options(chosen);
  for (int step = 0; step < steps; ++step) step_on(optimizer, x, y);
  return {dense_precision(*q), optimizer.state.shortened_steps};
}

/// A linear Gaussian model: its Hessian is the same at every draw, and the precision ends at information plus
/// prior however far it starts.
void conjugate_models_end_where_they_did(void**) {
  Random random(5);
  const Dense x = random.normal(3, 20), y = random.normal(1, 20);
  const Dense exact = noise_precision * (x * transposed(x)) + delta * identity(3);
  for (const FamilyKind& kind : {diagonal_kind, full_kind})
    for (const double start : {0.5, 40.0, 1000.0}) {
      const Trained improved = train(kind, "indefinite=improved", start, x, y),
                    shortened = train(kind, "indefinite=shorten", start, x, y);
      const Dense expected = kind.family == Family::low_rank ? diagonal_matrix(diagonal_of(exact)) : exact;
      assert_close("improved", improved.precision, expected, 1e-9);
      assert_close("shortened", shortened.precision, expected, 1e-9);
      assert_int_equal(improved.shortened, 0);
    }
}

/// automatic is improved with mc-reparam, and in batches with mc-hess of diagonal posteriors; else shorten.
void automatic_takes_what_is_better(void**) {
  Random random(6);
  const Dense x = random.normal(3, 20), y = random.normal(1, 20);
  const auto batch = [&](const FamilyKind& kind, const char* options, const char* choice) {
    return train(kind, std::string(options) + " samples=2 indefinite=" + choice, 0.5, x, y, 5).precision;
  };
  for (const char* estimate : {"mc-hess", "mc-reparam"}) {
    const std::string options = std::string("curvature=") + estimate;
    const Dense automatic = batch(diagonal_kind, options.c_str(), "automatic");
    assert_same("diagonal", automatic, batch(diagonal_kind, options.c_str(), "improved"));
    assert_true(max_abs(automatic - batch(diagonal_kind, options.c_str(), "shorten")) > 1e-6);
  }
  for (const FamilyKind& kind : {full_kind, full_moment_kind, diagonal_moment_kind})
    assert_same(kind.name, batch(kind, "", "automatic"), batch(kind, "", "shorten"));
  const auto model = make_network<double>({3, 1}, Likelihood(BDL_BERNOULLI, 1));
  const auto stream = [&](EstimateKind estimate, Indefinite choice) {
    Options options = stream_options(Rule::bong, estimate);
    options.learning_rate = 1;
    options.indefinite = choice;
    Learner<double> learner(model, random_prior<double>(diagonal_kind, 4, 3), options);
    learner.observe(transposed(x), Dense(20, 1, 1));
    return learner.precision();
  };
  assert_same("mc-hess", stream(EstimateKind::mc_hess, Indefinite::automatic),
              stream(EstimateKind::mc_hess, Indefinite::shorten));
  const Dense pathwise = stream(EstimateKind::mc_reparam, Indefinite::automatic);
  assert_same("mc-reparam", pathwise, stream(EstimateKind::mc_reparam, Indefinite::improved));
  assert_true(max_abs(pathwise - stream(EstimateKind::mc_reparam, Indefinite::shorten)) > 1e-6);
}

template <class T>
void assert_proper(const Posterior<T>& q) {
  std::vector<T> variance(static_cast<std::size_t>(q.dimension()));
  Scratch scratch;
  q.marginal_variance(variance, scratch);
  for (const T value : variance) assert_true(value > 0 && std::isfinite(value));
  assert_true(std::isfinite(q.log_det_covariance()));
}

/// Streams by natural gradients, of classes by a network: Hessians that are indefinite.
template <class T>
void streams_shorten_nothing(void**) {
  Index shortened = 0;
  for (const FamilyKind& kind : {diagonal_kind, full_kind})
    for (const Rule rule : {Rule::bong, Rule::blr})
      for (std::uint64_t seed = 1; seed < 11; ++seed) {
        const Likelihood likelihood(BDL_CATEGORICAL, 3);
        const auto model = make_network<T>({2, 3, 3}, likelihood);
        const StreamData data(likelihood, 2, 6, seed);
        for (const Indefinite choice : {Indefinite::improved, Indefinite::shorten}) {
          Options options = stream_options(rule, EstimateKind::mc_hess);
          options.learning_rate = rule == Rule::bong ? 1 : 0.5;
          options.samples = 1;
          options.block = 3;
          options.indefinite = choice;
          options.seed = static_cast<Index>(seed);
          Learner<T> learner(model, random_prior<T>(kind, model->parameters(), seed, 0.05), options);
          learner.observe(data.x, data.y);
          assert_proper(*learner.q);
          if (choice == Indefinite::improved)
            assert_int_equal(learner.optimizer.state.shortened_steps, 0);
          else
            shortened += learner.optimizer.state.shortened_steps;
        }
      }
  assert_true(shortened > 20);  // something was tested
}

void what_does_not_go_together_is_refused(void**) {
  const auto refused = [](const FamilyKind& kind, const char* options, const char* word) {
    const auto model = make_network<double>({2, 1}, gaussian(1, {1}));
    Optimizer<double> optimizer(model, random_prior<double>(kind, 3, 7), find_method("slang"), 5);
    Options chosen = optimizer.options();
    set_option_text(chosen, options);
    expect_error(Status::ERROR_UNSUPPORTED, word, [&] { optimizer.check_options(chosen); });
  };
  refused(low_rank_kind, "indefinite=improved",
          "diagonal and full precisions take second-order steps: use \"shorten\" or \"error\"");
  refused(full_moment_kind, "indefinite=improved", "diagonal and full precisions");
  refused(diagonal_moment_kind, "indefinite=improved", "diagonal and full precisions");
  refused(full_kind, "indefinite=improved rule=bbb descent=sgd", "natural gradients");
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_improved_rule() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(conjugate_models_end_where_they_did),
      cmocka_unit_test(automatic_takes_what_is_better),
      BOTH(streams_shorten_nothing),
      cmocka_unit_test(what_does_not_go_together_is_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
