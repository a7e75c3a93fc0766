// Student-t noise: its functions against formulas, finite differences and sums over grids; predictions, whose
// quantiles are those of mixtures; what training learns of noise with outliers.
#include "likelihood/kinds/student_t.hpp"
#include "likelihood/special_functions.hpp"
#include "linearized_test.hpp"
#include "train/fit.hpp"
#include "train/start.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

Likelihood student(double degrees, const std::vector<double>& precision) {
  Likelihood out(BDL_STUDENT_T, static_cast<Index>(precision.size()));
  out.set_noise_precision(precision);
  out.set_degrees_of_freedom(degrees);
  return out;
}

double textbook(double nu, double tau, double r) {
  return std::tgamma((nu + 1) / 2) / std::tgamma(nu / 2) * std::sqrt(tau / (nu * std::numbers::pi)) *
         std::pow(1 + tau * r * r / nu, -(nu + 1) / 2);
}

void functions_are_those_of_the_density(void**) {
  constexpr double h = 1e-5;
  for (const double nu : {0.5, 1.0, 4.0, 60.0})
    for (const double f : {-3.0, 0.1, 0.4, 20.0}) {
      const Likelihood likelihood = student(nu, {2.5});
      const double y = 0.3, q = 2.5 * (f - y) * (f - y);
      const auto log_p = [&](double at) { return likelihood.log_density(&at, &y); };
      double slope = 0, term = 0, root = 0, coefficient = 0;
      likelihood.gradient(&f, &y, &slope);
      likelihood.hessian_terms(&f, &y, &term);
      likelihood.hessian_root(&f, &y, 0, &root, &coefficient);
      assert_close(log_p(f), std::log(textbook(nu, 2.5, f - y)), 1e-12, 1e-12);
      assert_close(likelihood.misfit(&f, &y), log_p(y) - log_p(f), 1e-12, 1e-12);
      assert_close(slope, -(log_p(f + h) - log_p(f - h)) / (2 * h), 1e-6, 1e-6);
      assert_close(term, -(log_p(f + h) - 2 * log_p(f) + log_p(f - h)) / (h * h), 1e-4, 1e-4);
      assert_close(root * coefficient, slope, 1e-12);
      const double up = student(nu * std::exp(h), {2.5}).log_density(&f, &y),
                   down = student(nu * std::exp(-h), {2.5}).log_density(&f, &y);
      assert_close(student_t::score(nu, q), (up - down) / (2 * h), 1e-5, 1e-5);
      double information = 0, mass = 0;  // E of the Hessian
      for (double u = -25; u <= 25; u += 0.01) {
        const double target = f + std::sinh(u), p = textbook(nu, 2.5, target - f) * std::cosh(u) * 0.01;
        likelihood.hessian_terms(&f, &target, &term);
        information += p * term;
        mass += p;
      }
      assert_close(mass, 1, 1e-4);
      assert_close(information, root * root, 1e-4);
      const double missing = quiet_nan;
      likelihood.gradient(&f, &missing, &slope);
      likelihood.hessian_root(&f, &missing, 0, &root, &coefficient);
      assert_true(slope == 0 && root == 0 && coefficient == 0 && likelihood.log_density(&f, &missing) == 0 &&
                  likelihood.misfit(&f, &missing) == 0);
    }
}

/// Against values computed with 60 digits.
void scores_are_accurate(void**) {
  assert_close(student_t::score(1, 0), 0.19314718055994531, 1e-14);
  assert_close(student_t::score(2.5, 3), 0.062631237744025048, 1e-14);
  assert_close(student_t::score(30, 200), -17.066639325406807, 1e-14);
  assert_close(student_t::score(1000, 2), 0.00025066454645627281, 0, 1e-12);
}

/// nu = 1 is Cauchy's, nu = 2 has a formula, and many degrees are the normal distribution.
void distribution_functions_are_known_ones(void**) {
  for (const double z : {-1e8, -30.0, -2.0, -0.3, -1e-6, 0.0, 0.2, 1.7, 12.0}) {
    const double cauchy =
        z < 0 ? std::atan2(1, -z) / std::numbers::pi : 0.5 + std::atan(z) / std::numbers::pi;
    assert_close(student_t_cdf(z, 1), cauchy, 1e-13);
    const double root = std::sqrt(2 + z * z);
    assert_close(student_t_cdf(z, 2), z < 0 ? 1 / (root * (root - z)) : 0.5 + z / (2 * root), 1e-13);
  }
  for (const double z : {-3.0, -0.5, 0.7, 2.0}) assert_close(student_t_cdf(z, 1e6), normal_cdf(z), 1e-4);
  for (const double nu : {0.7, 3.0, 35.0, 800.0})
    for (const double z : {-4.0, -0.9, -0.01, 0.6, 3.0})
      assert_close((student_t_cdf(z + 1e-4, nu) - student_t_cdf(z - 1e-4, nu)) / 2e-4,
                   student_t::density(z, nu), 1e-6);
}

struct Setting {
  Network<double> model;
  TableBelief<double> b;
  Table x, y;
  explicit Setting(double degrees)
      : model(network<double>({3, 4, 1}, BDL_STUDENT_T)), b{nullptr, Table(1, 1)}, x(3, 3), y(3, 1) {
    TableRandom random(11);
    b = belief<double>(Kind::low_rank, model.parameters(), 0.3, random);
    x = normal_table(random, 3, 3);
    y = normal_table(random, 3, 1);
    model.likelihood = student(degrees, {5});
    model.standardization = {{}, {{1}, {3}}};
  }
  Setting(const Setting&) = delete;
};

/// Density and distribution function at y by sums over draws, or over a grid of the linearised law.
template <class Visit>
void for_each_output(const Setting& s, const Query<double>& query, Index i, Visit visit) {
  if (query.spec.method == BDL_MONTE_CARLO) {
    const Table f = slow_outputs(query)[static_cast<std::size_t>(i)];
    for (Index k = 0; k < f.cols; ++k) visit(1 + 3 * f(0, k), 1.0 / static_cast<double>(f.cols));
    return;
  }
  const Law outputs = law<double>(query);
  for (double t = -9; t <= 9; t += 0.01)
    visit(outputs.mean(i, 0) + std::sqrt(outputs.covariance(i, 0)) * t,
          0.01 * std::exp(-t * t / 2) / std::sqrt(2 * std::numbers::pi));
  assert_true(s.x.rows > i);
}

void predictions_are_mixtures(void**) {
  for (const double nu : {1.0, 2.5, 30.0}) {
    const Setting s(nu);
    const Table levels(1, 5, {1e-6, 0.025, 0.25, 0.5, 0.999});
    for (const auto& query : {monte_carlo(s.model, s.b, s.x, 30), linearized<double>(s.model, s.b, s.x)}) {
      const Table p = log_density(query, s.y), q = quantiles(query, levels);
      for (Index i = 0; i < s.x.rows; ++i) {
        double density = 0, below[5] = {};
        for_each_output(s, query, i, [&](double f, double weight) {
          density += weight * textbook(nu, 5.0 / 9, s.y(i, 0) - f);
          for (Index k = 0; k < 5; ++k)
            below[k] += weight * student_t_cdf((q(i, k) - f) * std::sqrt(5.0 / 9), nu);
        });
        assert_close(p(i, 0), std::log(density), 1e-8, 1e-8);
        for (Index k = 0; k < 5; ++k) assert_close(below[k], levels(0, k), 1e-7);
      }
    }
  }
}

void moments_have_the_variance_that_there_is(void**) {
  const Setting light(6), heavy(1.5);
  const auto query = monte_carlo(light.model, light.b, light.x, 30);
  const bdl::testing::Moments got = moments(query);
  for (Index i = 0; i < 3; ++i) assert_close(got.noise(i, 0), 9 * 6 / (4 * 5.0), 1e-13);
  Table mean = output(3, 1), noise = output(3, 1);
  const auto wide = monte_carlo(heavy.model, heavy.b, heavy.x, 30);
  predict_moments(wide, mean.out(), bdl_none_out(), bdl_none_out());
  expect_error(Status::ERROR_UNSUPPORTED, "has no variance",
               [&] { predict_moments(wide, mean.out(), bdl_none_out(), noise.out()); });
}

void draws_have_the_distribution(void**) {
  const Setting s(3);
  const Index count = 20000;
  const auto query = monte_carlo(s.model, s.b, s.x, count);
  const Table levels(1, 3, {0.05, 0.5, 0.9}), q = quantiles(query, levels);
  Table draws = output(3, count);
  predict_draws(query, draws.out());
  for (Index i = 0; i < 3; ++i)
    for (Index k = 0; k < 3; ++k) {
      double below = 0;
      for (Index j = 0; j < count; ++j) below += draws(i, j) < q(i, k) ? 1.0 / count : 0;
      assert_unbiased(below, levels(0, k), std::sqrt(levels(0, k) * (1 - levels(0, k)) / count));
    }
}

/// A line with noise t_3 / 2: tau = 4.
void training_learns_scale_and_degrees(void**) {
  const Index n = 3000;
  TableRandom random(8);
  Table x(n, 1), y(n, 1);
  for (Index i = 0; i < n; ++i) {
    double chi = 0;
    for (int k = 0; k < 3; ++k) chi += std::pow(random.normal(), 2);
    x(i, 0) = random.normal();
    y(i, 0) = 2 * x(i, 0) + random.normal() / std::sqrt(chi / 3) / 2;
  }
  for (const bool learns : {true, false}) {
    const auto model = std::make_shared<Network<double>>(std::vector<Index>{1, 1}, BDL_IDENTITY, true,
                                                         Likelihood(BDL_STUDENT_T, 1));
    Optimizer<double> optimizer(model, std::make_shared<LowRankPosterior<double>>(2, 1),
                                find_method("slang-ggn"), n);
    Options options = optimizer.options();
    options.learn_degrees_of_freedom = learns;
    optimizer.set_options(options);
    assert_true(fit(optimizer, x.array(), y.array(), 60, {nullptr, nullptr}) == Status::OK);
    assert_near(std::as_const(*optimizer.posterior()).mean()[0], 2, 0.05);
    if (learns) assert_near(model->likelihood.degrees_of_freedom(), 3, 0.6);
    if (!learns) assert_true(model->likelihood.degrees_of_freedom() == 4);
    assert_near(model->likelihood.noise_precision(0), 4, 0.6);
    initialize(optimizer);
    assert_true(model->likelihood.degrees_of_freedom() == 4);
  }
}

}  // namespace

int test_predict_student_t() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(functions_are_those_of_the_density),
      cmocka_unit_test(scores_are_accurate),
      cmocka_unit_test(distribution_functions_are_known_ones),
      cmocka_unit_test(predictions_are_mixtures),
      cmocka_unit_test(moments_have_the_variance_that_there_is),
      cmocka_unit_test(draws_have_the_distribution),
      cmocka_unit_test(training_learns_scale_and_degrees),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
