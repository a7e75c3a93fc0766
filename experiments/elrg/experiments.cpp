#include "experiments.hpp"

#include "support/table.hpp"

namespace elrg {
namespace {

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
     "prior_scaling=elrg prior_precision=1 final_rate=1 learning_rate=5e-4 "
     "augment_pad=4 augment_flip=1 augment_fill=reflect initialization=he_fan_out kl_weight=0.125",
     {"map", "mf-vi", "elrg K=1", "elrg K=2", "elrg K=3", "elrg K=4"},
     "initial_precision=162754.79"},
    {"estimators",
     "mnist",
     "lenet5",
     512,
     3,
     "prior_precision=100 final_rate=1",
     {"elrg K=2 local", "elrg K=2 weights", "elrg K=2 flipout", "elrg K=2 shared"}},
};

}  // namespace

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
  support::stop("unknown experiment " + name + ", expected one of figure1 estimators-compare" + names);
}

}  // namespace elrg
