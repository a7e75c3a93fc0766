// Missing targets are NaN: a row without any lets time pass and nothing else; one that lacks some is the same
// as in a model without those outputs.
#include "support/streams.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

Options drifting(Rule rule, EstimateKind estimate) {
  Options options = stream_options(rule, estimate);
  options.transition = 0.97;
  options.process_noise = 0.02;
  return options;
}

/// Two hidden units, a row observed first, then this one.
template <class T>
void assert_skipped(const FamilyKind& kind, const Likelihood& likelihood, EstimateKind estimate,
                    const Dense& y) {
  const auto model = make_network<T>({2, 2, likelihood.outputs()}, likelihood);
  const Options options = drifting(Rule::bong, estimate);
  Learner<T> observed(model, random_prior<T>(kind, model->parameters(), 71, 4), options),
      moved(model, random_prior<T>(kind, model->parameters(), 71, 4), options);
  const StreamData data(likelihood, 2, 2, 72);
  for (Learner<T>* learner : {&observed, &moved})
    learner->observe(rows_of(data.x, 0, 1), rows_of(data.y, 0, 1));
  const PrequentialSums before = observed.optimizer.state.prequential;
  const Dense score = observed.observe(rows_of(data.x, 1, 1), y);
  moved.forecast(1);
  assert_true(std::isnan(score(0, 0)));
  assert_same_belief(observed, moved);
  const TrainingState& state = observed.optimizer.state;
  assert_true(state.prequential.examples == before.examples && state.prequential.targets == before.targets);
  assert_true(state.prequential.log_density == before.log_density && state.prequential.error == before.error);
  assert_true(state.step == 1 && !state.is_ahead);
  // The next row has its own time again; a row missed after a forecast has had its time.
  observed.observe(rows_of(data.x, 0, 1), rows_of(data.y, 0, 1));
  moved.forecast(1);
  moved.observe(rows_of(data.x, 0, 1), rows_of(data.y, 0, 1));
  observed.forecast(1);
  observed.observe(rows_of(data.x, 1, 1), y);
  moved.forecast(1);
  assert_same_belief(observed, moved);
}

template <class T>
void rows_without_targets_let_time_pass(void**) {
  Likelihood correlated(BDL_GAUSSIAN, 2);
  Dense covariance = 0.4 * identity(2);
  covariance(0, 1) = covariance(1, 0) = 0.1;
  correlated.set_noise_covariance(NoiseCovariance(MatrixView<double>(covariance.values.data(), 2, 2)));
  const Dense none(1, 2, not_a_number);
  Dense some = none;
  some(0, 1) = 1;
  for (const FamilyKind& kind : family_kinds) {
    assert_skipped<T>(kind, gaussian(2, {3}), EstimateKind::lin_hess, none);
    assert_skipped<T>(kind, Likelihood(BDL_BERNOULLI, 2), EstimateKind::mc_ef, none);
    assert_skipped<T>(kind, Likelihood(BDL_POISSON, 2), EstimateKind::lin_ef, none);
    assert_skipped<T>(kind, Likelihood(BDL_CATEGORICAL, 3), EstimateKind::mc_ggn, Dense(1, 1, not_a_number));
    // Likelihoods and estimates that read all outputs of a row together need all targets of it.
    assert_skipped<T>(kind, correlated, EstimateKind::lin_hess, some);
    if (kind.rank == 0) assert_skipped<T>(kind, gaussian(2, {3}), EstimateKind::mc_hess, some);
  }
}

/// A missing Gaussian output is one with infinite noise.
void missing_gaussian_outputs_are_outputs_with_infinite_noise(void**) {
  const StreamData data(gaussian(2, {1}), 2, 4, 73);
  for (const FamilyKind& kind : family_kinds)
    for (const Rule rule : rules)
      for (const EstimateKind estimate : estimates) {
        if (estimate == EstimateKind::mc_hess) continue;
        constexpr double nothing = 1e-30;
        const auto model = make_network<double>({2, 2, 2}, gaussian(2, {3, 2})),
                   noisy = make_network<double>({2, 2, 2}, gaussian(2, {3, nothing}));
        const Options options = drifting(rule, estimate);
        Learner<double> missing(model, random_prior<double>(kind, model->parameters(), 74, 4), options),
            unheard(noisy, random_prior<double>(kind, model->parameters(), 74, 4), options);
        Dense y = data.y;
        for (Index t = 0; t < 4; ++t) y(t, 1) = not_a_number;
        const Dense scores = missing.observe(data.x, y), noisy_scores = unheard.observe(data.x, data.y);
        assert_close_belief(missing, unheard, 1e-12);
        for (Index t = 0; t < 4; ++t)
          assert_near("score", scores(t, 0),
                      noisy_scores(t, 0) - std::log(nothing / (2 * std::numbers::pi)) / 2, 1e-11);
        const PrequentialSums& sums = missing.optimizer.state.prequential;
        assert_true(sums.examples == 4 && sums.targets == 4);
      }
}

/// Normals of parameter numbers that stay when other parameters leave; for diagonal covariances.
class NumberedDraws final : public DrawSource<double> {
 public:
  explicit NumberedDraws(std::vector<Index> numbers) : numbers_(std::move(numbers)) {}
  void parameters(const Posterior<double>& q, DrawPlace place, MatrixView<double> thetas, Scratch&) override {
    const Dense covariance = inverse_of(dense_precision(q));
    for (Index i = 0; i < q.dimension(); ++i)
      for (Index s = 0; s < thetas.cols; ++s) {
        const Index seed = numbers_[static_cast<std::size_t>(i)] + 100 * s + 1000 * place.step;
        thetas(i, s) = q.mean()[static_cast<std::size_t>(i)] +
                       std::sqrt(covariance(i, i)) * Random(static_cast<std::uint64_t>(seed)).normal();
      }
  }
  void probes(const Posterior<double>&, DrawPlace, MatrixView<double>) override {}

 private:
  std::vector<Index> numbers_;
};

/// One dense layer: W of output 0, W of output 1, b. Outputs have parameters of their own.
void missing_outputs_are_left_out(void**) {
  const std::vector<Index> all{0, 1, 2, 3, 4, 5}, kept{0, 1, 4};
  for (const bdl_likelihood likelihood : {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_POISSON})
    for (const FamilyKind& kind : {diagonal_kind, full_kind, diagonal_moment_kind, full_moment_kind})
      for (const Rule rule : rules)
        for (const EstimateKind estimate : estimates) {
          if (estimate == EstimateKind::mc_hess) continue;
          // Plain gradients in natural parameters couple what is independent through the mean: it is 0 here.
          Options options = stream_options(rule, estimate);
          options.iterations = 1;
          const auto unit = [&](Index size) {
            auto q = random_prior<double>(kind, size, 75);
            q->set_isotropic(2);
            std::ranges::fill(q->mean(), 0.0);
            return q;
          };
          Learner<double> whole(make_network<double>({2, 2}, Likelihood(likelihood, 2)), unit(6), options),
              part(make_network<double>({2, 1}, Likelihood(likelihood, 1)), unit(3), options);
          whole.optimizer.set_draws(std::make_shared<NumberedDraws>(all));
          part.optimizer.set_draws(std::make_shared<NumberedDraws>(kept));
          const StreamData data(Likelihood(likelihood, 2), 2, 3, 76);
          Dense y = data.y;
          for (Index t = 0; t < 3; ++t) y(t, 1) = not_a_number;
          const Dense scores = whole.observe(data.x, y);
          assert_close("scores", scores, part.observe(data.x, columns_of(y, 0, 1)), 1e-12);
          const Dense mean = whole.mean(), precision = whole.precision();
          for (std::size_t i = 0; i < kept.size(); ++i) {
            assert_near("mean", mean(kept[i], 0), part.mean()(static_cast<Index>(i), 0), 1e-12);
            for (std::size_t j = 0; j < kept.size(); ++j)
              assert_near("precision", precision(kept[i], kept[j]),
                          part.precision()(static_cast<Index>(i), static_cast<Index>(j)), 1e-12);
          }
          for (const Index i : {2, 3, 5}) assert_true(mean(i, 0) == 0);
        }
}

/// A block without its incomplete rows.
void rows_without_targets_leave_their_block(void**) {
  const Likelihood likelihood(BDL_CATEGORICAL, 3);
  Options options = drifting(Rule::blr, EstimateKind::lin_hess);
  options.block = 0;
  const auto model = make_network<double>({2, 2, 3}, likelihood);
  Learner<double> gaps(model, random_prior<double>(low_rank_kind, model->parameters(), 77, 4), options),
      dense(model, random_prior<double>(low_rank_kind, model->parameters(), 77, 4), options);
  const StreamData data(likelihood, 2, 4, 78);
  Dense y = data.y;
  y(0, 0) = y(2, 0) = not_a_number;
  const Dense scores = gaps.observe(data.x, y);
  const auto kept = [](const Dense& a) {
    return transposed(beside(transposed(rows_of(a, 1, 1)), transposed(rows_of(a, 3, 1))));
  };
  const Dense expected = dense.observe(kept(data.x), kept(data.y));
  assert_true(std::isnan(scores(0, 0)) && std::isnan(scores(2, 0)));
  assert_true(scores(1, 0) == expected(0, 0) && scores(3, 0) == expected(1, 0));
  assert_same_belief(gaps, dense);
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_missing_targets() {
  const CMUnitTest tests[] = {
      BOTH(rows_without_targets_let_time_pass),
      cmocka_unit_test(missing_gaussian_outputs_are_outputs_with_infinite_noise),
      cmocka_unit_test(missing_outputs_are_left_out),
      cmocka_unit_test(rows_without_targets_leave_their_block),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
