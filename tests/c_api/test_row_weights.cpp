// Rows with weights are the same as rows that stand in the data so many times; offsets are the same as an
// input whose weight is 1; trials are the same as their single results.
#include <string>

#include "every_method.h"
#include "standardized_runs.hpp"

namespace {

constexpr int64_t rows = 24, inputs = 2;

/// Rows with weights 0, 1, 2 or 3, and the same rows written out.
struct Weighed {
  Table x = table(rows, inputs), y, long_x{inputs, {}}, long_y;
  explicit Weighed(bdl_likelihood likelihood, int64_t targets)
      : y(table(rows, targets + 1)), long_y{targets, {}} {
    uint64_t state = 7;
    const auto uniform = [&] {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<double>(state >> 40) / 16777216;
    };
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < inputs; ++j) x(i, j) = 2 * uniform() - 1;
      for (int64_t c = 0; c < targets; ++c) {
        const double signal = x(i, 0) - static_cast<double>(c) * x(i, 1) + 0.5 * (uniform() - 0.5);
        y(i, c) = likelihood == BDL_BERNOULLI     ? (signal > 0 ? 1 : 0)
                  : likelihood == BDL_CATEGORICAL ? (signal > 0.4    ? 2
                                                     : signal > -0.4 ? 1
                                                                     : 0)
                  : likelihood == BDL_POISSON     ? std::floor(2 * std::exp(signal))
                                                  : 3 + 2 * signal;
      }
      const auto weight = i % 4;
      y(i, targets) = static_cast<double>(weight);
      for (int64_t k = 0; k < weight; ++k) {
        long_x.values.insert(long_x.values.end(), &x(i, 0), &x(i, 0) + inputs);
        long_y.values.insert(long_y.values.end(), &y(i, 0), &y(i, 0) + targets);
      }
    }
  }
};

int64_t outputs_of(bdl_likelihood likelihood) {
  return likelihood == BDL_CATEGORICAL ? 3 : likelihood == BDL_HETEROSCEDASTIC ? 2 : 1;
}

/// True of methods whose steps draw something for each example alone.
bool draws_for_examples(const char* method) {
  for (const char* name :
       {"elrg", "elrg-d", "mf-vi", "k-tied", "low-rank-vi", "mc-dropout"})
    if (strcmp(method, name) == 0) return true;
  return false;
}

/// One of two learners of the same method, with a full-batch step.
bool create(const char* method, int family, bdl_likelihood likelihood, bool hidden, int64_t count,
            bool weighted, learner* l) {
  memset(l, 0, sizeof *l);
  const int64_t outputs = outputs_of(likelihood), deep[] = {inputs, 4, outputs}, flat[] = {inputs, outputs};
  OK(bdl_model_create_mlp(BDL_F64, hidden ? deep : flat, hidden ? 3 : 2, BDL_TANH, 1, likelihood, &l->model));
  OK(bdl_model_set_row_weights(l->model, weighted ? 1 : 0));
  if (family_create(l->model, BDL_F64, family, 2, &l->posterior) != BDL_OK ||
      bdl_optimizer_create(l->model, l->posterior, method, count, &l->optimizer) != BDL_OK) {
    learner_free(l);
    return false;
  }
  const std::string all = std::to_string(count);
  for (const std::string option : {"minibatch=" + all, "block=" + all})
    (void)bdl_optimizer_set_text(l->optimizer, option.c_str());
  return true;
}

Vector state_of(const learner& l) {
  Vector mean(static_cast<std::size_t>(bdl_posterior_dimension(l.posterior)));
  const auto out = [&](Vector& v) { return bdl_f64_out(v.data(), 1, std::ssize(v)); };
  OK(bdl_posterior_mean(l.posterior, out(mean)));
  if (!bdl_posterior_has_covariance(l.posterior)) return mean;
  Vector variance = mean;
  OK(bdl_posterior_marginal_variance(l.posterior, out(variance)));
  for (double& v : variance) v = std::sqrt(v);
  mean.insert(mean.end(), variance.begin(), variance.end());
  return mean;
}

double distance(const Vector& a, const Vector& b) {
  double size = 0, most = 0;
  for (const double v : b) size = std::max(size, std::fabs(v));
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
  return most / size;
}

/// Fits both and compares posteriors; a method that refuses the model refuses both.
void compare(const char* method, int family, bdl_likelihood likelihood, bool hidden) {
  const Weighed data(likelihood, 1);
  learner weighted, plain;
  if (!create(method, family, likelihood, hidden, rows, true, &weighted)) return;
  assert_true(create(method, family, likelihood, hidden, data.long_x.rows(), false, &plain));
  const bdl_status status = learn(&weighted, method, data.x.view(), data.y.view(), 3);
  assert_int_equal(learn(&plain, method, data.long_x.view(), data.long_y.view(), 3), status);
  if (status == BDL_OK) {
    const double off = distance(state_of(weighted), state_of(plain));
    if (!(off <= 1e-9))
      printf("%s, family %d, likelihood %d, %s: weighted rows are %g from repeated ones\n", method, family,
             likelihood, hidden ? "hidden" : "linear", off);
  }
  learner_free(&weighted);
  learner_free(&plain);
}

void weighted_rows_are_repeated_rows(void**) {
  for (int32_t m = 0; m < bdl_method_count(); ++m) {
    const char* const method = bdl_method_name(m);
    if (draws_for_examples(method)) continue;
    for (const bdl_likelihood likelihood :
         {BDL_GAUSSIAN, BDL_BERNOULLI, BDL_CATEGORICAL, BDL_POISSON, BDL_HETEROSCEDASTIC, BDL_STUDENT_T})
      for (int family = 0; family <= FAMILIES; ++family)
        for (const bool hidden : {false, true}) compare(method, family, likelihood, hidden);
  }
}

}  // namespace

int test_row_weights() {
  const CMUnitTest tests[] = {cmocka_unit_test(weighted_rows_are_repeated_rows)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
