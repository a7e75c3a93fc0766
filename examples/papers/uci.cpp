// Regression on the UCI data sets of Gal and Ghahramani (2016) with their published splits: a network of one
// hidden layer of 50 ReLU units, default options, no search. Prints test RMSE and log likelihood (per point,
// and the joint form that the SLANG paper reports) with standard errors, beside the tuned figures of Mishkin
// et al. (2018), table 2.
#include <bdl/bdl.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "support/dataset.h"

namespace {

struct Published {
  const char *name, *label;
  const char *slang_rmse, *dropout_rmse, *slang_ll, *dropout_ll;
};

constexpr Published published[] = {
    {"bostonHousing", "Boston", "3.21 +- 0.19", "2.97 +- 0.19", "-2.58 +- 0.05", "-2.46 +- 0.06"},
    {"concrete", "Concrete", "5.58 +- 0.19", "5.23 +- 0.12", "-3.13 +- 0.03", "-3.04 +- 0.02"},
    {"energy", "Energy", "0.64 +- 0.03", "1.66 +- 0.04", "-1.12 +- 0.01", "-1.99 +- 0.02"},
    {"kin8nm", "Kin8nm", "0.08 +- 0.00", "0.10 +- 0.00", "1.06 +- 0.00", "0.95 +- 0.01"},
    {"naval-propulsion-plant", "Naval", "0.00 +- 0.00", "0.01 +- 0.00", "4.76 +- 0.00", "3.80 +- 0.01"},
    {"power-plant", "Power", "4.16 +- 0.04", "4.02 +- 0.04", "-2.84 +- 0.01", "-2.80 +- 0.01"},
    {"wine-quality-red", "Wine", "0.65 +- 0.01", "0.62 +- 0.01", "-0.97 +- 0.01", "-0.93 +- 0.01"},
    {"yacht", "Yacht", "1.08 +- 0.06", "1.11 +- 0.09", "-1.88 +- 0.01", "-1.55 +- 0.03"},
};

struct Settings {
  std::string folder;
  std::vector<std::string> datasets, options, methods = {"slang", "slang-ggn"};
  int splits = 20, epochs = 120, rank = 5, samples = 500, threads = 2;
  double dropout_rate = 0.05;
};

struct Score {
  double rmse = 0, per_point = 0, joint = 0, coverage = 0;
};

void check(bdl_status status) {
  if (status == BDL_OK) return;
  std::fprintf(stderr, "%s\n", bdl_last_error());
  std::exit(1);
}

/// name=value of any option, for experiments; the published table uses none.
void set_option(bdl_optimizer* opt, const std::string& assignment) {
  const auto equals = assignment.find('=');
  const std::string name = assignment.substr(0, equals), value = assignment.substr(equals + 1);
  const char* known = nullptr;
  bdl_option_type type;
  for (int64_t i = 0; bdl_option_describe(i, &known, &type, nullptr, nullptr, nullptr) == BDL_OK; ++i) {
    if (name != known) continue;
    if (type == BDL_OPTION_DOUBLE)
      return check(bdl_optimizer_set_double(opt, known, std::atof(value.c_str())));
    if (type == BDL_OPTION_INT) return check(bdl_optimizer_set_int(opt, known, std::atoll(value.c_str())));
    return check(bdl_optimizer_set_choice(opt, known, value.c_str()));
  }
  check(bdl_optimizer_set_double(opt, name.c_str(), 0));  // says which name is nearest
}

double log_mean_exp(const std::vector<double>& values) {
  const double top = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (double value : values) sum += std::exp(value - top);
  return top + std::log(sum / static_cast<double>(values.size()));
}

/// Both forms of the test log likelihood from the same posterior draws.
void log_likelihoods(const bdl_model* model, const bdl_posterior* q, bdl_matrix x, bdl_matrix y, int samples,
                     Score& score) {
  const int64_t dimension = bdl_model_parameters(model), count = x.rows;
  std::vector<double> theta(static_cast<std::size_t>(dimension)),
      log_density(static_cast<std::size_t>(count));
  std::vector<std::vector<double>> by_point(static_cast<std::size_t>(count));
  std::vector<double> sums;
  for (int s = 0; s < samples; ++s) {
    check(bdl_posterior_sample(q, 1, s, bdl_f64(theta.data(), 1, dimension)));
    check(bdl_model_log_likelihood(model, bdl_f64(theta.data(), 1, dimension), x, y,
                                   bdl_f64(log_density.data(), count, 1)));
    sums.push_back(0);
    for (std::size_t i = 0; i < log_density.size(); ++i) {
      by_point[i].push_back(log_density[i]);
      sums.back() += log_density[i];
    }
  }
  score.joint = log_mean_exp(sums) / static_cast<double>(count);
  for (const auto& values : by_point) score.per_point += log_mean_exp(values) / static_cast<double>(count);
}

Score run_split(const Settings& settings, const std::string& method, const std::string& name, int split) {
  const std::string path = settings.folder + "/" + name;
  dataset all = dataset_read((path + "/data.csv").c_str()), train, test;
  dataset_split(&all, (path + "/test_rows.csv").c_str(), split, &train, &test);
  const double sd = dataset_standardise(&train, &test);
  const int64_t d = train.cols - 1;
  const auto features = [d](const dataset& part) {
    return bdl_strided(part.values, BDL_F64, part.rows, d, d + 1, 1);
  };
  const auto target = [d](const dataset& part) {
    return bdl_strided(part.values + d, BDL_F64, part.rows, 1, d + 1, 1);
  };

  bdl_model* model = nullptr;
  bdl_posterior* q = nullptr;
  bdl_optimizer* opt = nullptr;
  const int64_t sizes[] = {d, 50, 1};
  check(bdl_model_create_mlp(BDL_F64, sizes, 3, BDL_RELU, 1, BDL_GAUSSIAN, &model));
  if (method == "mc-dropout")
    check(bdl_posterior_create_dropout(model, settings.dropout_rate, settings.dropout_rate, &q));
  else
    check(bdl_posterior_create_low_rank(BDL_F64, bdl_model_parameters(model), settings.rank, &q));
  check(bdl_optimizer_create(model, q, method.c_str(), train.rows, &opt));
  check(bdl_optimizer_set_int(opt, "seed", split + 1));
  for (const std::string& option : settings.options) set_option(opt, option);
  check(bdl_optimizer_fit(opt, features(train), target(train), settings.epochs, nullptr, nullptr));

  Score score;
  std::vector<double> mean(static_cast<std::size_t>(test.rows)), lower(mean), upper(mean);
  const auto column = [&](std::vector<double>& v) { return bdl_f64(v.data(), test.rows, 1); };
  check(bdl_predict(model, q, features(test), BDL_MONTE_CARLO, settings.samples, 1, column(mean), bdl_none(),
                    bdl_none()));
  check(bdl_predict_interval(model, q, features(test), BDL_MONTE_CARLO, settings.samples, 1, 0.9,
                             column(lower), column(upper)));
  check(bdl_metric_rmse(column(mean), target(test), &score.rmse));
  check(bdl_metric_coverage(column(lower), column(upper), target(test), &score.coverage));
  log_likelihoods(model, q, features(test), target(test), settings.samples, score);
  score.rmse *= sd;
  score.joint -= std::log(sd);
  score.per_point -= std::log(sd);
  bdl_optimizer_free(opt);
  bdl_posterior_free(q);
  bdl_model_free(model);
  dataset_free(&all);
  dataset_free(&train);
  dataset_free(&test);
  return score;
}

/// Splits are independent: handles of different threads never meet.
std::vector<Score> run_splits(const Settings& settings, const std::string& method, const std::string& name) {
  std::vector<Score> scores(static_cast<std::size_t>(settings.splits));
  std::atomic<int> next{0};
  std::vector<std::thread> workers;
  for (int t = 0; t < settings.threads; ++t)
    workers.emplace_back([&] {
      for (int split; (split = next++) < settings.splits;)
        scores[static_cast<std::size_t>(split)] = run_split(settings, method, name, split);
    });
  for (std::thread& worker : workers) worker.join();
  return scores;
}

std::string mean_and_error(const std::vector<Score>& scores, double Score::*field) {
  const auto n = static_cast<double>(scores.size());
  double mean = 0, squares = 0;
  for (const Score& score : scores) mean += score.*field / n;
  for (const Score& score : scores) squares += std::pow(score.*field - mean, 2);
  char text[64];
  const int digits = std::abs(mean) < 0.1 ? 4 : 2;
  std::snprintf(text, sizeof text, "%.*f +- %.*f", digits, mean, digits,
                n > 1 ? std::sqrt(squares / (n - 1) / n) : 0.0);
  return text;
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t comma; (comma = text.find(',', begin)) != std::string::npos; begin = comma + 1)
    parts.push_back(text.substr(begin, comma - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i], value = argv[i + 1];
    if (flag == "--folder")
      settings.folder = value;
    else if (flag == "--datasets")
      settings.datasets = split_commas(value);
    else if (flag == "--splits")
      settings.splits = std::atoi(value.c_str());
    else if (flag == "--epochs")
      settings.epochs = std::atoi(value.c_str());
    else if (flag == "--rank")
      settings.rank = std::atoi(value.c_str());
    else if (flag == "--samples")
      settings.samples = std::atoi(value.c_str());
    else if (flag == "--dropout-rate")
      settings.dropout_rate = std::atof(value.c_str());
    else if (flag == "--threads")
      settings.threads = std::atoi(value.c_str());
    else if (flag == "--methods")
      settings.methods = split_commas(value);
    else if (flag == "--option")
      settings.options.push_back(value);
    else
      std::fprintf(stderr, "unknown flag %s\n", argv[i]), std::exit(2);
  }
  return settings;
}

void print_row(const Published& row, const char* method, const std::vector<Score>& scores, double seconds) {
  const auto show = [&](double Score::*field) { return mean_and_error(scores, field); };
  std::printf("%-8s %-17s %-18s %-18s %-18s %-16s %.1f s\n", row.label, method, show(&Score::rmse).c_str(),
              show(&Score::per_point).c_str(), show(&Score::joint).c_str(), show(&Score::coverage).c_str(),
              seconds);
  std::fflush(stdout);
}

void run_dataset(const Settings& settings, const Published& row) {
  std::printf("%-8s %-17s %-18s %-18s %-18s\n", row.label, "SLANG, published", row.slang_rmse, "",
              row.slang_ll);
  std::printf("%-8s %-17s %-18s %-18s\n", row.label, "dropout, published", row.dropout_rmse, row.dropout_ll);
  for (const std::string& method : settings.methods) {
    const double start = seconds_now();
    const std::vector<Score> scores = run_splits(settings, method, row.name);
    print_row(row, method.c_str(), scores, seconds_now() - start);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  std::printf("rank %d, %d epochs, %d splits, %d posterior draws; %s\n", settings.rank, settings.epochs,
              settings.splits, settings.samples, bdl_build_info());
  std::printf("published: tuned by Bayesian optimisation, 20 splits; ours: default options\n\n");
  std::printf("%-8s %-17s %-18s %-18s %-18s %-16s\n", "data", "method", "test RMSE", "LL per point",
              "LL joint", "90 % intervals");
  for (const std::string& name : settings.datasets) {
    const auto row = std::find_if(std::begin(published), std::end(published),
                                  [&](const Published& p) { return name == p.name; });
    if (row == std::end(published)) {
      std::fprintf(stderr, "no data set %s\n", name.c_str());
      return 2;
    }
    run_dataset(settings, *row);
  }
  return 0;
}
