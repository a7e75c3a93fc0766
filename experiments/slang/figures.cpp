// Means and covariances behind figures 1 and 7: CSV files with the mean in the first row, then the
// covariance.
#include <filesystem>
#include <fstream>
#include <numeric>

#include "experiments.hpp"
#include "methods.hpp"

namespace slang {
namespace {

void write(const Posterior& q, const std::string& path) {
  const int64_t dimension = bdl_posterior_dimension(q.get());
  const auto d = static_cast<std::size_t>(dimension);
  std::vector<double> values((d + 1) * d);
  std::vector<int64_t> all(d);
  std::iota(all.begin(), all.end(), 0);
  check(bdl_posterior_mean(q.get(), bdl_f64_out(values.data(), 1, dimension)));
  check(bdl_posterior_covariance(q.get(), all.data(), dimension, all.data(), dimension,
                                 bdl_f64_out(values.data() + d, dimension, dimension)));
  std::ofstream file(path);
  for (std::size_t i = 0; i < values.size(); ++i)
    file << number(values[i], 10) << (i % d == d - 1 ? '\n' : ',');
  if (!file) stop("cannot write " + path);
}

}  // namespace

void figures(const Settings& settings) {
  const std::string folder = settings.results + "/covariance/";
  std::filesystem::create_directories(folder);
  for (const DataSet& set : data_sets())
    for (const Method& method : methods()) {
      const std::string label = method.label;
      if (label != "exact" && label != "mf-exact" && label != "SLANG" && label != "SLANG-exact") continue;
      if (const Posterior q = load_posterior(settings.results, set, method, 1))
        write(q, folder + set.name + "-" + label + "-" + std::to_string(method.rank) + ".csv");
    }
}

}  // namespace slang
