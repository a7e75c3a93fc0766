// "slang-golden-1": gradient rows in, posterior out.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "golden.hpp"

namespace golden {
namespace {

Vector outer(const Vector& u, std::int64_t dim, std::int64_t rank) {
  Vector product(static_cast<std::size_t>(dim * dim));
  for (std::int64_t i = 0; i < dim; ++i)
    for (std::int64_t j = 0; j < dim; ++j)
      for (std::int64_t k = 0; k < rank; ++k)
        product[static_cast<std::size_t>(i * dim + j)] +=
            u[static_cast<std::size_t>(i * rank + k)] * u[static_cast<std::size_t>(j * rank + k)];
  return product;
}

double compare(const bdl_posterior* q, const Json& expected, const Vector& prior) {
  const std::int64_t dim = bdl_posterior_dimension(q), rank = bdl_posterior_rank(q);
  Vector vector(static_cast<std::size_t>(dim)), u(static_cast<std::size_t>(dim * rank));
  double number = 0, worst = 0;
  const auto compare_vector = [&](const char* name, const Vector& got) {
    worst = std::max(worst, error(got, expected.at(name).get<Vector>()));
  };
  const auto compare_number = [&](const char* name) {
    worst = std::max(worst, error({number}, {expected.at(name).get<double>()}));
  };
  check(bdl_posterior_mean(q, row_out(vector)));
  compare_vector("mean", vector);
  check(bdl_posterior_get_low_rank(q, bdl_f64_out(u.data(), dim, rank), row_out(vector)));
  compare_vector("precision_diagonal", vector);  // d of U U^T + diag(d)
  check(bdl_posterior_marginal_variance(q, row_out(vector)));
  compare_vector("marginal_variance", vector);
  worst = std::max(worst, error(outer(u, dim, rank), flatten(expected.at("low_rank"))));
  check(bdl_posterior_log_det_covariance(q, &number));
  compare_number("log_det_covariance");
  check(bdl_posterior_kl_prior(q, row(prior), &number));
  compare_number("kl_to_prior");
  return worst;
}

void set_options(bdl_optimizer* optimizer, const Json& problem) {
  check(bdl_optimizer_set_choice(optimizer, "schedule", "power"));
  for (const char* name : {"learning_rate", "curvature_rate", "decay", "momentum"})
    check(bdl_optimizer_set_double(optimizer, name, problem.at(name).get<double>()));
  check(bdl_optimizer_set_prior(optimizer, row(problem.at("prior_precision").get<Vector>())));
}

double replay(const Json& problem) {
  const auto dim = problem.at("dim").get<std::int64_t>(), rank = problem.at("rank").get<std::int64_t>();
  const auto size = static_cast<std::int64_t>(problem.at("data_size").get<double>());
  bdl_posterior* q_handle = nullptr;
  check(bdl_posterior_create_low_rank(BDL_F64, dim, rank, &q_handle));
  const std::unique_ptr<bdl_posterior, decltype(&bdl_posterior_free)> q(q_handle, bdl_posterior_free);
  const Vector precision(static_cast<std::size_t>(dim), problem.at("initial_precision").get<double>());
  check(
      bdl_posterior_set_low_rank(q.get(), row(problem.at("mean").get<Vector>()), bdl_none(), row(precision)));
  bdl_optimizer* optimizer_handle = nullptr;
  check(bdl_optimizer_create(nullptr, q.get(), "slang", size, &optimizer_handle));
  const std::unique_ptr<bdl_optimizer, decltype(&bdl_optimizer_free)> optimizer(optimizer_handle,
                                                                                bdl_optimizer_free);
  set_options(optimizer.get(), problem);
  double worst = 0;
  std::size_t compared = 0;
  for (std::size_t t = 0; t < problem.at("rows").size(); ++t) {
    const Json& rows = problem.at("rows")[t];
    const Vector flat = flatten(rows);
    check(bdl_optimizer_step_rows(optimizer.get(),
                                  bdl_f64(flat.data(), static_cast<std::int64_t>(rows.size()), dim)));
    for (const Json& expected : problem.at("expected")) {
      if (expected.at("step").get<std::size_t>() != t + 1) continue;
      worst = std::max(worst, compare(q.get(), expected, problem.at("prior_precision").get<Vector>()));
      ++compared;
    }
  }
  if (compared == 0 || compared != problem.at("expected").size())
    throw std::runtime_error("a step has no rows");
  return worst;
}

}  // namespace

bool replay_slang(const Json& file) {
  bool passed = !file.at("problems").empty();
  for (const Json& problem : file.at("problems")) {
    const double worst = replay(problem);
    std::printf("slang dim=%d rank=%d largest_error=%.3g %s\n", problem.at("dim").get<int>(),
                problem.at("rank").get<int>(), worst, worst <= tolerance ? "ok" : "FAILED");
    passed = passed && worst <= tolerance;
  }
  return passed;
}

}  // namespace golden
