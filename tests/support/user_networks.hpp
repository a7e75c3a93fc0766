// A network as a user's own model: callbacks that evaluate it in plain loops.
#pragma once

#include "model/user_model.hpp"
#include "support/naive_network.hpp"

namespace bdl::testing {

inline Dense dense_row(const Array& array, Index i) {
  Dense out(array.cols, 1);
  for (Index j = 0; j < array.cols; ++j) out(j, 0) = element(array, i, j);
  return out;
}

inline std::int32_t naive_outputs(void* network, Array theta, Array x, OutArray f) {
  for (Index i = 0; i < x.rows; ++i) {
    const Dense out = static_cast<NaiveNetwork*>(network)->outputs(dense_row(theta, 0), dense_row(x, i));
    scatter(ConstMatrixView<double>(out.values.data(), out.rows, 1), f, i);
  }
  return 0;
}

inline std::int32_t naive_gradients(void* network, Array theta, Array x, Array seeds, OutArray rows) {
  for (Index i = 0; i < x.rows; ++i) {
    const Dense out =
        static_cast<NaiveNetwork*>(network)->row(dense_row(theta, 0), dense_row(x, i), dense_row(seeds, i));
    scatter(ConstMatrixView<double>(out.values.data(), out.rows, 1), rows, i);
  }
  return 0;
}

/// The network must outlive the model.
template <class T>
UserModel<T> user_network(NaiveNetwork& network, const Likelihood& likelihood) {
  return {
      network.sizes.front(), network.parameters(), likelihood, {naive_outputs, naive_gradients, &network}};
}

}  // namespace bdl::testing
