// One network of table 3, from its first step to its test error.
#ifndef SLANG_MNIST_TRAINING_HPP
#define SLANG_MNIST_TRAINING_HPP

#include <string>
#include <vector>

#include "digits.hpp"
#include "support/table.hpp"

namespace mnist {

struct Recipe {
  std::string name;
  std::vector<std::string> options;  ///< "name=value"
};

/// "paper": what the published runs used; "default": nothing.
Recipe recipe_of(const std::string& name);

struct Run {
  Recipe recipe;
  int rank = 1, epochs = 1;
  int64_t hidden = 400;
  int check_samples = 20, test_samples = 1000;  ///< posterior draws after an epoch, at the end
  int64_t validation = 10000;                   ///< of the training images, the last ones
};

/// Columns of epochs.csv and mnist.csv; the first five, or four, name a row.
extern const support::Row epoch_columns, test_columns;

/// Trains unless `tests` holds the run, from its checkpoint in `results` if there is one, and tests.
/// Entropies of digits are compared with those of `fashion`.
void run(const Run& run, const Digits& train, const Digits& test, const Digits& fashion,
         const std::string& results, support::Table& epochs, support::Table& tests);

}  // namespace mnist

#endif
