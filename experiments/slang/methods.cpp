#include "methods.hpp"

#include <algorithm>
#include <filesystem>

namespace slang {
namespace {

using Options = std::vector<const char*>;

/// alpha_0 = beta_0 = 0.05, divided by 1 + t^0.51; minibatches with replacement, 12 samples.
Options paper(const Options& more) {
  Options options = {"learning_rate=0.05", "curvature_rate=0.05",  "schedule=power",
                     "decay=0.51",         "sampling=replacement", "samples=12"};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

/// To a fixed point on all rows, without samples: nearly Newton's steps, of which the mean's comes before the
/// projection to a rank; after it, the mean would oscillate.
const Options newton = {"learning_rate=0.9", "curvature_rate=0.9", "schedule=power", "momentum=0",
                        "mean_update=unprojected"};
const Options damped = {"learning_rate=0.3", "curvature_rate=0.3", "schedule=power", "momentum=0"};

std::vector<Method> make_methods() {
  std::vector<Method> table = {
      {"exact", "exact-full", "full", 0, 5000, {}},
      {"mf-exact", "exact-diagonal", "low-rank", 0, 5000, {}},
      // Where slang-lin-hess stands still, its mean is the mode and its covariance Laplace's.
      {"Laplace", "slang-lin-hess", "full", 0, 1000, damped},
  };
  for (const int64_t rank : {1, 2, 5, 10}) {
    table.push_back({"ELBO-low-rank", "exact-low-rank", "low-rank", rank, 5000, {}});
    table.push_back({"SLANG-exact", "slang-exact-hess", "low-rank", rank, 1000, newton});
    table.push_back({"SLANG-lin", "slang-lin-hess", "low-rank", rank, 1000, newton});
  }
  for (const int64_t rank : {1, 5, 10, 2})
    table.push_back({"SLANG", "slang", "low-rank", rank, 0, paper({"momentum=0.9"})});
  table.push_back({"mf-EF", "slang", "low-rank", 0, 0, paper({"momentum=0"})});
  table.push_back({"mf-Hessian", "von", "low-rank", 0, 0, paper({"momentum=0", "indefinite=shorten"})});
  for (const int64_t rank : {1, 2, 5})
    table.push_back({"OnlineEig", "slang-online-eig", "low-rank", rank, 0, paper({"momentum=0.9"})});
  table.push_back({"EF", "slang", "full", 0, 0, paper({"momentum=0"})});
  table.push_back({"Hessian", "slang", "full", 0, 0, paper({"momentum=0", "curvature=mc-hess"})});
  return table;
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> table = make_methods();
  return table;
}

const Method& exact_method() {
  return methods().front();
}

Row key_of(const DataSet& set, const Method& method, int split) {
  return {set.name, method.label, std::to_string(method.rank), std::to_string(split)};
}

std::string posterior_file(const DataSet& set, const Method& method, int split) {
  const Row key = key_of(set, method, split);
  return "posteriors/" + key[0] + "-" + key[1] + "-" + key[2] + "-" + key[3] + ".safetensors";
}

Posterior load_posterior(const std::string& results, const DataSet& set, const Method& method, int split) {
  const std::string path = results + "/" + posterior_file(set, method, split);
  if (!std::filesystem::exists(path)) return nullptr;
  bdl_posterior* q = nullptr;
  check(bdl_load(path.c_str(), nullptr, nullptr, &q, nullptr));
  return Posterior(q);
}

}  // namespace slang
