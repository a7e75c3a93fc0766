// K-FAC and noisy K-FAC with a Kronecker-factored prior, as one task's posterior is the next one's: exact
// where curvature and prior have one basis, and everywhere else against dense matrices.
#include <unistd.h>

#include "io/checkpoint.hpp"
#include "linalg/blas.hpp"
#include "posterior/families.hpp"
#include "posterior/point_parameters.hpp"
#include "support/likelihoods.hpp"
#include "support/streams.hpp"
#include "support/training.hpp"
#include "train/fit.hpp"

// Last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index examples = 24;
constexpr const char *layers = "input 2; dense 4; tanh; dense 3",
                     *with_points = "input 2 4 4; conv 3 3 pad 1 nobias; batchnorm; relu; flatten; dense 3";

template <class T>
std::shared_ptr<Network<T>> network_of(const char* description, const Likelihood& likelihood) {
  return std::make_shared<Network<T>>(std::make_shared<const Graph<T>>(description), likelihood);
}

template <class T>
std::shared_ptr<Posterior<T>> posterior_for(const Model<T>& model) {
  return create_posterior<T>(
      {Family::kronecker, model.parameters(), 0, {}, {}, point_parameters_of(model), matrices_of(model)});
}

struct Data {
  Dense x, y;
  Data(Index inputs, const Likelihood& likelihood, std::uint64_t seed)
      : x(Random(seed).normal(inputs, examples)), y(likelihood.targets(), examples) {
    Random random(seed + 1);
    for (double& value : y.values)
      value = likelihood.kind() == BDL_CATEGORICAL
                  ? std::floor(static_cast<double>(likelihood.outputs()) * random.uniform())
                  : random.normal();
  }
  Array inputs() const { return bdl_f64(x.values.data(), examples, x.rows); }
  Array targets() const { return bdl_f64(y.values.data(), examples, y.rows); }
};

/// Newton's steps: nothing is averaged, damped, shortened or scheduled.
Options newton_options(const Options& defaults) {
  Options options = defaults;
  options.schedule = ScheduleKind::power;
  options.learn_noise = 0;
  options.learning_rate = options.curvature_rate = 1;
  options.momentum = 0;
  options.damping = options.initial_curvature = 0;
  options.kl_clip = options.kl_warmup = 0;
  options.eigen_interval = 1;
  options.samples = 2;
  return options;
}

/// A posterior of random bases and precisions.
template <class T>
std::shared_ptr<Posterior<T>> random_belief(const Model<T>& model, std::uint64_t seed) {
  const auto q = posterior_for<T>(model);
  Random random(seed);
  auto& blocks = dynamic_cast<BlocksPosterior<T>&>(*q);
  for (Index k = 0; k < blocks.block_count(); ++k) {
    auto* const member = dynamic_cast<KroneckerPosterior<T>*>(&blocks.member(k));
    if (!member) continue;
    const auto turn = [&](MatrixView<T> vectors) {
      const Dense a = random.normal(vectors.rows, vectors.rows);
      const Dense u = eigen_of(a + transposed(a)).vectors;
      for (Index j = 0; j < u.cols; ++j)
        for (Index i = 0; i < u.rows; ++i) vectors(i, j) = static_cast<T>(u(i, j));
    };
    turn(member->input_vectors());
    turn(member->output_vectors());
    for (T& value : std::span(member->precision().data, at(member->dimension())))
      value = static_cast<T>(5 + 20 * random.uniform());
    member->finish();
  }
  for (T& value : q->mean()) value = static_cast<T>(0.3 * random.normal());
  q->set_blank(false);
  return q;
}

Dense mean_of(const Posterior<double>& q) {
  return column_of(q.mean());
}

/// Adds what the data say of a linear layer of 3 inputs and 2 outputs: its precision, and that times the
/// mean.
void add_data(const Data& data, const Likelihood& likelihood, double tau, Dense& precision, Dense& right) {
  for (Index i = 0; i < examples; ++i)
    for (Index o = 0; o < 2; ++o) {
      Dense row(8, 1);
      for (Index j = 0; j < 3; ++j) row(o * 3 + j, 0) = data.x(j, i);
      row(6 + o, 0) = 1;
      const double weight = likelihood.noise_precision(o) / tau;
      precision = precision + weight * (row * transposed(row));
      right = right + (weight * data.y(o, i)) * row;
    }
}

/// Three tasks of a linear layer with Gaussian noise, whose inputs have covariances of other bases: the
/// posterior of all data, which is where the ELBO has its maximum, at which steps by draws stay.
void tasks_of_a_linear_gaussian_model_are_one(void**) {
  const Likelihood likelihood = gaussian(2, {0.5, 3});
  for (const char* const method : {"kfac", "noisy-kfac"})
    for (const double tau : {1.0, 0.25}) {
      const auto network = network_of<double>("input 3; dense 2", likelihood);
      const auto q = posterior_for<double>(*network);
      Dense precision = 0.7 * identity(8), right(8, 1);
      std::shared_ptr<const Posterior<double>> prior;
      for (const std::uint64_t task : {11, 12, 13}) {
        const Data data(3, likelihood, task);
        Optimizer<double> optimizer(network, q, find_method(method), examples);
        Options options = newton_options(optimizer.options());
        options.kl_weight = tau;
        options.prior_precision = 0.7;
        optimizer.set_options(options);
        if (prior) optimizer.set_prior(prior);
        optimizer.set_draws(std::make_shared<AntitheticDraws<double>>());
        for (int step = 0; step < 2; ++step) step_on(optimizer, data.x, data.y);
        add_data(data, likelihood, tau, precision, right);
        assert_close("precision", dense_precision(*q), precision, 1e-11);
        assert_close("mean", mean_of(*q), inverse_of(precision) * right, 1e-10);
        prior = q->clone();
      }
    }
}

/// The factors of the last step, in full.
struct Factors {
  Dense omega, gamma;
};
Factors factors_of(const Optimizer<double>& optimizer, std::size_t k) {
  KroneckerFactors factors;
  const KroneckerFactors& now = optimizer.averages.kfac.now().factors;
  factors.reserve(now.shapes());
  std::ranges::copy(now.values(), factors.values().begin());
  const auto whole = [](MatrixView<double> a) {
    mirror_lower(a);
    return dense_of(ConstMatrixView<double>(a));
  };
  return {whole(factors.omega(k)), whole(factors.gamma(k))};
}

/// Gamma (x) Omega of every layer.
Dense curvature_of(const Optimizer<double>& optimizer) {
  const auto& q = as_blocks(std::as_const(*optimizer.posterior()));
  Dense out(q.dimension(), q.dimension());
  for (Index k = 0; k < q.block_count(); ++k) {
    const MatrixShape& shape = as_kronecker(q.member(k)).shape();
    const Factors f = factors_of(optimizer, at(k));
    for (Index a = 0; a < shape.outputs; ++a)
      for (Index b = 0; b < shape.columns(); ++b)
        for (Index c = 0; c < shape.outputs; ++c)
          for (Index d = 0; d < shape.columns(); ++d)
            out(q.offset(k) + parameter_of(shape, a, b), q.offset(k) + parameter_of(shape, c, d)) =
                f.gamma(a, c) * f.omega(b, d);
  }
  return out;
}

/// Returns the part of a dense matrix that is diagonal in the posterior's basis.
Dense in_basis(const Posterior<double>& posterior, const Dense& whole) {
  const auto& q = as_blocks(posterior);
  Dense out(q.dimension(), q.dimension());
  for (Index k = 0; k < q.block_count(); ++k) {
    const auto& member = as_kronecker(q.member(k));
    const Dense ug = dense_of(member.output_vectors()), uo = dense_of(member.input_vectors());
    const Dense own = sum_over_pairs(member.shape(), ug, uo, [&](Index j, Index i) {
      Dense pair(q.dimension(), 1);
      for (Index o = 0; o < ug.rows; ++o)
        for (Index c = 0; c < uo.rows; ++c)
          pair(q.offset(k) + parameter_of(member.shape(), o, c), 0) = ug(o, i) * uo(c, j);
      return dot(pair, whole * pair);
    });
    for (Index j = 0; j < own.cols; ++j)
      for (Index i = 0; i < own.rows; ++i) out(q.offset(k) + i, q.offset(k) + j) = own(i, j);
  }
  return out;
}

/// Are the eigenvectors those of the whole precision's partial traces?
void assert_joint_basis(const Posterior<double>& posterior, const Dense& whole) {
  const auto& q = as_blocks(posterior);
  for (Index k = 0; k < q.block_count(); ++k) {
    const auto& member = as_kronecker(q.member(k));
    const MatrixShape& shape = member.shape();
    Dense inputs(shape.columns(), shape.columns()), outputs(shape.outputs, shape.outputs);
    const auto place = [&](Index a, Index b) { return q.offset(k) + parameter_of(shape, a, b); };
    for (Index a = 0; a < shape.outputs; ++a)
      for (Index b = 0; b < shape.columns(); ++b) {
        for (Index d = 0; d < shape.columns(); ++d) inputs(b, d) += whole(place(a, b), place(a, d));
        for (Index c = 0; c < shape.outputs; ++c) outputs(a, c) += whole(place(a, b), place(c, b));
      }
    const auto assert_turned = [](const char* what, const Dense& u, const Dense& traces) {
      const Dense turned = transposed(u) * traces * u;
      assert_close(what, turned, diagonal_matrix(diagonal_of(turned)), 1e-10);
    };
    assert_turned("inputs", dense_of(member.input_vectors()), inputs);
    assert_turned("outputs", dense_of(member.output_vectors()), outputs);
  }
}

/// A step where prior and curvature have no basis in common: the gradient of the KL is the whole one, and of
/// all posteriors with the joint eigenvectors the precision is that of the least KL divergence.
void steps_are_those_of_dense_matrices(void**) {
  const Likelihood likelihood(BDL_CATEGORICAL, 3);
  const auto network = network_of<double>(layers, likelihood);
  const Data data(2, likelihood, 5);
  const double tau = 0.5, damping = 0.02, rate = 0.3;
  const auto belief = random_belief<double>(*network, 6), start = random_belief<double>(*network, 7);
  const Dense prior = dense_precision(*belief), before = mean_of(*start);
  const auto run = [&](const std::shared_ptr<Posterior<double>>& q, const Posterior<double>& given) {
    auto optimizer = std::make_unique<Optimizer<double>>(network, q, find_method("kfac"), 10 * examples);
    Options options = newton_options(optimizer->options());
    options.kl_weight = tau;
    options.damping = damping;
    options.learning_rate = rate;
    optimizer->set_options(options);
    optimizer->set_prior(given.clone());
    step_on(*optimizer, data.x, data.y);
    return optimizer;
  };
  const auto centred = belief->clone();  // no slope of the KL
  std::ranges::copy(before.values, centred->mean().begin());
  const Dense gradient =
      column_of(run(start->clone(), *centred)->averages.kfac.now().momentum.first(before.rows));
  const std::shared_ptr<Posterior<double>> q = start->clone();
  const auto optimizer = run(q, *belief);
  const double reg = tau / (10 * examples);
  const Dense m = gradient + reg * (prior * (before - mean_of(*belief))),
              whole = curvature_of(*optimizer) + reg * prior;
  assert_close("slope", column_of(optimizer->averages.kfac.now().momentum.first(before.rows)), m, 1e-12);
  assert_joint_basis(*q, whole);
  const Dense kept = in_basis(*q, whole);
  assert_close("precision", dense_precision(*q), 1 / reg * kept, 1e-10);
  assert_close("mean", mean_of(*q), before - rate * (inverse_of(kept + damping * identity(before.rows)) * m),
               1e-10);
  const Dense difference = mean_of(*q) - mean_of(*belief), covariance = inverse_of(dense_precision(*q));
  double trace = 0;
  for (Index i = 0; i < before.rows; ++i) trace += (prior * covariance)(i, i);
  assert_near("kl", kl_from_prior(*optimizer),
              0.5 * (trace - static_cast<double>(before.rows) + dot(difference, prior * difference) +
                     log_det(dense_precision(*q)) - log_det(prior)),
              1e-9);
}

/// Where steps by draws end: by fixed ones, the mean gradient over them and that of the KL are one, and the
/// precision is that of the curvature there.
void steps_end_where_the_elbo_is_stationary(void**) {
  const Likelihood likelihood(BDL_CATEGORICAL, 3);
  const auto network = network_of<double>(layers, likelihood);
  const Data data(2, likelihood, 15);
  const auto belief = random_belief<double>(*network, 16);
  const std::shared_ptr<Posterior<double>> q = belief->clone();
  Optimizer<double> optimizer(network, q, find_method("noisy-kfac"), examples);
  Options options = newton_options(optimizer.options());
  options.learning_rate = 0.3;
  options.samples = 8;
  optimizer.set_options(options);
  optimizer.set_prior(belief->clone());
  struct SameDraws final : DrawSource<double> {
    void parameters(const Posterior<double>& q, DrawPlace, MatrixView<double> thetas,
                    Scratch& scratch) override {
      sample<double>(q, {3, Stream::user, 0, 0}, thetas, scratch);
    }
    void probes(const Posterior<double>&, DrawPlace, MatrixView<double>) override {}
  };
  optimizer.set_draws(std::make_shared<SameDraws>());
  for (int step = 0; step < 400; ++step) step_on(optimizer, data.x, data.y);
  const auto slope = optimizer.averages.kfac.now().momentum.first(q->dimension());
  assert_true(max_abs(column_of(slope)) < 1e-9);
  assert_true(max_abs(mean_of(*q) - mean_of(*belief)) > 1e-2);
  const Dense whole = static_cast<double>(examples) * curvature_of(optimizer) + dense_precision(*belief);
  assert_joint_basis(*q, whole);
  assert_close("precision", dense_precision(*q), in_basis(*q, whole), 1e-9);
}

/// A blank posterior starts at the prior, and begins with the initial curvature beside its precision.
void a_blank_posterior_starts_from_the_prior(void**) {
  const Likelihood likelihood(BDL_CATEGORICAL, 3);
  const auto network = network_of<double>(layers, likelihood);
  const Data data(2, likelihood, 25);
  const auto belief = random_belief<double>(*network, 26);
  const auto q = posterior_for<double>(*network);
  Optimizer<double> optimizer(network, q, find_method("noisy-kfac"), examples);
  Options options = newton_options(optimizer.options());
  options.initial_curvature = 0.5;
  options.learning_rate = 1e-12;
  options.curvature_rate = 0;
  optimizer.set_options(options);
  optimizer.set_prior(belief->clone());
  initialize(optimizer);
  assert_same("mean", mean_of(*q), mean_of(*belief));
  step_on(optimizer, data.x, data.y);
  const Dense start = dense_precision(*belief) + (0.5 * examples) * identity(q->dimension());
  assert_close("start", column_of(optimizer.initial_precision()), diagonal_of(start), 1e-12);
  assert_close("precision", dense_precision(*q), start, 1e-11);
}

/// Between new eigenvectors the prior stays as it is along the old ones, unless it is another one.
void another_prior_counts_at_once(void**) {
  const Likelihood likelihood(BDL_CATEGORICAL, 3);
  const auto network = network_of<double>(layers, likelihood);
  const Data data(2, likelihood, 35);
  const auto belief = random_belief<double>(*network, 36), other = random_belief<double>(*network, 37);
  const std::shared_ptr<Posterior<double>> q = belief->clone();
  Optimizer<double> optimizer(network, q, find_method("noisy-kfac"), examples);
  Options options = newton_options(optimizer.options());
  options.factor_interval = options.eigen_interval = 3;
  optimizer.set_options(options);
  for (int step = 0; step < 4; ++step) {
    const Posterior<double>& prior = step < 2 ? *belief : *other;
    if (step != 1 && step != 3) optimizer.set_prior(prior.clone());
    step_on(optimizer, data.x, data.y);
    const Dense whole = static_cast<double>(examples) * curvature_of(optimizer) + dense_precision(prior);
    assert_close("precision", dense_precision(*q), in_basis(*q, whole), 1e-10);
  }
  const std::shared_ptr<Posterior<double>> diagonal =
      create_posterior<double>({Family::low_rank, q->dimension()});
  optimizer.set_prior(diagonal);
  step_on(optimizer, data.x, data.y);
  const Dense whole = static_cast<double>(examples) * curvature_of(optimizer) + identity(q->dimension());
  assert_close("diagonal", dense_precision(*q), in_basis(*q, whole), 1e-10);
}

template <class T>
std::shared_ptr<Optimizer<T>> reloaded(const std::shared_ptr<Network<T>>& network, const Optimizer<T>& of) {
  char path[] = "/tmp/bdl-kronecker-prior-XXXXXX";
  const int file = ::mkstemp(path);
  assert_true(file >= 0 && ::close(file) == 0);
  save_checkpoint<T>(path, {network.get(), of.posterior().get(), &of});
  const TensorArchive archive = read_archive(path);
  std::remove(path);
  return load_checkpoint<T>(archive, nullptr).optimizer;
}

template <class T>
Dense run_in_parts(const char* method, const char* description, bool in_parts, int threads) {
  const Likelihood likelihood(BDL_CATEGORICAL, 3);
  const auto network = network_of<T>(description, likelihood);
  const Data data(network->inputs(), likelihood, 45);
  auto optimizer =
      std::make_shared<Optimizer<T>>(network, posterior_for<T>(*network), find_method(method), examples);
  Options options = optimizer->options();
  options.minibatch = 8;
  options.threads = threads;
  options.total_steps = 12;
  options.fisher = FisherLabels::sampled;
  options.factor_interval = options.eigen_interval = 4;
  optimizer->set_options(options);
  optimizer->set_prior(random_belief<T>(*network, 46));
  fit(*optimizer, data.inputs(), data.targets(), in_parts ? 2 : 4, {});
  if (in_parts) {
    optimizer = reloaded<T>(network, *optimizer);
    fit(*optimizer, data.inputs(), data.targets(), 2, {});
  }
  const Dense mean = column_of(std::as_const(*optimizer->posterior()).mean());
  Padded<T> diagonal(Dense(mean.rows, 1));
  optimizer->posterior()->precision_diagonal(diagonal.column());
  return beside(mean, diagonal.dense());
}

template <class T>
void bits_do_not_depend_on_threads_or_files(void**) {
  for (const char* const method : {"kfac", "noisy-kfac"})
    for (const char* const description : {"input 5; dense 40; tanh; dense 3", with_points}) {
      const Dense whole = run_in_parts<T>(method, description, false, 1);
      assert_same("threads", run_in_parts<T>(method, description, false, 4), whole);
      assert_same("in two parts", run_in_parts<T>(method, description, true, 1), whole);
    }
}

/// Priors that such steps cannot use are refused.
void other_priors_are_refused(void**) {
  const Likelihood likelihood(BDL_CATEGORICAL, 3);
  const auto network = network_of<double>(layers, likelihood);
  const auto q = posterior_for<double>(*network);
  Optimizer<double> optimizer(network, q, find_method("noisy-kfac"), examples);
  const auto belief = random_belief<double>(*network, 56);
  const std::shared_ptr<Posterior<double>> full = create_posterior<double>({Family::full, q->dimension()});
  expect_error(Status::ERROR_UNSUPPORTED, "expected a diagonal one", [&] { optimizer.set_prior(full); });
  const auto turned = network_of<double>("input 4; dense 3; tanh; dense 3", likelihood);
  expect_error(Status::ERROR_UNSUPPORTED, "of its family and kind",
               [&] { optimizer.set_prior(random_belief<double>(*turned, 57)); });
  Options options = optimizer.options();
  options.damping_form = DampingForm::split;
  optimizer.set_prior(belief->clone());
  expect_error(Status::ERROR_UNSUPPORTED, "\"split\" takes diagonal priors",
               [&] { optimizer.set_options(options); });
  Optimizer<double> other(network, q, find_method("noisy-kfac"), examples);
  other.set_options(options);
  expect_error(Status::ERROR_UNSUPPORTED, "\"split\" takes diagonal priors",
               [&] { other.set_prior(belief->clone()); });
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_kronecker_priors() {
  const CMUnitTest tests[] = {cmocka_unit_test(tasks_of_a_linear_gaussian_model_are_one),
                              cmocka_unit_test(steps_are_those_of_dense_matrices),
                              cmocka_unit_test(steps_end_where_the_elbo_is_stationary),
                              cmocka_unit_test(a_blank_posterior_starts_from_the_prior),
                              cmocka_unit_test(another_prior_counts_at_once),
                              BOTH(bits_do_not_depend_on_threads_or_files),
                              cmocka_unit_test(other_priors_are_refused)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
