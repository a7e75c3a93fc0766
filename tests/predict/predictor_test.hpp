// Shared by the tests of predictors: settings of every likelihood and method, and all predictions.
#pragma once

#include "linearized_test.hpp"
#include "predict/ensemble.hpp"

namespace bdl::testing {

inline constexpr bdl_likelihood all_likelihoods[] = {
    BDL_GAUSSIAN, BDL_HETEROSCEDASTIC, BDL_STUDENT_T, BDL_BERNOULLI,         BDL_CATEGORICAL,
    BDL_POISSON,  BDL_PROBIT,          BDL_CLOGLOG,   BDL_NEGATIVE_BINOMIAL, BDL_GAMMA};
inline constexpr bdl_predict_method all_methods[] = {BDL_MONTE_CARLO, BDL_PLUG_IN, BDL_QUADRATURE,
                                                     BDL_LINEARIZED_MONTE_CARLO, BDL_LINEARIZED};

/// Can networks of this likelihood be predicted by this method?
inline bool suits(bdl_predict_method method, bdl_likelihood kind) {
  return method != BDL_QUADRATURE || (kind != BDL_CATEGORICAL && kind != BDL_HETEROSCEDASTIC);
}

/// A standardised model where targets are real, and a posterior of it.
template <class T>
struct PredictorSetting {
  Network<T> model;
  TableBelief<T> b{nullptr, Table(1, 1)};
  PredictSpec spec;

  PredictorSetting(bdl_likelihood kind, bdl_predict_method method, Kind family, Index samples = 7)
      : model(network<T>(method == BDL_QUADRATURE ? std::vector<Index>{3, 1} : std::vector<Index>{3, 5, 2},
                         kind)),
        spec{method, samples, 3} {
    TableRandom random(5);
    b = belief<T>(family, model.parameters(), 0.3, random);
    const auto targets = static_cast<std::size_t>(model.likelihood.targets());
    if (model.likelihood.has_noise_precision())
      model.standardization = {{{1, 0, -1}, {2, 1, 0.5}},
                               {std::vector<double>(targets, 3), std::vector<double>(targets, 2)}};
  }
  PredictorSetting(const PredictorSetting&) = delete;
  Query<T> query(const Table& x) const { return {model, *b.q, x.array(), spec}; }
};

/// All that can be predicted of some rows.
class Everything {
 public:
  template <class T>
  Everything(const PredictorSetting<T>& s, const Table& x, TableRandom& random)
      : x_(x), y_(targets(random, s.model.likelihood, x.rows)), levels_(1, 3, {0.05, 0.5, 0.9}) {
    const Likelihood& likelihood = s.model.likelihood;
    const Index rows = x.rows, means = likelihood.means(), outputs = likelihood.outputs();
    for (const Index cols :
         {means, means, means, 3 * means, means, means, outputs, likelihood.targets(), likelihood.targets(),
          Index{1}, likelihood.targets() * s.spec.samples, outputs, outputs * outputs, Index{1}, Index{1},
          3 * means, means * s.spec.samples, s.spec.samples})
      tables_.push_back(output(rows, cols));
  }
  const Table& x() const { return x_; }

  /// Allocates nothing of its own.
  template <class T>
  void predict(const Query<T>& query) {
    const Likelihood& likelihood = query.model.likelihood;
    const bdl_predict_method method = query.spec.method;
    const auto to = [&](std::size_t k) { return tables_[k].out(); };
    predict_moments(query, to(0), to(1), to(2));
    if (has_classes(likelihood)) {
      const bool informative = method != BDL_LINEARIZED || likelihood.kind() != BDL_CATEGORICAL;
      predict_classes(query, to(6), to(7), informative ? to(8) : bdl_none_out());
    } else {
      predict_quantiles(query, levels_.array(), to(3));
      predict_interval(query, 0.9, to(4), to(5));
    }
    predict_log_density(query, y_.array(), to(9));
    if (method != BDL_PLUG_IN && method != BDL_QUADRATURE) predict_draws(query, to(10));
    predict_output_distribution(query, to(11), to(12));
    predict_leverage(query, to(13), to(14));
    predict_quantiles_of(query, BDL_QUANTITY_MEAN, levels_.array(), to(15));
    predict_draws_of(query, BDL_QUANTITY_LINK, to(16));
    if (method != BDL_PLUG_IN && method != BDL_QUADRATURE)
      predict_log_likelihood(query, y_.array(), transposed(to(17)));
  }
  void assert_same(const Everything& other) const {
    for (std::size_t k = 0; k < tables_.size(); ++k) assert_same_bits(tables_[k], other.tables_[k]);
  }
  /// But for one row, which is there in both.
  void assert_same_but(Index row, const Everything& other) const {
    for (std::size_t k = 0; k < tables_.size(); ++k)
      for (Index i = 0; i < tables_[k].rows; ++i)
        for (Index j = 0; i != row && j < tables_[k].cols; ++j)
          if (std::memcmp(&tables_[k].values[static_cast<std::size_t>(i * tables_[k].cols + j)],
                          &other.tables_[k].values[static_cast<std::size_t>(i * tables_[k].cols + j)],
                          sizeof(double)))
            fail_msg("answer %zu differs at row %lld, column %lld", k, static_cast<long long>(i),
                     static_cast<long long>(j));
  }
  /// Returns a result of predict(), by its position there.
  const Table& answer(std::size_t k) const { return tables_[k]; }
  static constexpr std::size_t mean = 0, epistemic = 1, noise = 2, quantiles = 3, probabilities = 6,
                               entropy = 7, log_density = 9, draws = 10, output_mean = 11;

 private:
  Table x_, y_, levels_;
  std::vector<Table> tables_;
};

template <class T, class Visit>
void for_each_setting(Visit visit) {
  for (const bdl_likelihood kind : all_likelihoods)
    for (const bdl_predict_method method : all_methods)
      for (const Kind family : all_kinds)
        if (suits(method, kind)) visit(PredictorSetting<T>(kind, method, family));
}

}  // namespace bdl::testing
