#include "logistic.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>

#include "support/table.hpp"

namespace slang {
namespace {

/// LIBSVM's text format: a label, then index:value from index 1 on.
Data read_libsvm(const std::string& path, int64_t features) {
  std::ifstream file(path);
  if (!file) stop("cannot read " + path);
  Data data{{}, {}, features + 1};
  std::vector<double> example(static_cast<std::size_t>(features) + 1);
  for (std::string line; std::getline(file, line);) {
    std::ranges::fill(example, 0);
    example[0] = 1;
    char* at = nullptr;
    const double label = std::strtod(line.c_str(), &at);
    for (char* next = at;; at = next) {
      const int64_t index = std::strtoll(at, &next, 10);
      if (next == at) break;
      if (*next != ':' || index < 1 || index > features) stop(path + " has a bad line: " + line);
      at = next + 1;
      example[static_cast<std::size_t>(index)] = std::strtod(at, &next);
    }
    data.append(example.data(), label);
  }
  if (data.rows() < 2) stop(path + " is empty");
  const double one = *std::ranges::max_element(data.y);
  for (double& y : data.y) y = y == one ? 1 : 0;
  return data;
}

/// numpy.argsort(numpy.random.RandomState(seed).random_sample(count)): doubles of 53 bits from two draws.
std::vector<int64_t> random_order(int64_t count, int seed) {
  std::mt19937 engine(static_cast<uint32_t>(seed));
  std::vector<double> keys(static_cast<std::size_t>(count));
  for (double& key : keys) {
    const auto high = static_cast<double>(engine() >> 5), low = static_cast<double>(engine() >> 6);
    key = (high * 67108864 + low) / 9007199254740992.0;
  }
  std::vector<int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&keys](int64_t i) { return keys[static_cast<std::size_t>(i)]; });
  return order;
}

Data rows_of(const Data& all, const std::vector<int64_t>& order, std::size_t first, std::size_t last) {
  Data part{{}, {}, all.inputs};
  for (std::size_t i = first; i < last; ++i)
    part.append(all.x.data() + order[i] * all.inputs, all.y[static_cast<std::size_t>(order[i])]);
  return part;
}

Posterior standard_normal(const Method& method, int64_t dimension) {
  const auto d = static_cast<std::size_t>(dimension);
  const std::vector<double> mean(d, 0), ones(d, 1);
  bdl_posterior* q = nullptr;
  if (method.family == std::string("full")) {
    check(bdl_posterior_create_full(BDL_F64, dimension, &q));
    std::vector<double> identity(d * d, 0);
    for (std::size_t i = 0; i < d; ++i) identity[i * (d + 1)] = 1;
    check(bdl_posterior_set_full(q, row_of(mean), bdl_f64(identity.data(), dimension, dimension)));
  } else {
    check(bdl_posterior_create_low_rank(BDL_F64, dimension, method.rank, &q));
    check(bdl_posterior_set_low_rank(q, row_of(mean), bdl_none(), row_of(ones)));
  }
  return Posterior(q);
}

}  // namespace

const std::vector<DataSet>& data_sets() {
  static const std::vector<DataSet> sets = {
      {"australian_scale", 14, 1e-5, 32, 20},
      {"breast_cancer_scale", 10, 1.0, 32, 20},
      {"a1a", 123, 2.8072, 128, 1},
      {"usps_3vs5", 256, 25, 64, 20},
  };
  return sets;
}

Split read_split(const std::string& folder, const DataSet& set, int split) {
  const std::string path = folder + "/" + set.name;
  const Data all = read_libsvm(path, set.features);
  if (set.splits == 1) return {all, read_libsvm(path + ".t", set.features)};
  const std::vector<int64_t> order = random_order(all.rows(), split);
  return {rows_of(all, order, 0, order.size() / 2), rows_of(all, order, order.size() / 2, order.size())};
}

Learner logistic_learner(const DataSet& set, const Method& method, int64_t rows, int64_t seed,
                         Posterior start) {
  const int64_t dimension = set.features + 1, sizes[] = {dimension, 1};
  Learner learner;
  bdl_model* model = nullptr;
  check(bdl_model_create_mlp(BDL_F64, sizes, 2, BDL_IDENTITY, 0, BDL_BERNOULLI, &model));
  learner.model.reset(model);
  learner.posterior = start ? std::move(start) : standard_normal(method, dimension);
  bdl_optimizer* optimizer = nullptr;
  check(bdl_optimizer_create(model, learner.posterior.get(), method.name, rows, &optimizer));
  learner.optimizer.reset(optimizer);
  std::vector<double> precision(static_cast<std::size_t>(dimension), set.prior_precision);
  precision[0] = bias_precision;
  check(bdl_optimizer_set_prior(optimizer, row_of(precision)));
  check(bdl_optimizer_set_int(optimizer, "threads", 1));
  check(bdl_optimizer_set_int(optimizer, "seed", seed));
  for (const char* option : method.options) set_option(optimizer, option);
  return learner;
}

Learner network_learner(int64_t inputs, int64_t hidden, bdl_likelihood likelihood, const Method& method,
                        int64_t rows) {
  const int64_t sizes[] = {inputs, hidden, 1};
  Learner learner;
  bdl_model* model = nullptr;
  check(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, likelihood, &model));
  learner.model.reset(model);
  bdl_posterior* q = nullptr;
  check(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), method.rank, &q));
  learner.posterior.reset(q);
  bdl_optimizer* optimizer = nullptr;
  check(bdl_optimizer_create(model, q, method.name, rows, &optimizer));
  learner.optimizer.reset(optimizer);
  for (const char* option : method.options) set_option(optimizer, option);
  return learner;
}

double bias_normaliser(const Data& train) {
  return -std::log(bias_precision) / (2 * static_cast<double>(train.rows()));
}

double minus_elbo(const Learner& learner, const Data& train, int64_t samples) {
  double likelihood = 0, kl = 0;
  check(bdl_optimizer_elbo(learner.optimizer.get(), train.all_inputs(), train.all_targets(), samples, 1,
                           &likelihood, &kl));
  return (kl - likelihood) / static_cast<double>(train.rows());
}

double test_nll(const Learner& learner, const Data& test, int64_t samples) {
  std::vector<double> density(test.y.size());
  const bdl_matrix_out column = bdl_f64_out(density.data(), test.rows(), 1);
  check(bdl_predict_log_density(learner.model.get(), learner.posterior.get(), test.all_inputs(),
                                test.all_targets(), samples > 0 ? BDL_MONTE_CARLO : BDL_QUADRATURE, samples,
                                1, column));
  double mean = 0;
  check(bdl_metric_log_predictive_density(bdl_as_input(column), &mean, nullptr));
  return -mean;
}

}  // namespace slang
