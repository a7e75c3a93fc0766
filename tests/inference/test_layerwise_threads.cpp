// Layerwise-full posteriors: with one block they are full ones, with a network's layers each layer has the
// precision that a full posterior has there, and results do not depend on the number of threads.
#include "posterior/families.hpp"
#include "predict/predict.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/fit.hpp"
#include "train/stream/stream.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index examples = 24;

struct Data {
  Dense x, y;
  Array inputs() const { return bdl_column_major(x.values.data(), BDL_F64, x.rows, x.cols); }
  Array targets() const { return bdl_column_major(y.values.data(), BDL_F64, y.rows, y.cols); }
};

Data make_data(Index inputs) {
  Random random(3);
  Data data{random.normal(examples, inputs), Dense(examples, 1)};
  for (Index i = 0; i < examples; ++i)
    data.y(i, 0) = std::sin(data.x(i, 0)) + 0.1 * random.normal(1, 1)(0, 0);
  return data;
}

template <class T>
std::shared_ptr<Posterior<T>> layerwise(const std::vector<Index>& blocks) {
  Index dimension = 0;
  for (const Index size : blocks) dimension += size;
  return create_posterior<T>({Family::layerwise_full, dimension, 0, blocks, {}});
}

/// Some steps of a method, with time that passes in streams.
template <class T>
void learn(const Method& method, const std::vector<Index>& sizes, std::shared_ptr<Posterior<T>> q,
           Index threads, bool learns_prior = true) {
  const Data data = make_data(sizes.front());
  const auto model = make_network<T>(sizes, Likelihood(BDL_GAUSSIAN, 1));
  const double noise = 20;
  model->likelihood.set_noise_precision({&noise, 1});
  Optimizer<T> optimizer(model, std::move(q), method, examples);
  Options options = optimizer.options();
  options.threads = static_cast<std::int32_t>(threads);
  options.minibatch = examples / 2;
  options.learn_noise = 0;
  options.initial_precision = 5;
  if (method.kind == MethodKind::stream) {
    options.process_noise = 1e-3;
    options.forgetting = 0.99;
  }
  if (!learns_prior) options.evidence = EvidenceUse::none;
  optimizer.set_options(options);
  if (method.kind == MethodKind::stream)
    observe(optimizer, data.inputs(), data.targets(), bdl_none_out());
  else
    fit(optimizer, data.inputs(), data.targets(), 6, {});
}

template <class Visit>
void for_each_method(Visit&& visit) {
  int count = 0;
  for (const Method& method : method_table())
    if (contains(method.families, Families::layerwise_full)) {
      visit(method, method.kind == MethodKind::exact || std::strcmp(method.name, "slang-exact-hess") == 0);
      ++count;
    }
  assert_true(count >= 15);
}

template <class T>
void one_block_is_a_full_posterior(void**) {
  for_each_method([](const Method& method, bool is_linear) {
    const std::vector<Index> sizes = is_linear ? std::vector<Index>{3, 1} : std::vector<Index>{3, 4, 1};
    const Index dimension = count_parameters(sizes);
    const auto full = std::make_shared<FullPosterior<T>>(dimension);
    const auto one = layerwise<T>({dimension});
    learn<T>(method, sizes, full, 1);
    learn<T>(method, sizes, one, 1);
    assert_same(method.name, column_of(std::as_const(*one).mean()), column_of(std::as_const(*full).mean()));
    assert_same(method.name, dense_precision(*one), dense_precision<T>(*full));
  });
}

template <class T>
void bits_do_not_depend_on_threads(void**) {
  for_each_method([](const Method& method, bool is_linear) {
    const std::vector<Index> sizes = is_linear ? std::vector<Index>{3, 1} : std::vector<Index>{3, 9, 8, 1};
    std::vector<Index> blocks;
    for (std::size_t l = 1; l < sizes.size(); ++l) blocks.push_back(sizes[l] * (sizes[l - 1] + 1));
    const auto one = layerwise<T>(blocks), two = layerwise<T>(blocks);
    learn<T>(method, sizes, one, 1);
    learn<T>(method, sizes, two, 2);
    assert_same(method.name, column_of(std::as_const(*two).mean()), column_of(std::as_const(*one).mean()));
    assert_same(method.name, dense_precision(*two), dense_precision(*one));
  });
}

/// Laplace's precision is the prior's and the Gauss-Newton matrix, whose blocks are the layers'. Data come in
/// chunks.
template <class T>
void laplace_has_the_blocks_of_the_full_precision(void**) {
  const std::vector<Index> sizes = {3, 4, 1};
  const auto full = std::make_shared<FullPosterior<T>>(21);
  const auto blocks = layerwise<T>({16, 5}), crossed = layerwise<T>({7, 14});
  const Method& method = find_method("laplace");
  for (const std::shared_ptr<Posterior<T>>& q : {std::shared_ptr<Posterior<T>>(full), blocks, crossed})
    learn<T>(method, sizes, q, 1, false);
  Dense expected = dense_precision<T>(*full), of_crossed = expected;
  for (Index j = 0; j < 21; ++j)
    for (Index i = 0; i < 21; ++i) {
      if ((i < 16) != (j < 16)) expected(i, j) = 0;
      if ((i < 7) != (j < 7)) of_crossed(i, j) = 0;
    }
  assert_same("mean", column_of(std::as_const(*blocks).mean()), column_of(std::as_const(*full).mean()));
  assert_close("precision", dense_precision(*blocks), expected, accuracy<T>);
  assert_close("precision", dense_precision(*crossed), of_crossed, accuracy<T>);
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_layerwise_threads() {
  const CMUnitTest tests[] = {BOTH(one_block_is_a_full_posterior), BOTH(bits_do_not_depend_on_threads),
                              BOTH(laplace_has_the_blocks_of_the_full_precision)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
