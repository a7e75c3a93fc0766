// Optimizer steps against the step of docs/theory/natural-gradients.md, "SLANG" written in dense
// matrices: ranks 0 to D, the full family, momentum, decay, prior groups; on the caller's rows and on
// minibatches of a network.
#include "support/likelihoods.hpp"
#include "support/naive_network.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index data_size = 50, steps = 20;
const std::vector<Index> sizes{2, 3, 1};  // D = 13
constexpr Index dimension = 13;

Dense mean_of(const Optimizer<double>& optimizer) {
  return column_of(std::as_const(*optimizer.posterior()).mean());
}

/// Weights have precision 0.7, biases 0.2.
Dense grouped_prior() {
  Dense out(dimension, 1, 0.7);
  const auto network = make_network<double>(sizes, gaussian(1, {1}));
  for (const ParameterBlock& block : network->blocks())
    for (Index i = 0; block.is_bias && i < block.size(); ++i) out(block.offset + i, 0) = 0.2;
  return out;
}

Options base_options(double decay, double momentum) {
  Options options = plain_options();
  options.learning_rate = 0.05;
  options.curvature_rate = 0.2;
  options.schedule = ScheduleKind::power;
  options.decay = decay;
  options.momentum = momentum;
  options.prior_precision = 0.7;
  options.bias_prior_precision = 0.2;
  options.initial_precision = 1.5;
  options.guard = 0;  // which the spec's step has none of
  return options;
}

struct Setting {
  Index rank;  // -1: full family
  double decay, momentum;
};
constexpr Setting settings[] = {{0, 0, 0},   {0, 0.51, 0.9}, {1, 0.51, 0.9}, {4, 0, 0.9},
                                {4, 0.6, 0}, {13, 0, 0.9},   {-1, 0.51, 0.9}};

std::unique_ptr<Optimizer<double>> make_optimizer(const Options& options, Index rank,
                                                  const Likelihood& likelihood) {
  std::shared_ptr<Posterior<double>> q =
      rank < 0 ? std::shared_ptr<Posterior<double>>(std::make_shared<FullPosterior<double>>(dimension))
               : make_posterior<double>(dimension, rank);
  auto optimizer = std::make_unique<Optimizer<double>>(make_network<double>(sizes, likelihood), q,
                                                       find_method("slang"), data_size);
  optimizer->set_options(options);
  initialize(*optimizer);
  return optimizer;
}

double rate(double value, double decay, Index t) {
  return decay == 0 ? value : value / (1 + std::pow(static_cast<double>(t), decay));
}

void steps_on_rows_are_those_of_the_spec(void**) {
  for (const Setting& setting : settings)
    for (const auto method : {EigenMethod::gram, EigenMethod::outer}) {
      Options options = base_options(setting.decay, setting.momentum);
      options.eigen_method = method;
      const auto optimizer = make_optimizer(options, setting.rank, gaussian(1, {1}));
      ReferenceStep reference(setting.rank, mean_of(*optimizer), 1.5, grouped_prior(), setting.momentum);
      Random random(21);
      for (Index t = 1; t <= steps; ++t) {
        const Index count = 1 + t % 5;
        const Dense rows = random.normal(dimension, count, 0.5);
        fill(rows_to_fill(*optimizer, count), rows);
        step_on_rows(*optimizer);
        const double scale = static_cast<double>(data_size) / static_cast<double>(count);
        reference.take(scale * (rows * Dense(count, 1, 1)), scale * (rows * transposed(rows)),
                       rate(0.05, setting.decay, t), rate(0.2, setting.decay, t));
        assert_close("precision", dense_precision(*optimizer->posterior()), reference.precision(), 1e-10);
        assert_close("mean", mean_of(*optimizer), reference.mean, 1e-10);
      }
      assert_close("momentum", column_of(optimizer->averages.momentum.values()), reference.momentum, 1e-10);
      assert_int_equal(optimizer->state.step, steps);
    }
}

/// sum_is of gradients and of outer products, from the samples of the documented stream.
struct MinibatchSums {
  Dense gradient{dimension, 1}, curvature{dimension, dimension};

  MinibatchSums(const Optimizer<double>& optimizer, const Likelihood& likelihood, const Dense& x,
                const Dense& y) {
    const Options& options = optimizer.options();
    Scratch scratch;
    Padded<double> thetas(Dense(dimension, options.samples));
    sample(*optimizer.posterior(),
           {static_cast<std::uint64_t>(options.seed), Stream::posterior_sample,
            static_cast<std::uint64_t>(optimizer.state.step), 0},
           thetas.view(), scratch);
    const NaiveNetwork naive{sizes, BDL_TANH, true};
    for (Index s = 0; s < options.samples; ++s)
      for (Index i = 0; i < x.cols; ++i) {
        const Dense theta = columns_of(thetas.dense(), s, 1), input = columns_of(x, i, 1),
                    target = columns_of(y, i, 1);
        const Dense f = naive.outputs(theta, input);
        Dense seed(1, 1), root(1, 1);
        double coefficient = 0;
        likelihood.gradient(f.values.data(), target.values.data(), seed.values.data());
        likelihood.hessian_root(f.values.data(), target.values.data(), 0, root.values.data(), &coefficient);
        const Dense row = naive.row(theta, input, seed);
        const Dense curved = options.curvature == EstimateKind::mc_ef ? row : naive.row(theta, input, root);
        gradient = gradient + row;
        curvature = curvature + curved * transposed(curved);
      }
  }
};

/// Minibatches of a network: scale N / (M S), the posterior's own samples, both kinds of curvature.
void steps_on_minibatches_are_those_of_the_spec(void**) {
  for (const Likelihood& likelihood :
       {gaussian(1, {4}), Likelihood(BDL_BERNOULLI, 1), Likelihood(BDL_POISSON, 1)})
    for (const auto curvature : {EstimateKind::mc_ef, EstimateKind::mc_ggn})
      for (const Index rank : {Index{0}, Index{3}, Index{-1}}) {
        Options options = base_options(0.51, 0.9);
        options.curvature = curvature;
        options.samples = 3;
        options.seed = 8;
        const auto optimizer = make_optimizer(options, rank, likelihood);
        ReferenceStep reference(rank, mean_of(*optimizer), 1.5, grouped_prior(), 0.9);
        Random random(22);
        for (Index t = 1; t <= 8; ++t) {
          const Index examples = 3 + t % 3;
          const Dense x = random.normal(2, examples);
          Dense y(1, 0);
          for (Index i = 0; i < examples; ++i) y = beside(y, random_targets(likelihood, random));
          const MinibatchSums sums(*optimizer, likelihood, x, y);
          const double scale = static_cast<double>(data_size) / static_cast<double>(examples * 3);
          step_on(*optimizer, x, y);
          reference.take(scale * sums.gradient, scale * sums.curvature, rate(0.05, 0.51, t),
                         rate(0.2, 0.51, t));
          assert_close("precision", dense_precision(*optimizer->posterior()), reference.precision(), 1e-9);
          assert_close("mean", mean_of(*optimizer), reference.mean, 1e-9);
        }
      }
}

/// Rank D is the full family: same samples are needed, so on the caller's rows.
void rank_d_is_the_full_family(void**) {
  const auto low_rank = make_optimizer(base_options(0, 0.9), dimension, gaussian(1, {1})),
             full = make_optimizer(base_options(0, 0.9), -1, gaussian(1, {1}));
  Random random(23);
  for (Index t = 0; t < steps; ++t) {
    const Dense rows = random.normal(dimension, 20, 0.5);
    for (Optimizer<double>* optimizer : {low_rank.get(), full.get()}) {
      fill(rows_to_fill(*optimizer, 20), rows);
      step_on_rows(*optimizer);
    }
    assert_close("precision", dense_precision(*low_rank->posterior()), dense_precision(*full->posterior()),
                 1e-9);
    assert_close("mean", mean_of(*low_rank), mean_of(*full), 1e-9);
  }
}

/// No model, and a prior fixed per parameter before the first step initialises the posterior.
template <class T>
void a_fixed_prior_holds_from_the_first_step(void**) {
  Random random(24);
  const Dense prior = random.uniform(6, 1, 0.1, 5);
  Optimizer<T> optimizer(nullptr, make_posterior<T>(6, 2), find_method("slang"), data_size);
  optimizer.set_options(base_options(0, 0.9));
  optimizer.prior().fix(Padded<T>(prior).column());
  ReferenceStep reference(2, Dense(6, 1), 1.5, prior, 0.9);
  for (Index t = 0; t < steps; ++t) {
    const Dense rows = random.normal(6, 3, 0.5);
    fill(rows_to_fill(optimizer, 3), rows);
    step_on_rows(optimizer);
    const double scale = static_cast<double>(data_size) / 3;
    reference.take(scale * (rows * Dense(3, 1, 1)), scale * (rows * transposed(rows)), 0.05, 0.2);
  }
  const double tolerance = sizeof(T) == 8 ? 1e-10 : 1e-3;
  assert_true(optimizer.prior().is_fixed());
  assert_close("precision", dense_precision(*optimizer.posterior()), reference.precision(), tolerance);
  assert_close("mean", column_of(std::as_const(*optimizer.posterior()).mean()), reference.mean, tolerance);
}

}  // namespace

int test_slang_steps() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(steps_on_rows_are_those_of_the_spec),
      cmocka_unit_test(steps_on_minibatches_are_those_of_the_spec),
      cmocka_unit_test(rank_d_is_the_full_family),
      cmocka_unit_test(a_fixed_prior_holds_from_the_first_step<float>),
      cmocka_unit_test(a_fixed_prior_holds_from_the_first_step<double>),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
