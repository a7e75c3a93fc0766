#include "methods.hpp"

#include <algorithm>
#include <filesystem>

namespace slang {
namespace {

/// alpha_0 = beta_0 = 0.05, divided by 1 + t^0.51; minibatches with replacement, 12 samples.
std::vector<const char*> paper(std::vector<const char*> more) {
  std::vector<const char*> options = {"learning_rate=0.05", "curvature_rate=0.05",  "schedule=power",
                                      "decay=0.51",         "sampling=replacement", "samples=12"};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> table = {
      {"SLANG", "slang", "low-rank", 1, paper({"momentum=0.9"})},
      {"SLANG", "slang", "low-rank", 5, paper({"momentum=0.9"})},
      {"SLANG", "slang", "low-rank", 10, paper({"momentum=0.9"})},
      {"SLANG", "slang", "low-rank", 2, paper({"momentum=0.9"})},
      {"mf-EF", "vogn", "low-rank", 0, paper({"momentum=0"})},
      {"mf-Hessian", "von", "low-rank", 0, paper({"momentum=0"})},
      {"EF", "slang", "full", 0, paper({"momentum=0"})},
      {"Hessian", "slang", "full", 0, paper({"momentum=0", "curvature=mc-hess"})},
  };
  return table;
}

bool is_stochastic(const Method& method) {
  return std::ranges::any_of(method.options,
                             [](std::string option) { return option.starts_with("sampling"); });
}

bool is_dear(const Method& method) {
  return is_stochastic(method) && method.family == std::string("full");
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
