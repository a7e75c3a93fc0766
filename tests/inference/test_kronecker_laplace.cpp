// Laplace's approximation in the Kronecker-factored family: exact where it is known to be, against factors
// made from the gradients of single examples, and near the full one for a small network.
#include "curvature/jacobian.hpp"
#include "posterior/families.hpp"
#include "posterior/point_parameters.hpp"
#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "train/fit.hpp"

// Last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Data {
  std::shared_ptr<Network<double>> network;
  std::vector<double> x, y;
  Index examples;
  Dense theta;

  Data(std::shared_ptr<Network<double>> of, Index count, std::uint64_t seed)
      : network(std::move(of)), examples(count) {
    Random random(seed);
    const bool classes = network->likelihood.kind() == BDL_CATEGORICAL;
    for (Index k = 0; k < count * network->inputs(); ++k) x.push_back(random.normal());
    for (Index k = 0; k < count * network->likelihood.targets(); ++k)
      y.push_back(classes ? std::floor(static_cast<double>(network->outputs()) * random.uniform())
                          : random.normal());
    theta = random.normal(network->parameters(), 1, 0.5);
  }
  Array x_array() const { return bdl_f64(x.data(), examples, network->inputs()); }
  Array y_array() const { return bdl_f64(y.data(), examples, network->likelihood.targets()); }
};

struct Wish {
  FisherLabels fisher = FisherLabels::exact;
  KroneckerEigenvalues eigenvalues = KroneckerEigenvalues::products;
  std::uint64_t seed = 1;
};

/// N = 3 n.
std::shared_ptr<Posterior<double>> laplace_of(const Data& data, Family family, const Dense& lambda,
                                              const Wish& wish = {}) {
  PosteriorKind kind{
      family, data.network->parameters(), 0, {}, {}, point_parameters_of<double>(*data.network)};
  if (family == Family::kronecker) kind.matrices = matrices_of<double>(*data.network);
  if (family == Family::layerwise_full)
    for (const MatrixShape& shape : matrices_of<double>(*data.network))
      kind.blocks.push_back(shape.parameters());
  std::shared_ptr<Posterior<double>> q = create_posterior<double>(kind);
  std::ranges::copy(data.theta.values, q->mean().begin());
  q->set_blank(false);
  Optimizer<double> optimizer(data.network, q, find_method("laplace"), 3 * data.examples);
  Options options = optimizer.options();
  options.fisher = wish.fisher;
  options.kronecker_eigenvalues = wish.eigenvalues;
  options.seed = static_cast<std::int64_t>(wish.seed);
  optimizer.set_options(options);
  optimizer.prior().fix(lambda.values);
  laplace(optimizer, data.x_array(), data.y_array());
  assert_same("mean", column_of(std::as_const(*q).mean()), data.theta);
  return q;
}

/// One dense layer with Gaussian noise: N Lambda (x) mean x x^T + delta is the whole precision.
void a_linear_gaussian_model_is_exact(void**) {
  for (const bool bias : {false, true}) {
    const Data data(make_network<double>({4, 3}, gaussian(3, {0.5, 2, 3}), bias), 30, 3);
    const Dense lambda(data.network->parameters(), 1, 0.7);
    const Dense full = dense_precision(*laplace_of(data, Family::full, lambda));
    for (const auto eigenvalues : {KroneckerEigenvalues::products, KroneckerEigenvalues::corrected})
      assert_close(
          "precision",
          dense_precision(*laplace_of(data, Family::kronecker, lambda, {FisherLabels::exact, eigenvalues})),
          full, 1e-11);
  }
}

/// One output: Gamma is a number, and Omega weighs all examples alike where the curvature does.
void one_example_of_one_layer_is_exact(void**) {
  const Data data(make_network<double>({3, 4}, Likelihood(BDL_CATEGORICAL, 4)), 1, 4);
  const Dense lambda(data.network->parameters(), 1, 0.3);
  assert_close("precision", dense_precision(*laplace_of(data, Family::kronecker, lambda)),
               dense_precision(*laplace_of(data, Family::full, lambda)), 1e-11);
}

/// Factors from the gradients of single examples: Omega's and Gamma's sums, block by block.
struct Reference {
  Dense omega, gamma;  ///< of a dense layer
};

/// Returns the factors of the layer whose parameters begin at `offset`; `rows` has a gradient for each seed,
/// D x n.
Reference factors_of(const Dense& rows, const MatrixShape& shape, Index offset, Index examples) {
  const Index q = shape.columns(), o = shape.outputs;
  Reference out{Dense(q, q), Dense(o, o)};
  for (Index r = 0; r < rows.cols; ++r) {
    Dense g(q, o);  // u e^T with a last 1 in u
    for (Index i = 0; i < o; ++i)
      for (Index j = 0; j < q; ++j) g(j, i) = rows(offset + parameter_of(shape, i, j), r);
    Dense e(o, 1);
    for (Index i = 0; i < o; ++i) e(i, 0) = g(q - 1, i);
    const double length = dot(e, e);
    const Dense u = 1 / length * (g * e);
    out.gamma = out.gamma + e * transposed(e);
    if (r < examples) out.omega = out.omega + 1 / static_cast<double>(examples) * (u * transposed(u));
  }
  return out;
}

/// Gradients for the columns of a root of the Hessian at the outputs, seed by seed.
Dense root_rows(const Data& data) {
  const Network<double>& network = *data.network;
  const Index outputs = network.outputs(), size = network.parameters(), n = data.examples;
  Dense rows(size, n * outputs);
  Scratch scratch;
  for (Index i = 0; i < n; ++i) {
    const ConstMatrixView<double> one(data.x.data() + i * network.inputs(), network.inputs(), 1);
    Padded<double> jacobian(poison(size, outputs), 1);
    write_jacobian<double>(network, data.theta.values, one, jacobian.view());
    std::vector<double> f(static_cast<std::size_t>(outputs));
    network.forward(data.theta.values, one, {f.data(), outputs, 1}, scratch);
    for (Index k = 0; k < outputs; ++k) {
      Dense seed(outputs, 1);
      double unused = 0;
      network.likelihood.hessian_root(f.data(), data.y.data() + i * network.likelihood.targets(), k,
                                      seed.values.data(), &unused);
      const Dense row = jacobian.dense() * seed;
      std::copy_n(row.column(0), size, rows.column(k * n + i));
    }
  }
  return rows;
}

void layers_have_the_factors_of_their_gradients(void**) {
  for (const Index examples : {9, 1500}) {
    const Data data(make_network<double>({3, 4, 3}, Likelihood(BDL_CATEGORICAL, 3)), examples, 5);
    const Dense lambda = Random(6).uniform(data.network->parameters(), 1, 0.5, 2), rows = root_rows(data);
    const auto products = laplace_of(data, Family::kronecker, lambda),
               corrected = laplace_of(data, Family::kronecker, lambda,
                                      {FisherLabels::exact, KroneckerEigenvalues::corrected});
    Index offset = 0;
    for (std::size_t k = 0; k < 2; ++k) {
      const MatrixShape shape = products->kind().matrices[k];
      const Reference expected = factors_of(rows, shape, offset, examples);
      const auto& got = dynamic_cast<const KroneckerPosterior<double>&>(
          as_blocks(std::as_const(*products)).member(static_cast<Index>(k)));
      const auto& better = dynamic_cast<const KroneckerPosterior<double>&>(
          as_blocks(std::as_const(*corrected)).member(static_cast<Index>(k)));
      const Dense ug = dense_of(got.output_vectors()), uo = dense_of(got.input_vectors()),
                  lo = diagonal_of(transposed(uo) * expected.omega * uo),
                  lg = diagonal_of(transposed(ug) * expected.gamma * ug);
      assert_close("Uo Lo Uo^T", uo * diagonal_matrix(lo) * transposed(uo), expected.omega, 1e-11);
      assert_close("Ug Lg Ug^T", ug * diagonal_matrix(lg) * transposed(ug), expected.gamma, 1e-11);
      Dense scaled(shape.columns(), shape.outputs), squares(scaled);
      for (Index o = 0; o < shape.outputs; ++o)
        for (Index j = 0; j < shape.columns(); ++j) {
          Dense pair(data.network->parameters(), 1);
          for (Index a = 0; a < shape.outputs; ++a)
            for (Index b = 0; b < shape.columns(); ++b)
              pair(offset + parameter_of(shape, a, b), 0) = ug(a, o) * uo(b, j);
          double delta = 0;
          for (Index i = 0; i < pair.rows; ++i) delta += lambda(i, 0) * pair(i, 0) * pair(i, 0);
          const Dense along = transposed(rows) * pair;
          scaled(j, o) = 3 * lo(j, 0) * lg(o, 0) + delta;
          squares(j, o) = 3 * dot(along, along) + delta;
        }
      assert_close("products", dense_of(got.precision()), scaled, 1e-10);
      assert_close("corrected", dense_of(better.precision()), squares, 1e-10);
      offset += shape.parameters();
    }
  }
}

/// Corrected, the blocks of the full precision have this diagonal; products are less near.
void a_small_network_is_near_the_full_one(void**) {
  const Data data(make_network<double>({3, 4, 3}, Likelihood(BDL_CATEGORICAL, 3)), 200, 7);
  const Dense lambda(data.network->parameters(), 1, 1.0);
  const auto full = laplace_of(data, Family::full, lambda);
  Scratch scratch;
  const auto distance = [&](KroneckerEigenvalues eigenvalues) {
    return kl(*laplace_of(data, Family::kronecker, lambda, {FisherLabels::exact, eigenvalues}), *full,
              scratch);
  };
  const auto diagonal = create_posterior<double>({Family::low_rank, data.network->parameters(), 0});
  diagonal->set_diagonal(diagonal_of(dense_precision(*full)).values, {});
  std::ranges::copy(data.theta.values, diagonal->mean().begin());
  const double products = distance(KroneckerEigenvalues::products),
               corrected = distance(KroneckerEigenvalues::corrected), without = kl(*diagonal, *full, scratch);
  assert_true(corrected < products && products < without && corrected > 0);
}

/// Over many seeds, one drawn label is the exact curvature in the mean.
void drawn_labels_are_right_in_the_mean(void**) {
  for (const auto& likelihood : {Likelihood(BDL_CATEGORICAL, 3), gaussian(3, {2})}) {
    const Data data(make_network<double>({2, 3}, likelihood), 3000, 8);
    const Dense lambda(data.network->parameters(), 1, 1e-3);
    const auto exact = laplace_of(data, Family::kronecker, lambda),
               drawn = laplace_of(data, Family::kronecker, lambda, {FisherLabels::sampled}),
               again = laplace_of(data, Family::kronecker, lambda, {FisherLabels::sampled}),
               other = laplace_of(data, Family::kronecker, lambda,
                                  {FisherLabels::sampled, KroneckerEigenvalues::products, 2});
    const Dense p = dense_precision(*exact), s = dense_precision(*drawn);
    assert_same("the same seed", dense_precision(*again), s);
    assert_true(max_abs(dense_precision(*other) - s) > 0);
    assert_true(max_abs(s - p) < 0.1 * max_abs(p) && max_abs(s - p) > 1e-6 * max_abs(p));
    const auto of_data = laplace_of(data, Family::kronecker, lambda, {FisherLabels::empirical});
    assert_true(max_abs(dense_precision(*of_data) - p) > 1e-6 * max_abs(p));
  }
}

/// A Kronecker-factored prior adds what is diagonal in the basis; with its own eigenvectors all of it.
void a_posterior_of_the_family_can_be_the_prior(void**) {
  const Data data(make_network<double>({3, 2}, gaussian(2, {1.5})), 20, 9);
  const Dense lambda(data.network->parameters(), 1, 0.5);
  const auto first = laplace_of(data, Family::kronecker, lambda);
  std::shared_ptr<Posterior<double>> q = first->clone();
  Optimizer<double> optimizer(data.network, q, find_method("laplace"), 3 * data.examples);
  optimizer.set_prior(first->clone());
  laplace(optimizer, data.x_array(), data.y_array());
  const Dense once = dense_precision(*first), identity_part = 0.5 * identity(once.rows);
  assert_close("twice the data", dense_precision(*q), 2.0 * once - identity_part, 1e-11);
}

/// Partial traces over a matrix's parameters.
struct PartialTraces {
  Dense inputs, outputs;
};
PartialTraces partial_traces(const Dense& precision, const MatrixShape& shape, Index offset) {
  const Index q = shape.columns(), o = shape.outputs;
  PartialTraces out{Dense(q, q), Dense(o, o)};
  const auto place = [&](Index a, Index b) { return offset + parameter_of(shape, a, b); };
  for (Index a = 0; a < o; ++a)
    for (Index b = 0; b < q; ++b) {
      for (Index d = 0; d < q; ++d) out.inputs(b, d) += precision(place(a, b), place(a, d));
      for (Index c = 0; c < o; ++c) out.outputs(a, c) += precision(place(a, b), place(c, b));
    }
  return out;
}

/// With eigenvectors of its own it turns the basis, to that of the whole precision's partial traces, along
/// which the posterior has the whole precision's diagonal.
void a_prior_of_another_basis_turns_it(void**) {
  const auto network = make_network<double>({3, 4, 3}, Likelihood(BDL_CATEGORICAL, 3));
  const Data before(network, 30, 12), data(network, 25, 13);
  const Dense lambda(network->parameters(), 1, 0.5);
  const auto prior = laplace_of(before, Family::kronecker, lambda);
  const Dense added = dense_precision(*prior) - 0.5 * identity(network->parameters()),
              joint = dense_precision(*laplace_of(data, Family::kronecker, lambda)) + added,
              full = dense_precision(*laplace_of(data, Family::layerwise_full, lambda)) + added;
  for (const auto eigenvalues : {KroneckerEigenvalues::products, KroneckerEigenvalues::corrected}) {
    const Dense& whole = eigenvalues == KroneckerEigenvalues::products ? joint : full;
    std::shared_ptr<Posterior<double>> q = prior->clone();
    std::ranges::copy(data.theta.values, q->mean().begin());
    Optimizer<double> optimizer(network, q, find_method("laplace"), 3 * data.examples);
    Options options = optimizer.options();
    options.kronecker_eigenvalues = eigenvalues;
    optimizer.set_options(options);
    optimizer.set_prior(prior->clone());
    laplace(optimizer, data.x_array(), data.y_array());
    Index offset = 0;
    for (Index k = 0; k < 2; ++k) {
      const auto& got =
          dynamic_cast<const KroneckerPosterior<double>&>(as_blocks(std::as_const(*q)).member(k));
      const MatrixShape& shape = got.shape();
      const Dense ug = dense_of(got.output_vectors()), uo = dense_of(got.input_vectors());
      const PartialTraces traces = partial_traces(joint, shape, offset);
      const Dense inputs = transposed(uo) * traces.inputs * uo,
                  outputs = transposed(ug) * traces.outputs * ug;
      assert_close("inputs", inputs, diagonal_matrix(diagonal_of(inputs)), 1e-10);
      assert_close("outputs", outputs, diagonal_matrix(diagonal_of(outputs)), 1e-10);
      Dense expected(shape.columns(), shape.outputs);
      for (Index o = 0; o < shape.outputs; ++o)
        for (Index j = 0; j < shape.columns(); ++j) {
          Dense pair(network->parameters(), 1);
          for (Index a = 0; a < shape.outputs; ++a)
            for (Index b = 0; b < shape.columns(); ++b)
              pair(offset + parameter_of(shape, a, b), 0) = ug(a, o) * uo(b, j);
          expected(j, o) = dot(pair, whole * pair);
        }
      assert_close("precision", dense_of(got.precision()), expected, 1e-10);
      offset += shape.parameters();
    }
  }
}

/// Points stay points, and the running statistics are those that predictions use.
void points_stay_points(void**) {
  auto graph = std::make_shared<const Graph<double>>(
      "input 2 4 4; conv 3 3 pad 1 nobias; batchnorm; relu; conv 4 2 stride 2; tanh; flatten; dense 3");
  const Data data(std::make_shared<Network<double>>(graph, Likelihood(BDL_CATEGORICAL, 3)), 25, 10);
  const Dense lambda(data.network->parameters(), 1, 1.0);
  for (const auto eigenvalues : {KroneckerEigenvalues::products, KroneckerEigenvalues::corrected}) {
    const auto q = laplace_of(data, Family::kronecker, lambda, {FisherLabels::exact, eigenvalues});
    const Dense precision = dense_precision(*q);
    for (Index i = 54; i < 60; ++i) {
      assert_true(precision(i, i) == 1);
      for (Index j = 0; j < precision.rows; ++j) assert_true(i == j || precision(i, j) == 0);
    }
    // A rotation keeps the trace, of which the corrected one has all.
    const Dense full = dense_precision(*laplace_of(data, Family::layerwise_full, lambda));
    if (eigenvalues == KroneckerEigenvalues::corrected)
      assert_near("trace", trace(precision), trace(full), 1e-10);
  }
}

}  // namespace

int test_kronecker_laplace() {
  const CMUnitTest tests[] = {cmocka_unit_test(a_linear_gaussian_model_is_exact),
                              cmocka_unit_test(one_example_of_one_layer_is_exact),
                              cmocka_unit_test(layers_have_the_factors_of_their_gradients),
                              cmocka_unit_test(a_small_network_is_near_the_full_one),
                              cmocka_unit_test(drawn_labels_are_right_in_the_mean),
                              cmocka_unit_test(a_posterior_of_the_family_can_be_the_prior),
                              cmocka_unit_test(a_prior_of_another_basis_turns_it),
                              cmocka_unit_test(points_stay_points)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
