// Classification of MNIST by a network of two hidden layers of 400 ReLU units: table 3 of Mishkin et al.
// (2018). Fills epochs.csv and mnist.csv; a run that was stopped goes on from its last epoch.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "training.hpp"

namespace {

struct Settings {
  std::string data = ".", results = ".", recipe = "default";
  std::vector<std::string> options;
  std::vector<int> ranks = {1, 8, 32};
  int epochs = 20;
  int64_t validation = 10000;
  bool quick = false;
};

std::vector<int> numbers(const std::string& text) {
  std::vector<int> values;
  std::istringstream fields(text);
  for (std::string field; std::getline(fields, field, ',');) values.push_back(std::atoi(field.c_str()));
  return values;
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i], value = argv[i + 1];
    if (flag == "--data")
      settings.data = value;
    else if (flag == "--results")
      settings.results = value;
    else if (flag == "--recipe")
      settings.recipe = value;
    else if (flag == "--option")
      settings.options.push_back(value);
    else if (flag == "--ranks")
      settings.ranks = numbers(value);
    else if (flag == "--epochs")
      settings.epochs = std::atoi(value.c_str());
    else if (flag == "--validation")
      settings.validation = std::atoll(value.c_str());
    else if (flag == "--quick")
      settings.quick = value == "yes";
    else
      support::stop("no flag " + flag);
  }
  return settings;
}

mnist::Run run_of(const Settings& settings, int rank) {
  mnist::Run run;
  run.recipe = mnist::recipe_of(settings.recipe);
  for (const std::string& option : settings.options) {
    run.recipe.name += "_" + option;
    run.recipe.options.push_back(option);
  }
  run.rank = rank;
  run.epochs = settings.epochs;
  run.validation = settings.validation;
  if (!settings.quick) return run;
  run.epochs = 2;
  run.hidden = 20;
  run.validation = 200;
  run.check_samples = run.test_samples = 5;
  return run;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  std::filesystem::create_directories(settings.results);
  const int64_t at_most = settings.quick ? 1200 : 60000;
  const mnist::Digits train = mnist::read_digits(settings.data, "train", at_most);
  const mnist::Digits test = mnist::read_digits(settings.data, "t10k", at_most);
  const mnist::Digits fashion = mnist::read_digits(settings.data, "fashion", at_most);
  support::Table epochs(settings.results + "/epochs.csv", mnist::epoch_columns, 5);
  support::Table tests(settings.results + "/mnist.csv", mnist::test_columns, 4);
  for (const int rank : settings.ranks)
    mnist::run(run_of(settings, rank), train, test, fashion, settings.results, epochs, tests);
  for (const support::Row& row : support::read_csv(settings.results + "/mnist.csv")) {
    for (const std::string& field : row) std::printf("%-14s ", field.c_str());
    std::printf("\n");
  }
  return 0;
}
