// VOGN, OGN and IVON: where they end, where they start, and that no curvature makes IVON's precision
// negative. (Their recursions: the golden file vogn.json.)
#include "steps/averages.hpp"
#include "support/likelihoods.hpp"
#include "support/noisy_networks.hpp"
#include "support/steps.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

using Vector = std::vector<double>;

constexpr Index inputs = 3, examples = 20;
constexpr double delta = 2, noise_precision = 1.5;

struct Regression {
  Dense x, y;
  Regression() : y(1, examples) {
    Random random(5);
    x = random.normal(inputs, examples);
    for (Index i = 0; i < examples; ++i) y(0, i) = x(0, i) - 0.3 * x(1, i) + 0.5 * random.normal();
  }
};

struct Learner {
  std::shared_ptr<Network<double>> model;
  std::shared_ptr<Posterior<double>> q;
  Optimizer<double> optimizer;

  Learner(const char* method, const char* text, bdl_likelihood likelihood, const char* options)
      : model(described_network<double>(text, likelihood)),
        q(make_posterior<double>(model->parameters(), 0)),
        optimizer(model, q, find_method(method), examples) {
    if (likelihood == BDL_GAUSSIAN) model->likelihood.set_noise_precision({&noise_precision, 1});
    Options chosen = optimizer.options();
    chosen.learn_prior = chosen.learn_noise = 0;
    chosen.prior_precision = delta;
    chosen.prior_scaling = PriorScaling::unit;
    set_option_text(chosen, options);
    optimizer.check_options(chosen);
    optimizer.set_options(chosen);
  }
  Dense precision() const {
    Dense out(q->dimension(), 1);
    std::as_const(*q).precision_diagonal(out.values);
    return out;
  }
};

/// A linear Gaussian model without noise in its curvature: precision N h / tau + delta, and the mode of the
/// tempered posterior, whatever momentum and damping are.
void the_tempered_posterior_is_the_fixed_point(void**) {
  const Regression data;
  constexpr double tau = 0.4;
  for (const char* damping : {"damping=0", "damping=0.05 damping_in=step"}) {
    Learner learner("vogn", "input 3; dense 1 nobias", BDL_GAUSSIAN,
                    (std::string("curvature=lin-hess kl_weight=0.4 learning_rate=0.05 momentum=0.8 "
                                 "curvature_rate=0.3 start_share=0 schedule=power decay=0 ") +
                     damping)
                        .c_str());
    for (int step = 0; step < 3000; ++step) step_on(learner.optimizer, data.x, data.y);
    const Dense information = noise_precision * (data.x * transposed(data.x)),
                mode = inverse_of(information + tau * delta * identity(inputs)) *
                       (noise_precision * (data.x * transposed(data.y)));
    Dense expected = diagonal_of(information);
    for (double& value : expected.values) value = value / tau + delta;
    assert_close("precision", learner.precision(), expected, 1e-9);
    assert_close("mean", column_of(std::as_const(*learner.q).mean()), mode, 1e-9);
  }
}

/// Damping of both is an extra precision N gamma / tau, and pulls the mean nowhere.
void damping_of_both_is_a_precision(void**) {
  const Regression data;
  const auto train = [&](const char* damping) {
    Learner learner("vogn", "input 3; dense 1 nobias", BDL_GAUSSIAN,
                    (std::string("curvature=lin-hess learning_rate=0.05 curvature_rate=0.3 start_share=0 "
                                 "schedule=power decay=0 damping=0.05 damping_in=") +
                     damping)
                        .c_str());
    for (int step = 0; step < 3000; ++step) step_on(learner.optimizer, data.x, data.y);
    return std::pair(learner.precision(), column_of(std::as_const(*learner.q).mean()));
  };
  const auto step = train("step"), both = train("both");
  Dense raised = step.first;
  for (double& value : raised.values) value += examples * 0.05;
  assert_close("precision", both.first, raised, 1e-9);
  assert_close("mean", both.second, step.second, 1e-9);
}

/// The first step without a curvature sees the minibatch at the mean, and takes its squares as they are.
void the_first_minibatch_gives_the_first_curvature(void**) {
  const Regression data;
  Learner learner("vogn", "input 3; dense 1 nobias", BDL_GAUSSIAN,
                  "initial_curvature=0 start_share=0 kl_weight=1 kl_warmup=0 damping=0 curvature_rate=0.01");
  initialize(learner.optimizer);
  const Dense w = column_of(std::as_const(*learner.q).mean());
  step_on(learner.optimizer, data.x, data.y);
  Dense expected(inputs, 1, delta);
  for (Index i = 0; i < examples; ++i) {
    const double residual = data.y(0, i) - dot(columns_of(data.x, i, 1), w);
    for (Index k = 0; k < inputs; ++k)
      expected(k, 0) += std::pow(noise_precision * residual * data.x(k, i), 2);
  }
  assert_close("precision", learner.precision(), expected, 1e-12);
}

/// Or what is asked for: of the curvature, or of the whole precision.
void a_start_can_be_given(void**) {
  const Regression data;
  for (const auto& [options, curvature] :
       {std::pair("initial_curvature=3", 3.0), std::pair("initial_precision=62", 3.0)}) {
    Learner learner("ivon", "input 3; dense 1 nobias", BDL_GAUSSIAN,
                    (std::string("curvature_rate=0 start_share=0 ") + options).c_str());
    step_on(learner.optimizer, data.x, data.y);
    assert_close("precision", learner.precision(), Dense(inputs, 1, examples * curvature + delta), 1e-12);
  }
}

/// A step leaves at least half of the curvature s + reg (Lin, Schmidt and Khan 2020): a million steps by
/// random curvatures of any sign and size.
void no_curvature_makes_ivon_indefinite(void**) {
  constexpr Index dimension = 1000;
  Random random(17);
  auto from = make_posterior<double>(dimension, 0), to = make_posterior<double>(dimension, 0);
  from->set_isotropic(50);
  Options options;
  options.descent = DescentOption::ivon;
  options.momentum = 0;
  options.initial_curvature = 1;
  const Vector gradient(dimension), prior(dimension, delta);
  StepRig<double> rig(prior, options);
  Vector precision(dimension), before(dimension), h(dimension);
  for (Index step = 0; step < 1000; ++step) {
    for (double& value : h) value = std::pow(10, 6 * random.normal()) * random.normal();
    rig.options.curvature_rate = std::pow(10, -3 * random.uniform());
    from->precision_diagonal(before);
    Evidence<double> evidence;
    evidence.gradient = gradient;
    evidence.curvature.diagonal = h;
    rig.step(StepKind::ivon, *from, {0.1, 0, 1, 1}, 50, step + 1, evidence, *to, step == 0);
    to->precision_diagonal(precision);
    for (std::size_t i = 0; i < precision.size(); ++i)
      if (!(precision[i] >= 0.4999999 * before[i]))
        fail_msg("step %lld: precision %g after %g, by curvature %g", static_cast<long long>(step),
                 precision[i], before[i], h[i]);
    from->swap(*to);
    if (step % 20 == 19) {  // from where there is something to lose
      from->set_isotropic(50);
      rig.averages.forget();
    }
  }
}

/// Groups of draws: other steps than without, and the same on any number of threads.
void groups_draw_for_themselves(void**) {
  const Regression data;
  const auto train = [&](const char* options) {
    Learner learner("vogn", "input 3; dense 4; tanh; dense 1", BDL_GAUSSIAN, options);
    for (int step = 0; step < 5; ++step) step_on(learner.optimizer, data.x, data.y);
    return column_of(std::as_const(*learner.q).mean());
  };
  const Dense one = train("sample_groups=1 threads=1"), four = train("sample_groups=4 threads=1");
  assert_true(max_abs(one - four) > 1e-6);
  assert_same("threads", train("sample_groups=4 threads=3"), four);
  assert_same("more groups than examples", train("sample_groups=50 threads=1"),
              train("sample_groups=20 threads=1"));
}

/// Copies of one example, at draws that are all the mean: outputs differ by the layers' noise alone, and no
/// draw of a group may have that of another draw.
void groups_have_layer_noise_of_their_own(void**) {
  Learner learner("vogn", "input 3; dense 16; dropout 0.5; dense 1", BDL_GAUSSIAN,
                  "samples=3 sample_groups=2");
  learner.q->set_isotropic(1e30);
  Random random(8);
  const Dense mean = random.normal(learner.q->dimension(), 1), one = random.normal(inputs, 1);
  std::ranges::copy(mean.values, learner.q->mean().begin());
  Dense x(inputs, 4), y(1, 4);
  for (Index i = 0; i < x.cols; ++i) std::ranges::copy(one.values, x.values.begin() + i * inputs);
  EvidenceEstimator<double> estimator(*learner.model);
  StreamDraws<double> draws;
  Scratch scratch;
  const Minibatch<double> batch{{x.values.data(), inputs, 4}, {y.values.data(), 1, 4}};
  const Evidence<double> evidence =
      estimator.estimate(*learner.q, batch, learner.optimizer.options(), draws, scratch);
  std::vector<double> outputs(evidence.outputs.data, evidence.outputs.data + 12);
  std::ranges::sort(outputs);
  for (std::size_t i = 1; i < outputs.size(); ++i) assert_true(outputs[i] - outputs[i - 1] > 1e-9);
}

void what_does_not_go_together_is_refused(void**) {
  const auto refused = [](const char* method, const char* options, const char* word) {
    expect_error(Status::ERROR_UNSUPPORTED, word,
                 [&] { Learner learner(method, "input 3; dense 1 nobias", BDL_GAUSSIAN, options); });
  };
  refused("vogn", "curvature=mc-hess", "never negative");
  refused("vogn", "mean_update=unprojected", "unprojected");
  refused("bbb", "descent=vogn", "rule \"blr\"");
  refused("bbb", "sample_groups=2", "sample_groups");
  for (const char* options : {"initial_curvature=0", "kl_weight=0", "kl_warmup=0.1 kl_start=0"})
    expect_error(Status::ERROR_INVALID_ARGUMENT, "is 0",
                 [&] { Learner learner("ivon", "input 3; dense 1 nobias", BDL_GAUSSIAN, options); });
}

}  // namespace

int test_newton_descent() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(the_tempered_posterior_is_the_fixed_point),
      cmocka_unit_test(damping_of_both_is_a_precision),
      cmocka_unit_test(the_first_minibatch_gives_the_first_curvature),
      cmocka_unit_test(a_start_can_be_given),
      cmocka_unit_test(no_curvature_makes_ivon_indefinite),
      cmocka_unit_test(groups_draw_for_themselves),
      cmocka_unit_test(groups_have_layer_noise_of_their_own),
      cmocka_unit_test(what_does_not_go_together_is_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
