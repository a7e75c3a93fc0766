// Tables 2 to 4 of Tomczak et al. (2020): every method beside the others after equal steps.
// elrg EXPERIMENT --data DIR --results DIR [--epochs N] [--every N] [--seed N] [--only LABEL] [--quick]
// A run goes on where it was stopped: its checkpoint stands beside the results.
#include <bdl/bdl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "support/handles.hpp"
#include "support/images.hpp"
#include "support/table.hpp"

namespace {

using support::check;
using support::Images;

enum class Family { low_rank_moment, diagonal, low_rank };

struct Method {
  const char *label, *method;
  Family family;
  int64_t rank;
  const char* options;
  int64_t draws = 50;  ///< of predictions; 0: at the mean
};

constexpr Family moment = Family::low_rank_moment;

// As in the paper and its code: Adam with a constant rate, one draw, a wide prior.
constexpr Method methods[] = {
    {"elrg K=1", "elrg", moment, 1, ""},
    {"elrg K=2", "elrg", moment, 2, ""},
    {"elrg K=5", "elrg", moment, 5, ""},
    {"map", "map", Family::diagonal, 0, "", 0},
    {"mf-vi", "mf-vi", moment, 0, ""},
    {"slang L=1", "slang", Family::low_rank, 1, ""},
    {"naive K=1", "low-rank-vi", moment, 1, ""},
    {"naive K=2", "low-rank-vi", moment, 2, ""},
    {"k-tied 2", "k-tied", moment, 0, "tied_rank=2"},
    {"k-tied 3", "k-tied", moment, 0, "tied_rank=3"},
    {"elrg-d K=2", "elrg-d", moment, 2, ""},
    {"elrg K=3", "elrg", moment, 3, ""},
    {"elrg K=4", "elrg", moment, 4, ""},
    {"slang L=8", "slang", Family::low_rank, 8, ""},
    {"elrg K=2 local", "elrg", moment, 2, "noise_estimator=local"},
    {"elrg K=2 weights", "elrg", moment, 2, "noise_estimator=weights"},
    {"elrg K=2 flipout", "elrg", moment, 2, "noise_estimator=flipout"},
    {"elrg K=2 shared", "elrg", moment, 2, "noise_estimator=shared"},
    {"elrg K=0", "elrg", moment, 0, ""},
};

struct Experiment {
  const char *name, *set, *network;
  int64_t minibatch, epochs;
  const char* options;           ///< of the methods by Adam
  std::vector<const char*> run;  ///< labels
};

const Experiment experiments[] = {
    {"table2",
     "mnist",
     "input 784\ndense 400\nrelu\ndense 400\nrelu\ndense 10",
     256,
     50,
     "prior_scaling=elrg prior_precision=0.01 final_rate=1",
     {"elrg K=1", "elrg K=2", "elrg K=5", "naive K=1", "naive K=2", "k-tied 2", "k-tied 3", "mf-vi", "map",
      "slang L=1", "slang L=8"}},
    {"figure2",
     "mnist",
     "input 784\ndense 100\nrelu\ndense 100\nrelu\ndense 10",
     256,
     60,
     "prior_scaling=elrg prior_precision=0.01 final_rate=1",
     {"elrg K=0", "elrg K=1", "elrg K=2", "elrg K=5", "elrg K=2 shared"}},
    {"table3-mnist",
     "mnist",
     "lenet5",
     512,
     10,
     "prior_precision=100 final_rate=1",
     {"elrg K=1", "elrg K=2", "elrg K=5", "mf-vi", "map"}},
    {"table3-fashion",
     "fashion-mnist",
     "lenet5",
     512,
     30,
     "prior_precision=100 final_rate=1",
     {"elrg K=1", "elrg K=2", "elrg K=5", "mf-vi", "map"}},
    {"table3-cifar10",
     "cifar10",
     "lenet5",
     512,
     30,
     "prior_precision=100 final_rate=1",
     {"elrg K=1", "elrg K=2", "elrg K=5", "mf-vi", "map"}},
    {"table4",
     "cifar10",
     "resnet18",
     256,
     2,
     "prior_scaling=elrg prior_precision=1 final_rate=1 learning_rate=5e-4 initial_precision=162754.79 "
     "augment_pad=4 augment_flip=1 augment_fill=reflect initialization=he_fan_out kl_weight=0.125",
     {"map", "mf-vi", "elrg K=1", "elrg K=2", "elrg K=3", "elrg K=4"}},
    {"estimators",
     "mnist",
     "lenet5",
     512,
     3,
     "prior_precision=100 final_rate=1",
     {"elrg K=2 local", "elrg K=2 weights", "elrg K=2 flipout", "elrg K=2 shared"}},
};

const Method& find_method(const std::string& label) {
  for (const Method& method : methods)
    if (label == method.label) return method;
  support::stop("unknown method " + label);
}

const Experiment& find_experiment(const std::string& name) {
  std::string names;
  for (const Experiment& experiment : experiments) {
    if (name == experiment.name) return experiment;
    names += std::string(" ") + experiment.name;
  }
  support::stop("unknown experiment " + name + ", expected one of" + names);
}

struct Arguments {
  std::string experiment, data, results, only;
  int64_t epochs = 0, every = 10, seed = 1;
  bool quick = false;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--quick")
      arguments.quick = true;
    else if (word == "--data" && has_value)
      arguments.data = argv[++i];
    else if (word == "--results" && has_value)
      arguments.results = argv[++i];
    else if (word == "--only" && has_value)
      arguments.only = argv[++i];
    else if (word == "--epochs" && has_value)
      arguments.epochs = std::stoll(argv[++i]);
    else if (word == "--every" && has_value)
      arguments.every = std::stoll(argv[++i]);
    else if (word == "--seed" && has_value)
      arguments.seed = std::stoll(argv[++i]);
    else if (arguments.experiment.empty() && word[0] != '-')
      arguments.experiment = word;
    else
      support::stop("elrg does not know the word " + word);
  }
  if (arguments.experiment.empty() || arguments.results.empty())
    support::stop(
        "elrg EXPERIMENT --data DIR --results DIR [--epochs N] [--every N] [--seed N] [--only LABEL]");
  return arguments;
}

struct Split {
  Images train, test;
};

Split read_data(const std::string& set, const std::string& data) {
  if (set != "cifar10") {
    const std::string folder = data + "/" + set + "/", train = set == "mnist" ? "train" : "train-first10000";
    return {
        support::read_idx(folder + train + "-images-idx3-ubyte.gz", folder + train + "-labels-idx1-ubyte.gz"),
        support::read_idx(folder + "t10k-images-idx3-ubyte.gz", folder + "t10k-labels-idx1-ubyte.gz")};
  }
  const std::string cifar = data + "/cifar10/";
  return {support::read_cifar10({cifar + "train_00000_04999.bin.xz", cifar + "train_05000_09999.bin.xz"}),
          support::read_cifar10({cifar + "test_0000_0999.bin.xz"})};
}

Images stand_in(const std::string& set, int64_t count) {
  return set == "cifar10" ? support::bright_rows(3, 32, count) : support::bright_rows(1, 28, count);
}

support::Model make_model(const Experiment& experiment, const Images& train) {
  const char* text = experiment.network;
  bdl_model* model = nullptr;
  if (std::strncmp(text, "input", 5) != 0)
    check(bdl_network_description(experiment.network, train.channels, train.rows, train.columns, 10, &text));
  check(bdl_model_create_network(BDL_F32, text, BDL_CATEGORICAL, &model));
  support::Model owned(model);
  const double half = 127.5;  // pixels from -1 to 1; colours as their channels vary
  if (train.channels == 1)
    check(bdl_model_set_standardization(model, bdl_f64(&half, 1, 1), bdl_f64(&half, 1, 1), bdl_none(),
                                        bdl_none()));
  else
    check(bdl_model_standardize(model, train.x(0, train.count()), bdl_none()));
  return owned;
}

struct Run {
  support::Model model;
  support::Posterior posterior;
  support::Optimizer optimizer;
};

Run begin(const Experiment& experiment, const Method& method, const Images& train, int64_t seed) {
  Run run{make_model(experiment, train), nullptr, nullptr};
  bdl_posterior* posterior = nullptr;
  check(method.family == moment
            ? bdl_posterior_create_layerwise_low_rank_moment(run.model.get(), method.rank, &posterior)
            : bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(run.model.get()), method.rank,
                                            &posterior));
  run.posterior.reset(posterior);
  bdl_optimizer* optimizer = nullptr;
  check(bdl_optimizer_create(run.model.get(), posterior, method.method, train.count(), &optimizer));
  run.optimizer.reset(optimizer);
  if (method.family != Family::low_rank) {
    check(bdl_optimizer_set_text(optimizer, "learning_rate=1e-3"));
    check(bdl_optimizer_set_text(optimizer, experiment.options));
  }
  check(bdl_optimizer_set_text(optimizer, method.options));
  check(bdl_optimizer_set_int(optimizer, "minibatch", std::min(experiment.minibatch, train.count())));
  check(bdl_optimizer_set_int(optimizer, "seed", seed));
  check(bdl_optimizer_set_int(optimizer, "threads", 1));
  return run;
}

Run resume(const std::string& path) {
  bdl_model* model = nullptr;
  bdl_posterior* posterior = nullptr;
  bdl_optimizer* optimizer = nullptr;
  check(bdl_load(path.c_str(), nullptr, &model, &posterior, &optimizer));
  return {support::Model(model), support::Posterior(posterior), support::Optimizer(optimizer)};
}

struct Scores {
  double error, log_likelihood, calibration;
};

Scores score(const Run& run, const Method& method, const Images& test) {
  const int64_t n = test.count();
  std::vector<double> probabilities(static_cast<std::size_t>(n * 10)),
      log_density(static_cast<std::size_t>(n));
  const bdl_predict_method by = method.draws > 0 ? BDL_MONTE_CARLO : BDL_PLUG_IN;
  check(bdl_predict_classes(run.model.get(), run.posterior.get(), test.x(0, n), by, method.draws, 1,
                            bdl_f64_out(probabilities.data(), n, 10), bdl_none_out(), bdl_none_out()));
  check(bdl_predict_log_density(run.model.get(), run.posterior.get(), test.x(0, n), test.y(0, n), by,
                                method.draws, 1, bdl_f64_out(log_density.data(), n, 1)));
  double accuracy = 0, log_likelihood = 0, ece = 0;
  const bdl_matrix p = bdl_f64(probabilities.data(), n, 10);
  check(bdl_metric_accuracy(p, test.y(0, n), &accuracy));
  check(bdl_metric_ece(p, test.y(0, n), 15, &ece));
  check(bdl_metric_log_predictive_density(bdl_f64(log_density.data(), n, 1), &log_likelihood, nullptr));
  return {100 * (1 - accuracy), log_likelihood, ece};
}

/// Some epochs at a time, each with a row of the table; natural gradients plan their whole course.
void train(const Experiment& experiment, const Method& method, const Split& data, const Arguments& arguments,
           support::Table& table) {
  const int64_t n = data.train.count(), epochs = arguments.epochs > 0 ? arguments.epochs : experiment.epochs;
  const std::string seed = std::to_string(arguments.seed);
  std::string path = arguments.results + "/" + experiment.name + "-" + method.label + "-" + seed;
  std::ranges::replace(path, ' ', '-');
  path += ".safetensors";
  const bool is_planned = method.family == Family::low_rank;
  const int64_t every = is_planned ? epochs : std::min(epochs, arguments.every);
  const auto key = [&](int64_t done) {
    return support::Row{experiment.name, method.label, seed, std::to_string(done)};
  };
  int64_t done = 0;
  while (done + every <= epochs && table.done(key(done + every))) done += every;
  if (done + every > epochs) return;
  Run run = done > 0 && std::filesystem::exists(path) ? resume(path)
                                                      : begin(experiment, method, data.train, arguments.seed);
  if (!std::filesystem::exists(path)) done = 0;
  while (done + every <= epochs) {
    const auto start = std::chrono::steady_clock::now();
    check(bdl_optimizer_fit(run.optimizer.get(), data.train.x(0, n), data.train.y(0, n), every, nullptr,
                            nullptr));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    done += every;
    const Scores scores = score(run, method, data.test);
    check(bdl_save(path.c_str(), nullptr, nullptr, run.optimizer.get()));
    support::Row row = key(done);
    for (const double value : {scores.error, scores.log_likelihood, scores.calibration,
                               seconds.count() / static_cast<double>(every)})
      row.push_back(support::number(value, 4));
    table.add({row});
    std::printf(
        "%s %-16s seed %s %4lld epochs: error %5.2f %%  log likelihood %.4f  ECE %.4f  %.1f s an epoch\n",
        experiment.name, method.label, seed.c_str(), static_cast<long long>(done), scores.error,
        scores.log_likelihood, scores.calibration, seconds.count() / static_cast<double>(every));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments = read_arguments(argc, argv);
  const Experiment& experiment = find_experiment(arguments.experiment);
  if (arguments.quick) arguments.epochs = arguments.every = 1;
  const Split data = arguments.quick ? Split{stand_in(experiment.set, 100), stand_in(experiment.set, 50)}
                                     : read_data(experiment.set, arguments.data);
  support::Table table(
      arguments.results + "/elrg.csv",
      {"experiment", "method", "seed", "epochs", "error", "log_likelihood", "ece", "seconds_per_epoch"}, 4);
  for (const char* label : experiment.run)
    if (arguments.only.empty() || arguments.only == label)
      train(experiment, find_method(label), data, arguments, table);
}
