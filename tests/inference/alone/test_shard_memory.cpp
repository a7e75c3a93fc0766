// Memory of steps on shards of the minibatch, of every method that takes them: stated before anything is
// allocated, and held after some epochs, of which the later steps allocate nothing.
#include "base/error.hpp"
#include "support/network_posteriors.hpp"
#include "support/training.hpp"
#include "support/verify_held.hpp"
#include "train/fit.hpp"
#include "train/memory.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index rows = 96, minibatch = 24, epochs = 3, inputs = 12;

struct Subject {
  const char* text;
  bdl_likelihood likelihood;
  Index outputs;
};
constexpr Subject subjects[] = {
    {"input 12; dense 9; tanh; dense 3", BDL_CATEGORICAL, 3},
    {"input 12; dense 1", BDL_BERNOULLI, 1},
    {"input 1 3 4; conv 3 3 pad 1 nobias; batchnorm; relu; dense 4; tanh; dense 2", BDL_GAUSSIAN, 2}};

struct Kind {
  Family family;
  Index rank;
};
constexpr Kind kinds[] = {{Family::low_rank, 3},
                          {Family::low_rank, 0},
                          {Family::full, 0},
                          {Family::full_moment, 0},
                          {Family::diagonal_moment, 0},
                          {Family::dropout, 0},
                          {Family::layerwise_full, 0},
                          {Family::low_rank_moment, 2},
                          {Family::kronecker, 0},
                          {Family::layerwise_low_rank_moment, 2}};

/// Options that change how rows are exchanged or used.
struct Variation {
  const char* name;
  void (*change)(Options&);
};
constexpr Variation variations[] = {
    {"as it is", [](Options&) {}},
    {"rows by their Gram matrix", [](Options& o) { o.eigen_method = EigenMethod::gram; }},
    {"rows by the range finder", [](Options& o) { o.eigen_method = EigenMethod::randomized; }},
    {"without a guard", [](Options& o) { o.guard = 0; }},
    {"draws of each shard's own", [](Options& o) { o.sample_sharing = SampleSharing::shard; }}};

struct Data {
  std::vector<double> x, y;
};

Data data_for(const Subject& subject) {
  const Index targets = Likelihood(subject.likelihood, subject.outputs).targets();
  Data data{std::vector<double>(rows * inputs),
            std::vector<double>(static_cast<std::size_t>(rows * targets))};
  for (std::size_t k = 0; k < data.x.size(); ++k) data.x[k] = std::sin(static_cast<double>(k * k));
  for (std::size_t i = 0; i < data.y.size(); ++i) data.y[i] = static_cast<double>(i % 2);
  return data;
}

bool accepts(auto& optimizer, Index shards, const Variation& variation) {
  Options options = optimizer.options();
  options.shards = shards;
  options.minibatch = minibatch;
  options.progress_every = 1;
  options.learn_from = 0;
  options.laplace = 0;                                     // after the steps
  options.refine = Refine::no;                             // the same
  if (options.rule == Rule::map) options.learn_noise = 0;  // the same: by the evidence, after epochs
  options.total_steps = 2 * epochs * rows / minibatch;     // SWAG's Gaussian comes in their end
  if (options.guard > 0) options.guard = 1e-6;             // so that it acts
  variation.change(options);
  try {
    optimizer.check_options(options);
    optimizer.set_options(options);
  } catch (const Error&) {
    return false;
  }
  return true;
}

/// Is there such an optimizer?
template <class T>
bool check_memory(const Subject& subject, const Method& method, const Kind& kind, Index shards,
                  const Variation& variation) {
  const auto model = std::make_shared<Network<T>>(std::make_shared<const Graph<T>>(subject.text),
                                                  Likelihood(subject.likelihood, subject.outputs));
  const auto q = posterior_for<T>(kind.family, kind.rank, *model);
  const Data data = data_for(subject);
  const auto before = counting::Held::now();
  std::unique_ptr<Optimizer<T>> optimizer;
  try {
    optimizer = std::make_unique<Optimizer<T>>(model, q, method, rows);
  } catch (const Error&) {
    return false;
  }
  if (!accepts(*optimizer, shards, variation)) return false;
  const std::string name = std::string(method.name) + ", " + family_word(kind.family) + " of rank " +
                           std::to_string(kind.rank) + ", " + std::to_string(shards) + " shards, " +
                           variation.name + ", " + subject.text;
  const Index stated = memory_estimate(*optimizer, minibatch);
  counting::LaterCalls later;
  const Index targets = model->likelihood.targets();
  fit(*optimizer, bdl_f64(data.x.data(), rows, inputs), bdl_f64(data.y.data(), rows, targets), epochs,
      Progress{counting::LaterCalls::look, &later});
  assert_int_equal(later.steps, epochs * rows / minibatch);
  if (later.calls_since > 0) fail_msg("%s: %zu allocations in later steps", name.c_str(), later.calls_since);
  check_held(name.c_str(), counting::Held::now().since(before), stated);
  check_held(name.c_str(), counting::Held::now().since(before), memory_estimate(*optimizer, minibatch));
  return true;
}

template <class T>
void steps_on_shards_hold_what_they_state(void**) {
  int checked = 0;
  std::size_t methods = 0;
  for (const Method& method : method_table()) {
    if (method.kind != MethodKind::batch) continue;
    const int before = checked;
    for (const Subject& subject : subjects)
      for (const Kind& kind : kinds)
        for (const Index shards : {2, 3, 8})
          for (const Variation& variation : variations)
            if (contains(method.families, family_of(kind.family, kind.rank)))
              checked += check_memory<T>(subject, method, kind, shards, variation) ? 1 : 0;
    if (checked == before) fail_msg("%s was not checked", method.name);
    ++methods;
  }
  print_message("%d optimizers of %zu methods\n", checked, methods);
}

}  // namespace

int test_shard_memory() {
  const CMUnitTest tests[] = {cmocka_unit_test(steps_on_shards_hold_what_they_state<float>),
                              cmocka_unit_test(steps_on_shards_hold_what_they_state<double>)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
