// The experiments: which methods are trained on which data, and what is reported.
#ifndef ELRG_EXPERIMENTS_HPP
#define ELRG_EXPERIMENTS_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace elrg {

enum class Family { low_rank_moment, diagonal, low_rank };

struct Method {
  const char *label, *method;
  Family family;
  int64_t rank;
  const char* options;
  int64_t draws = 50;  ///< of predictions; 0: at the mean
};

struct Experiment {
  const char *name, *set, *network;
  int64_t minibatch, epochs;
  const char* options;            ///< of the methods by Adam
  std::vector<const char*> run;   ///< labels
  const char* of_variances = "";  ///< options of those methods by Adam that learn variances
};

/// They end the program where there is none.
const Method& find_method(const std::string& label);
const Experiment& find_experiment(const std::string& name);

struct Settings {
  std::string data, results;
  std::string only;  ///< a label; "": all
  int64_t epochs, every, seed;
  bool quick;
};

/// Adds to elrg.csv a row every few epochs of every method.
void train(const Experiment& experiment, const Settings& settings);

/// figure1.csv: ELBO and test likelihood of a small network by the rank.
void toy(const Settings& settings);

/// estimators.csv and predictions.csv: what each estimator of the noise makes of the posteriors that
/// "table3-mnist" has left.
void compare_estimators(const Settings& settings);

}  // namespace elrg

#endif
