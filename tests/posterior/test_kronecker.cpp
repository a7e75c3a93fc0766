// Kronecker-factored posteriors: blocks of a network's layers with batch norm's points among them, draws that
// know nothing of signs, other families from them, what they refuse. What every family answers:
// test_operations, test_divergences, test_samples, test_tensors.
#include "model/network.hpp"
#include "posterior/families.hpp"
#include "posterior/point_parameters.hpp"
#include "prior/prior.hpp"
#include "support/posteriors.hpp"

// Last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

template <class T>
constexpr double tolerance = sizeof(T) == 8 ? 1e-12 : 1e-5;

template <class T>
Network<T> network_of(const char* description) {
  auto graph = std::make_shared<const Graph<T>>(description);
  const Index outputs = graph->outputs();
  return {graph, Likelihood(BDL_CATEGORICAL, outputs)};
}

constexpr const char* with_points =
    "input 2 4 4; conv 3 3 nobias; batchnorm; relu; conv 2 1; flatten; dense 3";

template <class T>
std::unique_ptr<Posterior<T>> posterior_for(const Model<T>& model) {
  return create_posterior<T>(
      {Family::kronecker, model.parameters(), 0, {}, {}, point_parameters_of(model), matrices_of(model)});
}

template <class T>
void blocks_are_the_layers(void**) {
  const Network<T> network = network_of<T>(with_points);
  const auto q = posterior_for<T>(network);
  const PosteriorKind kind = q->kind();
  const std::vector<MatrixShape> expected{{3, 18, false}, {6}, {2, 3, true}, {3, 8, true}};
  assert_true(kind.matrices == expected && kind.blocks == (std::vector<Index>{54, 6, 8, 27}));
  assert_true(q->dimension() == 95 && uncertain_parameters(*q) == 89 && q->rank() == 95);
  assert_same("precision", dense_precision(*q), identity(95));
  Scratch scratch;
  assert_near("entropy", entropy(*q), 89 * (1 + std::log(2 * std::numbers::pi)) / 2, 1e-12);
  Padded<T> variance(poison(95, 1));
  read_marginal_variance(*q, variance.column(), scratch);
  Dense one(95, 1, 1.0);
  for (Index i = 54; i < 60; ++i) one(i, 0) = 0;
  assert_close("variance", variance.dense(), one, tolerance<T>);
  check_matrices_fit<T>(network, *q);
  expect_error(Status::ERROR_SHAPE, "other layers",
               [&] { check_matrices_fit<T>(network_of<T>("input 2 4 4; conv 3 3; flatten; dense 3"), *q); });
}

void layers_without_a_matrix_are_named(void**) {
  expect_error(Status::ERROR_UNSUPPORTED, "conv 4 3 groups 2\" (line 3)", [] {
    matrices_of<double>(network_of<double>("input 2 4 4\nrelu\nconv 4 3 groups 2\nflatten\ndense 2"));
  });
}

/// Ug S for a diagonal S of signs makes no difference.
void draws_know_nothing_of_the_signs_of_eigenvectors(void**) {
  Random random(5);
  const auto q = kronecker_of<double>({4, 5, true}, random);
  const Dense before = root_of(*q);
  for (Index i = 0; i < 4; ++i) q->output_vectors()(i, 1) *= -1;
  for (Index i = 0; i < 6; ++i) q->input_vectors()(i, 3) *= -1;
  assert_close("root", root_of(*q), before, 1e-14);
  assert_close("root", before, transposed(before), 1e-13);
}

/// The diagonal of U^T M U, densely.
template <class T>
void diagonals_in_its_basis_are_those_of_the_matrices(void**) {
  Random random(6);
  for (const MatrixShape& shape :
       {MatrixShape{3, 4, true}, MatrixShape{1, 1, false}, MatrixShape{5, 2, false}}) {
    const auto q = kronecker_of<T>(shape, random), other = kronecker_of<T>(shape, random);
    const Index columns = shape.columns();
    const Dense numbers = random.uniform(shape.parameters(), 1, 0.5, 2), matrix = diagonal_matrix(numbers),
                own = dense_precision(*other);
    const auto along = [&](const Dense& m) {
      Dense out(columns, shape.outputs);
      for (Index o = 0; o < shape.outputs; ++o)
        for (Index j = 0; j < columns; ++j) {
          const Dense pair =
              sum_over_pairs(shape, columns_of(dense_of(std::as_const(*q).output_vectors()), o, 1),
                             columns_of(dense_of(std::as_const(*q).input_vectors()), j, 1),
                             [](Index, Index) { return 1.0; });
          out(j, o) = trace(pair * m);
        }
      return out;
    };
    Padded<T> got(poison(columns, shape.outputs));
    Scratch scratch;
    q->diagonal_in_basis(Padded<T>(numbers).column(), got.view(), scratch);
    assert_close("of a diagonal", got.dense(), along(matrix), tolerance<T>);
    q->diagonal_in_basis(*other, got.view(), scratch);
    assert_close("of another one", got.dense(), along(own), tolerance<T>);
  }
}

template <class T>
void other_families_have_its_covariance(void**) {
  for (const Belief<T>& belief : beliefs<T>(12, 5)) {
    if (belief.q->family() != Family::kronecker) continue;
    assert_close("full", dense_of(full_covariance_of(*belief.q)->covariance()), belief.covariance,
                 tolerance<T>);
    assert_close("marginals", column_of(marginals_of(*belief.q)->variance()), diagonal_of(belief.covariance),
                 tolerance<T>);
  }
}

template <class T>
void what_makes_no_posterior_is_refused(void**) {
  Random random(8);
  const auto q = kronecker_of<T>({3, 4, true}, random);
  const Dense before = dense_precision(*q);
  const auto write = [&](const char* name, T value) {
    set_tensors<T>(*q, [&](const PosteriorTensor<T>& tensor) {
      if (std::string(tensor.name) != name) return false;
      tensor.values(1, 0) = value;
      return true;
    });
  };
  expect_error(Status::ERROR_INVALID_ARGUMENT, "output_vectors are not orthogonal",
               [&] { write("output_vectors", T(2)); });
  expect_error(Status::ERROR_INVALID_ARGUMENT, "input_vectors are not orthogonal",
               [&] { write("input_vectors", T(2)); });
  expect_error(Status::ERROR_INVALID_ARGUMENT, "precision", [&] { write("precision", T(0)); });
  expect_error(Status::ERROR_NOT_FINITE, "precision",
               [&] { write("precision", std::numeric_limits<T>::infinity()); });
  assert_same("precision", dense_precision(*q), before);
  Scratch workspace;
  const auto to = q->clone();
  expect_error(Status::ERROR_UNSUPPORTED, "steps", [&] { to->update(PosteriorStep<T>{*q}, workspace); });
  const std::vector<T> noise(15, T(1));
  expect_error(Status::ERROR_UNSUPPORTED, "noise in time", [&] { to->drift(*q, {1, 1, noise}, workspace); });
  to->drift(*q, {0.5, 2, {}}, workspace);
  assert_close("inflated", dense_precision(*to), 0.5 * before, tolerance<T>);
}

/// Diagonal precisions are Kronecker-factored ones with the unit vectors.
void diagonal_priors_are_held_exactly(void**) {
  const Network<double> network = network_of<double>(with_points);
  const auto q = posterior_for<double>(network);
  Random random(9);
  Dense precision = random.uniform(95, 1, 0.5, 2);
  for (Index i = 54; i < 60; ++i) precision(i, 0) = 1;
  auto belief = create_posterior<double>({Family::low_rank, 95, 0, {}, {}, point_parameters_of(network)});
  belief->set_diagonal(precision.values, {});
  assert_close("precision", dense_precision(*in_family(*belief, q->kind())), diagonal_matrix(precision),
               1e-15);
  const auto full = create_posterior<double>({Family::full, 95, 0, {}, {}, point_parameters_of(network)});
  expect_error(Status::ERROR_UNSUPPORTED, "kronecker", [&] { in_family(*full, q->kind()); });
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_kronecker() {
  const CMUnitTest tests[] = {BOTH(blocks_are_the_layers),
                              cmocka_unit_test(layers_without_a_matrix_are_named),
                              cmocka_unit_test(draws_know_nothing_of_the_signs_of_eigenvectors),
                              BOTH(diagonals_in_its_basis_are_those_of_the_matrices),
                              BOTH(other_families_have_its_covariance),
                              BOTH(what_makes_no_posterior_is_refused),
                              cmocka_unit_test(diagonal_priors_are_held_exactly)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
