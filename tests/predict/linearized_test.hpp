// Shared by the tests of the linearised model's predictions.
#pragma once

#include "predict_test.hpp"

namespace bdl::testing {

template <class T>
Query<T> linearized(const Model<T>& model, const TableBelief<T>& b, const Table& x) {
  return {model, *b.q, x.array(), {BDL_LINEARIZED, 0, 0}};
}

struct Law {
  Table mean, covariance;
};

template <class T>
Law law(const Query<T>& query) {
  const Index rows = query.x.rows, outputs = query.model.outputs();
  Law result{output(rows, outputs), output(rows, outputs * outputs)};
  predict_output_distribution(query, result.mean.out(), result.covariance.out());
  return result;
}

inline Table targets(TableRandom& random, const Likelihood& likelihood, Index rows) {
  Table y = normal_table(random, rows, likelihood.targets());
  const Index values = likelihood.target_kind() == TargetKind::label ? 2
                       : likelihood.kind() == BDL_CATEGORICAL        ? likelihood.outputs()
                                                                     : 6;
  if (likelihood.kind() != BDL_GAUSSIAN)
    for (double& value : y.values)
      value = static_cast<double>(random.below(values)) +
              (likelihood.target_kind() == TargetKind::positive ? 0.5 : 0);
  return y;
}

}  // namespace bdl::testing
