// Compares two treatments of steps by Hessians that would lose positive definiteness: shortened, or all taken
// to second order (the improved Bayesian learning rule; docs/theory/guard.md). Equal steps of the same
// methods with option "indefinite" either way: improved DIR [FIRST_SEED LAST_SEED] prints a line for each
// run, DIR that of the data.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>

#include "support/handles.hpp"
#include "support/table.hpp"

namespace {

using support::check;

struct Set {
  const char *name, *path;
  bdl_likelihood likelihood;
  int64_t outputs;
  enum { csv, libsvm, labelled } format;  // labelled: the label first, then numbers
  int64_t most;                           ///< rows used
};
constexpr Set sets[] = {
    {"yacht", "uci/yacht/data.csv.gz", BDL_GAUSSIAN, 1, Set::csv, 10000},
    {"energy", "uci/energy/data.csv.gz", BDL_GAUSSIAN, 1, Set::csv, 10000},
    {"concrete", "uci/concrete/data.csv.gz", BDL_GAUSSIAN, 1, Set::csv, 10000},
    {"wine", "uci/wine-quality-red/data.csv.gz", BDL_GAUSSIAN, 1, Set::csv, 10000},
    {"australian", "libsvm/australian_scale.gz", BDL_BERNOULLI, 1, Set::libsvm, 10000},
    {"breast-cancer", "libsvm/breast_cancer_scale.gz", BDL_BERNOULLI, 1, Set::libsvm, 10000},
    {"usps", "usps/zip.train.gz", BDL_CATEGORICAL, 10, Set::labelled, 2000},
};

struct Learner {
  const char *name, *method;
  bool is_full;  ///< else diagonal
  bool is_stream;
  int64_t hidden;  ///< 0: a generalised linear model
  int64_t most;    ///< parameters that it is for
  const char* options;
};
constexpr Learner learners[] = {
    {"von, linear", "von", false, false, 0, 5000, ""},
    {"von, network", "von", false, false, 20, 1000, ""},
    {"von-full, linear", "von-full", true, false, 0, 300, ""},
    {"von-full, network", "von-full", true, false, 10, 300, ""},
    {"mc-reparam, linear", "slang", false, false, 0, 5000, "curvature=mc-reparam samples=4 momentum=0"},
    {"mc-reparam, network", "slang", false, false, 20, 10000, "curvature=mc-reparam samples=4 momentum=0"},
    {"rvga, linear", "rvga", true, true, 0, 300, "samples=10"},
    {"rvga, network", "rvga", true, true, 10, 300, "samples=10"},
    {"blr mc-hess full, network", "blr", true, true, 10, 300, "curvature=mc-hess samples=10"},
    {"bong mc-hess diagonal, network", "bong", false, true, 20, 1000, "curvature=mc-hess samples=10"},
    {"bong mc-reparam, linear", "bong", false, true, 0, 5000, "curvature=mc-reparam samples=10"},
    {"bong mc-reparam, network", "bong", false, true, 20, 10000, "curvature=mc-reparam samples=10"},
    {"blr mc-reparam, network", "blr", false, true, 20, 10000, "curvature=mc-reparam samples=10"},
};

/// The rows of a packed file; y last.
support::Data read(const Set& set, const std::string& folder) {
  const std::string path = folder + "/" + set.path;
  std::FILE* file = popen(("gzip -dc '" + path + "'").c_str(), "r");
  if (!file) support::stop("cannot read " + path);
  std::vector<std::vector<double>> rows;
  std::size_t width = 0;
  std::string line;
  for (int c; (c = std::fgetc(file)) != EOF;) {
    if (c != '\n') {
      line += set.format == Set::csv && c == ',' ? ' ' : static_cast<char>(c);
      continue;
    }
    std::vector<double> row;
    char* at = line.data();
    for (char* end = nullptr;; at = end) {
      double value = std::strtod(at, &end);
      if (end == at) break;
      if (*end == ':') {  // libsvm: index:value, the label in front
        const auto index = static_cast<std::size_t>(value);
        row.resize(std::max(row.size(), index + 1));
        at = end + 1;
        row[index] = std::strtod(at, &end);
      } else {
        row.push_back(value);
      }
    }
    if (set.format != Set::csv) std::rotate(row.begin(), row.begin() + 1, row.end());
    if (!row.empty()) rows.push_back(row);
    width = std::max(width, row.size());
    line.clear();
  }
  if (pclose(file) != 0 || rows.empty()) support::stop("cannot read " + path);
  support::Data data;
  data.inputs = static_cast<int64_t>(width) - 1;
  for (auto& row : rows) {
    double target = row.back();
    row.pop_back();
    row.resize(width - 1);
    if (set.likelihood == BDL_BERNOULLI) target = target > 0 && target != 2 ? 1 : 0;
    data.append(row.data(), target);
  }
  return data;
}

support::Model create_model(const Set& set, const Learner& learner, int64_t inputs) {
  bdl_model* model = nullptr;
  const int64_t deep[] = {inputs, learner.hidden, set.outputs}, flat[] = {inputs, set.outputs};
  check(learner.hidden > 0 ? bdl_model_create_mlp(BDL_F64, deep, 3, BDL_TANH, 1, set.likelihood, &model)
                           : bdl_model_create_mlp(BDL_F64, flat, 2, BDL_IDENTITY, 1, set.likelihood, &model));
  return support::Model(model);
}

support::Posterior create_posterior(bool is_full, int64_t d) {
  bdl_posterior* q = nullptr;
  check(is_full ? bdl_posterior_create_full(BDL_F64, d, &q)
                : bdl_posterior_create_low_rank(BDL_F64, d, 0, &q));
  return support::Posterior(q);
}

/// Mean log density of test rows; what the optimizer counts.
void run(const Set& set, const Learner& learner, const support::Data& all, int64_t seed) {
  std::vector<int64_t> order(static_cast<std::size_t>(all.rows()));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  support::Data train, test;
  train.inputs = test.inputs = all.inputs;
  const int64_t used = std::min(all.rows(), set.most);
  for (int64_t i = 0; i < used; ++i) {
    const int64_t row = order[static_cast<std::size_t>(i)];
    (i < used * 9 / 10 ? train : test)
        .append(all.x.data() + row * all.inputs, all.y[static_cast<std::size_t>(row)]);
  }
  for (const char* choice : {"shorten", "improved"}) {
    const support::Model model = create_model(set, learner, all.inputs);
    const int64_t d = bdl_model_parameters(model.get());
    if (d > learner.most) return;
    check(bdl_model_standardize(model.get(), train.all_inputs(), train.all_targets()));
    const support::Posterior q = create_posterior(learner.is_full, d);
    bdl_optimizer* handle = nullptr;
    check(bdl_optimizer_create(model.get(), q.get(), learner.method, learner.is_stream ? 1 : train.rows(),
                               &handle));
    const support::Optimizer optimizer(handle);
    check(bdl_optimizer_set_text(handle, learner.options));
    check(bdl_optimizer_set_int(handle, "seed", seed));
    check(bdl_optimizer_set_int(handle, "threads", 1));
    check(bdl_optimizer_set_choice(handle, "indefinite", choice));
    const bdl_status status =
        learner.is_stream
            ? bdl_optimizer_observe(handle, train.all_inputs(), train.all_targets(), bdl_none_out())
            : bdl_optimizer_fit(handle, train.all_inputs(), train.all_targets(), 40, nullptr, nullptr);
    double mean = NAN, error = NAN;
    if (status == BDL_OK) {
      std::vector<double> density(static_cast<std::size_t>(test.rows()));
      check(bdl_predict_log_density(model.get(), q.get(), test.all_inputs(), test.all_targets(),
                                    BDL_MONTE_CARLO, 200, 1, bdl_f64_out(density.data(), test.rows(), 1)));
      check(bdl_metric_log_predictive_density(bdl_f64(density.data(), test.rows(), 1), &mean, &error));
    } else if (status != BDL_ERROR_DIVERGED) {
      check(status);
    }
    int64_t steps = 0, planned = 0;
    double epoch = 0;
    check(bdl_optimizer_progress(handle, &steps, &planned, &epoch));
    std::printf("%s;%s;%lld;%s;%.4f;%lld;%lld\n", set.name, learner.name, static_cast<long long>(seed),
                choice, mean, static_cast<long long>(steps),
                static_cast<long long>(bdl_optimizer_shortened_steps(handle)));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) support::stop("usage: improved DATA_FOLDER [FIRST_SEED LAST_SEED]");
  const int64_t first = argc == 4 ? std::atoll(argv[2]) : 1, last = argc == 4 ? std::atoll(argv[3]) : 5;
  std::printf("set;learner;seed;indefinite;log_likelihood;steps;shortened\n");
  std::map<const char*, support::Data> data;
  for (const Set& set : sets) data[set.name] = read(set, argv[1]);
  for (int64_t seed = first; seed <= last; ++seed)
    for (const Learner& learner : learners)
      for (const Set& set : sets) run(set, learner, data[set.name], seed);
  return 0;
}
