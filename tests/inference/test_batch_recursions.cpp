// Methods "von" and "vogn" on minibatches against the recursions of Khan et al. 2018
// (docs/theory/natural-gradients.md, "VON and VOGN"), and plain batch gradients. With v = 1 / (N (s +
// l)), l = lambda / N, and mean losses: s' = (1 - b) s + b h, mu' = mu - a (g + l mu) / (s' + l).
#include "support/naive_network.hpp"
#include "support/streams.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

const NaiveNetwork naive{{2, 3, 1}, BDL_TANH, true};
constexpr double noise_precision = 2, lambda = 1.5, a = 0.1, b = 0.05;
constexpr Index data_size = 40, batch = 5, steps = 6;

/// Remembers what was drawn.
class RecordedDraws final : public DrawSource<double> {
 public:
  Dense thetas;
  void parameters(const Posterior<double>& q, DrawPlace place, MatrixView<double> out, Scratch&) override {
    Random random(static_cast<std::uint64_t>(place.step));
    const Dense covariance = inverse_of(dense_precision(q));
    for (Index s = 0; s < out.cols; ++s)
      for (Index i = 0; i < out.rows; ++i)
        out(i, s) = q.mean()[static_cast<std::size_t>(i)] + std::sqrt(covariance(i, i)) * random.normal();
    thetas = dense_of(out);
  }
  void probes(const Posterior<double>&, DrawPlace, MatrixView<double>) override {}
};

/// Gradient of -log p(y | theta) of one example.
Dense gradient(const Dense& theta, const Dense& x, double y) {
  const Dense seed(1, 1, noise_precision * (naive.outputs(theta, x)(0, 0) - y));
  return naive.row(theta, x, seed);
}

/// Its second derivatives on the diagonal, by central differences of the gradient.
Dense hessian_diagonal(const Dense& theta, const Dense& x, double y) {
  constexpr double h = 1e-5;
  Dense out(theta.rows, 1);
  for (Index i = 0; i < theta.rows; ++i) {
    Dense high = theta, low = theta;
    high(i, 0) += h, low(i, 0) -= h;
    out(i, 0) = (gradient(high, x, y)(i, 0) - gradient(low, x, y)(i, 0)) / (2 * h);
  }
  return out;
}

struct Recursion {
  Dense mean, s;
  bool improved;  // s + l to second order of its step
  void take(const Dense& g, const Dense& h) {
    constexpr double l = lambda / data_size;
    const Dense change = b * (h - s), before = s;
    s = s + change;
    for (Index i = 0; i < s.rows && improved; ++i)
      s(i, 0) += change(i, 0) * change(i, 0) / (2 * (before(i, 0) + l));
    for (Index i = 0; i < s.rows; ++i) mean(i, 0) -= a * (g(i, 0) + l * mean(i, 0)) / (s(i, 0) + l);
  }
};

void check(const char* method, Indefinite indefinite, double tolerance) {
  const FamilyKind& kind = diagonal_kind;
  const bool exact = std::strcmp(method, "von") == 0;
  const auto model = make_network<double>(naive.sizes, gaussian(1, {noise_precision}));
  const auto q = random_prior<double>(kind, model->parameters(), 81);
  q->set_isotropic(10 * data_size);
  Optimizer<double> optimizer(model, q, find_method(method), data_size);
  Options options = optimizer.options();
  options.samples = 1;
  options.momentum = 0;
  options.initial_precision = 10 * data_size;
  options.start_share = options.damping = options.kl_warmup = 0;
  options.kl_weight = 1;
  options.learning_rate = a;
  options.curvature_rate = b;
  options.prior_precision = lambda;
  options.learn_prior = options.learn_noise = 0;
  options.indefinite = indefinite;
  optimizer.set_options(options);
  const auto draws = std::make_shared<RecordedDraws>();
  optimizer.set_draws(draws);
  Recursion recursion{column_of(std::as_const(*q).mean()), Dense(q->dimension(), 1, 10 - lambda / data_size),
                      exact && indefinite == Indefinite::automatic};
  const StreamData data(gaussian(1, {1}), 2, batch * steps, 82);
  for (Index t = 0; t < steps; ++t) {
    const Dense x = transposed(rows_of(data.x, t * batch, batch)),
                y = transposed(rows_of(data.y, t * batch, batch));
    step_on(optimizer, x, y);
    Dense g(q->dimension(), 1), h(q->dimension(), 1);
    for (Index i = 0; i < batch; ++i) {
      const Dense row = gradient(draws->thetas, columns_of(x, i, 1), y(0, i));
      g = g + 1.0 / batch * row;
      h = h + 1.0 / batch *
                  (exact ? hessian_diagonal(draws->thetas, columns_of(x, i, 1), y(0, i))
                         : diagonal_of(row * transposed(row)));
    }
    recursion.take(g, h);
    Dense precision = recursion.s;
    for (double& value : precision.values) value = data_size * value + lambda;
    assert_close("mean", column_of(std::as_const(*q).mean()), recursion.mean, tolerance);
    assert_close("precision", diagonal_of(dense_precision(*q)), precision, tolerance);
  }
}

void vogn_is_its_recursion(void**) {
  check("vogn", Indefinite::automatic, 1e-12);
}

void von_is_its_recursion(void**) {
  check("von", Indefinite::shorten, 1e-7);
}

/// As it is by default: to second order.
void von_is_its_improved_recursion(void**) {
  check("von", Indefinite::automatic, 1e-7);
}

/// Online rules have no prior to come back to: a data set seen again would count again.
void rules_without_the_divergence_are_not_for_batches(void**) {
  const auto model = make_network<double>(naive.sizes, gaussian(1, {1}));
  for (const char* method : {"bong", "bog"}) {
    const auto q = random_prior<double>(diagonal_kind, model->parameters(), 83);
    Optimizer<double> optimizer(model, q, find_method(method), data_size);
    const StreamData data(gaussian(1, {1}), 2, batch, 84);
    const Dense before = column_of(std::as_const(*q).mean());
    expect_error(Status::ERROR_UNSUPPORTED, method,
                 [&] { step_on(optimizer, transposed(data.x), transposed(data.y)); });
    rows_to_fill(optimizer, 2);
    expect_error(Status::ERROR_UNSUPPORTED, "observe", [&] { step_on_rows(optimizer); });
    assert_same("mean", column_of(std::as_const(*q).mean()), before);
  }
}

}  // namespace

int test_batch_recursions() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(vogn_is_its_recursion),
      cmocka_unit_test(von_is_its_recursion),
      cmocka_unit_test(von_is_its_improved_recursion),
      cmocka_unit_test(rules_without_the_divergence_are_not_for_batches),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
