#include "split.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "support/dataset.h"
#include "support/handles.hpp"

namespace uci {
namespace {

using support::check;

/// Standardised by the training part.
class Split {
 public:
  explicit Split(const Job& job) {
    dataset all = dataset_read((job.folder + "/data.csv").c_str());
    dataset_split(&all, (job.folder + "/test_rows.csv").c_str(), job.split, &train, &test);
    dataset_free(&all);
    target_sd = dataset_standardise(&train, &test);
  }
  ~Split() {
    dataset_free(&train);
    dataset_free(&test);
  }
  Split(const Split&) = delete;
  Split& operator=(const Split&) = delete;

  dataset train{}, test{};
  double target_sd = 1;
};

bdl_matrix features(const dataset& part) {
  return bdl_strided(part.values, BDL_F64, part.rows, part.cols - 1, part.cols, 1);
}

bdl_matrix target(const dataset& part) {
  return bdl_strided(part.values + part.cols - 1, BDL_F64, part.rows, 1, part.cols, 1);
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double log_mean_exp(const std::vector<double>& values) {
  const double top = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (double value : values) sum += std::exp(value - top);
  return top + std::log(sum / static_cast<double>(values.size()));
}

/// Both forms of the test log likelihood from the same posterior draws.
void log_likelihoods(const bdl_model* model, const bdl_posterior* q, const dataset& test, int samples,
                     Score& score) {
  const int64_t dimension = bdl_model_parameters(model), count = test.rows;
  std::vector<double> theta(static_cast<std::size_t>(dimension)),
      log_density(static_cast<std::size_t>(count));
  std::vector<std::vector<double>> by_point(static_cast<std::size_t>(count));
  std::vector<double> sums;
  for (int s = 0; s < samples; ++s) {
    check(bdl_posterior_sample(q, 1, s, bdl_f64_out(theta.data(), 1, dimension)));
    check(bdl_model_log_likelihood(model, support::row_of(theta), features(test), target(test),
                                   bdl_f64_out(log_density.data(), count, 1)));
    sums.push_back(0);
    for (std::size_t i = 0; i < log_density.size(); ++i) {
      by_point[i].push_back(log_density[i]);
      sums.back() += log_density[i];
    }
  }
  score.joint = log_mean_exp(sums) / static_cast<double>(count);
  for (const auto& values : by_point) score.per_point += log_mean_exp(values) / static_cast<double>(count);
}

void predict(const bdl_model* model, const bdl_posterior* q, const dataset& test, int samples, Score& score) {
  std::vector<double> mean(static_cast<std::size_t>(test.rows)), lower(mean), upper(mean);
  const auto column = [&](std::vector<double>& v) { return bdl_f64_out(v.data(), test.rows, 1); };
  check(bdl_predict(model, q, features(test), BDL_MONTE_CARLO, samples, 1, column(mean), bdl_none_out(),
                    bdl_none_out()));
  check(bdl_predict_interval(model, q, features(test), BDL_MONTE_CARLO, samples, 1, 0.9, column(lower),
                             column(upper)));
  check(bdl_metric_rmse(bdl_as_input(column(mean)), target(test), &score.rmse));
  check(bdl_metric_coverage(bdl_as_input(column(lower)), bdl_as_input(column(upper)), target(test),
                            &score.coverage));
}

}  // namespace

Score run(const Job& job) {
  const double start = cpu_seconds();
  const Split data(job);
  bdl_model* model = nullptr;
  bdl_posterior* q = nullptr;
  bdl_optimizer* opt = nullptr;
  const int64_t sizes[] = {data.train.cols - 1, 50, 1};
  check(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, BDL_GAUSSIAN, &model));
  const support::Model model_owner(model);
  if (job.method == "mc-dropout")
    check(bdl_posterior_create_dropout(model, job.dropout_rate, job.dropout_rate, &q));
  else
    check(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), job.rank, &q));
  const support::Posterior q_owner(q);
  check(bdl_optimizer_create(model, q, job.method.c_str(), data.train.rows, &opt));
  const support::Optimizer opt_owner(opt);
  check(bdl_optimizer_set_int(opt, "seed", job.split + 1));
  for (const std::string& option : job.options) support::set_option(opt, option);
  check(bdl_optimizer_fit(opt, features(data.train), target(data.train), job.epochs, nullptr, nullptr));

  Score score;
  score.train_seconds = cpu_seconds() - start;
  predict(model, q, data.test, job.samples, score);
  log_likelihoods(model, q, data.test, job.samples, score);
  score.rmse *= data.target_sd;
  score.joint -= std::log(data.target_sd);
  score.per_point -= std::log(data.target_sd);
  score.seconds = cpu_seconds() - start;
  return score;
}

}  // namespace uci
