// Figures 4 and 6: the ELBO after every epoch with constant rates, of logistic regression and of a network of
// 50 hidden units, on the first split of three data sets.
#include <algorithm>
#include <cmath>

#include "experiments.hpp"
#include "logistic.hpp"
#include "support/dataset.h"
#include "support/table.hpp"

namespace slang {
namespace {

constexpr int split_of_figure = 1;

struct Course {
  const char* kind;  ///< "logistic" or "network"
  const DataSet* set;
  Method method;
  double rate;
  int seed;
  int64_t epochs;
};

/// Table 9. a1a is not in it.
struct Rates {
  const char* data;
  double mean_field, rank_1, rank_2, rank_5, rank_10, full;
  double network_prior;  ///< Table 10
};
constexpr Rates published_rates[] = {
    {"australian_scale", 0.0215, 0.0117, 0.0117, 0.0117, 0.0117, 0.0117, 8},
    {"breast_cancer_scale", 0.0215, 0.0398, 0.0398, 0.0398, 0.0398, 0.0398, 8},
    {"usps_3vs5", 0.0063, 0.0117, 0.0117, 0.0215, 0.0398, 0.0398, 32},
};
constexpr double network_rate = 0.02154435;

const Rates& rates_of(const DataSet& set) {
  return *std::ranges::find(published_rates, std::string(set.name), &Rates::data);
}

std::vector<const char*> constant(const char* samples, const char* momentum, const char* sampling) {
  return {"schedule=power", "decay=0", samples, momentum, sampling};
}

void add_logistic(const DataSet& set, int seeds, int64_t epochs, std::vector<Course>& courses) {
  const Rates& rates = rates_of(set);
  const auto plain = constant("samples=12", "momentum=0", "sampling=replacement");
  const auto heavy = constant("samples=12", "momentum=0.9", "sampling=replacement");
  auto hessian = plain;
  hessian.push_back("curvature=mc-hess");
  auto diagonal_hessian = plain;
  diagonal_hessian.push_back("indefinite=shorten");
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto add = [&](const Method& method, double rate) {
      courses.push_back({"logistic", &set, method, rate, seed, epochs});
    };
    add({"mf-EF", "slang", "low-rank", 0, 0, plain}, rates.mean_field);
    add({"mf-Hessian", "von", "low-rank", 0, 0, diagonal_hessian}, rates.mean_field);
    add({"SLANG", "slang", "low-rank", 1, 0, heavy}, rates.rank_1);
    add({"SLANG", "slang", "low-rank", 2, 0, heavy}, rates.rank_2);
    add({"SLANG", "slang", "low-rank", 5, 0, heavy}, rates.rank_5);
    add({"SLANG", "slang", "low-rank", 10, 0, heavy}, rates.rank_10);
    add({"EF", "slang", "full", 0, 0, plain}, rates.full);
    add({"Hessian", "slang", "full", 0, 0, hessian}, rates.full);
  }
}

void add_networks(const DataSet& set, int seeds, int64_t epochs, std::vector<Course>& courses) {
  constexpr double adam_rate = 0.01;
  const auto plain = constant("samples=20", "momentum=0", "sampling=shuffle");
  const auto heavy = constant("samples=20", "momentum=0.9", "sampling=shuffle");
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto add = [&](const Method& method, double rate) {
      courses.push_back({"network", &set, method, rate, seed, epochs});
    };
    add({"BBB", "bbb", "low-rank", 0, 0, heavy}, adam_rate);
    add({"mf-EF", "slang", "low-rank", 0, 0, plain}, network_rate);
    for (const int64_t rank : {8, 16, 32}) add({"SLANG", "slang", "low-rank", rank, 0, heavy}, network_rate);
  }
}

/// Networks have biases of their own.
Data without_ones(const Data& data) {
  Data rest{{}, {}, data.inputs - 1};
  for (int64_t i = 0; i < data.rows(); ++i)
    rest.append(data.x.data() + i * data.inputs + 1, data.y[static_cast<std::size_t>(i)]);
  return rest;
}

/// Makes a learner that starts from the usual random weights and Sigma = I, with biases nearly free.
Learner wide_learner(const DataSet& set, const Method& method, int64_t rows, int64_t seed) {
  Learner learner = network_learner(set.features, 50, BDL_BERNOULLI, method, rows);
  bdl_optimizer* const optimizer = learner.optimizer.get();
  check(bdl_optimizer_set_double(optimizer, "prior_precision", rates_of(set).network_prior));
  for (const char* option :
       {"bias_prior_precision=1e-6", "learn_prior=0", "initial_precision=1", "threads=1"})
    set_option(optimizer, option);
  check(bdl_optimizer_set_int(optimizer, "seed", seed));
  return learner;
}

/// Records of a course: -ELBO / N after each epoch, and the test score after some.
struct Watch {
  const Learner* learner;
  const Split* data;
  int64_t samples;  ///< of the scores; 0: exact
  double shift;     ///< what the paper leaves out
  std::vector<double> minus_elbo, test_nll;
  double seconds = 0;  ///< spent watching
};

/// About ten points an octave of epochs.
bool is_shown(std::size_t epoch) {
  const auto place = [](std::size_t e) { return std::floor(10 * std::log2(static_cast<double>(e))); };
  return epoch < 2 || place(epoch) != place(epoch - 1);
}

int32_t watch(void* user, const bdl_optimizer*) {
  Watch& seen = *static_cast<Watch*>(user);
  const double start = cpu_seconds();
  seen.minus_elbo.push_back(minus_elbo(*seen.learner, seen.data->train, seen.samples) - seen.shift);
  const bool shown = is_shown(seen.minus_elbo.size());
  seen.test_nll.push_back(shown ? test_nll(*seen.learner, seen.data->test, seen.samples) : 0);
  seen.seconds += cpu_seconds() - start;
  return 0;
}

/// Mean over the last twentieth of the epochs.
double final_value(const std::vector<double>& trace) {
  const std::size_t last = std::max<std::size_t>(1, trace.size() / 20);
  double mean = 0;
  for (std::size_t i = trace.size() - last; i < trace.size(); ++i)
    mean += trace[i] / static_cast<double>(last);
  return mean;
}

/// The first epoch after which minus the ELBO is at most 1 % above its final value.
std::size_t epochs_to_converge(const std::vector<double>& trace) {
  const double end = final_value(trace), bound = end + 0.01 * std::abs(end);
  return static_cast<std::size_t>(
      std::ranges::find_if(trace, [bound](double value) { return value <= bound; }) - trace.begin() + 1);
}

Row key_of(const Course& course) {
  return {course.kind, course.set->name, course.method.label, std::to_string(course.method.rank),
          std::to_string(course.seed)};
}

void run(const Settings& settings, const Course& course, Table& traces, Table& summary) {
  const bool network = course.kind == std::string("network");
  Split data = read_split(settings.data, *course.set, split_of_figure);
  if (network) data = {without_ones(data.train), without_ones(data.test)};
  const double start = cpu_seconds();
  const Learner learner = network
                              ? wide_learner(*course.set, course.method, data.train.rows(), course.seed)
                              : logistic_learner(*course.set, course.method, data.train.rows(), course.seed);
  bdl_optimizer* const optimizer = learner.optimizer.get();
  check(bdl_optimizer_set_int(optimizer, "minibatch", course.set->minibatch));
  check(bdl_optimizer_set_double(optimizer, "learning_rate", course.rate));
  if (std::string(course.method.name) != "bbb")
    check(bdl_optimizer_set_double(optimizer, "curvature_rate", course.rate));
  Watch seen{&learner, &data, network ? 20 : 0, network ? 0 : bias_normaliser(data.train), {}, {}};
  check(bdl_optimizer_fit(optimizer, data.train.all_inputs(), data.train.all_targets(), course.epochs, watch,
                          &seen));
  std::vector<Row> rows;
  for (std::size_t e = 0; e < seen.minus_elbo.size(); ++e)
    if (is_shown(e + 1)) {
      rows.push_back(key_of(course));
      rows.back().insert(rows.back().end(),
                         {std::to_string(e + 1), number(seen.minus_elbo[e], 8), number(seen.test_nll[e], 8)});
    }
  if (!traces.done(key_of(course))) traces.add(rows);
  Row row = key_of(course);
  row.insert(row.end(),
             {number(course.rate), std::to_string(course.epochs),
              std::to_string(epochs_to_converge(seen.minus_elbo)), number(final_value(seen.minus_elbo), 8),
              number(cpu_seconds() - start - seen.seconds)});
  summary.add({row});
}

}  // namespace

void convergence(const Settings& settings) {
  std::vector<Course> courses;
  for (const Rates& rates : published_rates) {
    const DataSet& set = *std::ranges::find(data_sets(), std::string(rates.data), &DataSet::name);
    add_logistic(set, settings.quick ? 1 : 10, settings.quick ? 3 : 2000, courses);
    add_networks(set, settings.quick ? 1 : set.features > 200 ? 2 : 5, settings.quick ? 2 : 500, courses);
  }
  const Row key = {"model", "data", "method", "rank", "seed"};
  Row trace_header = key, header = key;
  trace_header.insert(trace_header.end(), {"epoch", "minus_elbo", "test_nll"});
  header.insert(header.end(), {"rate", "epochs", "epochs_to_1_percent", "final_minus_elbo", "cpu_seconds"});
  Table traces(settings.results + "/trace.csv", trace_header, key.size());
  Table summary(settings.results + "/convergence.csv", header, key.size());
  std::erase_if(courses, [&](const Course& course) {
    std::string name;
    for (const std::string& part : key_of(course)) name += part + "-";
    return summary.done(key_of(course)) || name.find(settings.only) == std::string::npos;
  });
  in_parallel(settings.threads, courses.size(), [&](std::size_t i) {
    run(settings, courses[i], traces, summary);
    std::fprintf(stderr, "convergence: %zu of %zu\n", i + 1, courses.size());
  });
}

}  // namespace slang
