// Writes inputs for the fuzz targets to begin with: bdl_seeds FOLDER makes FOLDER/checkpoint, description,
// options and api.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "fuzz/api/sequence.hpp"
#include "fuzz/options_any.hpp"

namespace {

const std::filesystem::path* folder;

void write(const std::string& target, const std::string& name, const std::string& bytes) {
  std::filesystem::create_directories(*folder / target);
  std::ofstream(*folder / target / name, std::ios::binary)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Every method, after two steps or observations.
void write_checkpoints() {
  const double x[] = {0.5, -1, 2, 0.25}, y[] = {1, 0};
  for (std::int64_t i = 0; i < bdl_method_count(); ++i) {
    fuzz::Parts parts;
    const std::string method = bdl_method_name(i);
    if (!fuzz::create(method.c_str(), parts)) continue;
    bdl_model_standardize(parts.model, bdl_f64(x, 2, 2), bdl_f64(y, 2, 1));
    bdl_optimizer_fit(parts.optimizer, bdl_f64(x, 2, 2), bdl_f64(y, 2, 1), 2, nullptr, nullptr);
    bdl_optimizer_observe(parts.optimizer, bdl_f64(x, 2, 2), bdl_f64(y, 2, 1), bdl_none_out());
    write("checkpoint", method, fuzz::saved(parts));
  }
}

/// A convolutional network with batch norm and its posterior.
void write_network() {
  fuzz::Parts parts;
  bdl_model_create_network(BDL_F32,
                           "input 1 4 4; conv 2 3; batchnorm; relu; residual; conv 2 1; end; dense 2",
                           BDL_CATEGORICAL, &parts.model);
  bdl_posterior_create_kronecker(parts.model, &parts.posterior);
  bdl_optimizer_create(parts.model, parts.posterior, "kfac", 4, &parts.optimizer);
  write("checkpoint", "network", fuzz::saved(parts));
}

void write_descriptions() {
  for (std::int64_t i = 0; i < bdl_network_count(); ++i) {
    const char *name = "", *text = "";
    bdl_network_describe(i, &name, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    if (bdl_network_description(name, 1, 32, 32, 3, &text) == BDL_OK) write("description", name, text);
  }
}

/// A method and all its options; each preset's; each option alone.
void write_options() {
  for (std::int64_t i = 0; i < bdl_method_count(); i += 4) {
    fuzz::Parts parts;
    if (fuzz::create(bdl_method_name(i), parts))
      write("options", bdl_method_name(i),
            std::string(1, static_cast<char>(i)) + fuzz::text_of(parts.optimizer));
  }
  for (std::int64_t i = 0; i < bdl_preset_count(); ++i) {
    const char* options = "";
    bdl_preset_describe(bdl_preset_name(i), nullptr, &options, nullptr, nullptr);
    write("options", bdl_preset_name(i), "\x06" + std::string(options));
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "usage: bdl_seeds FOLDER\n"), 2;
  const std::filesystem::path path(arguments[1]);
  folder = &path;
  write_checkpoints();
  write_network();
  write_descriptions();
  write_options();
  for (std::uint64_t i = 1; i <= 100; ++i) {
    const auto bytes = fuzz::drawn_sequence(i);
    write("api", std::to_string(i), {bytes.begin(), bytes.end()});
  }
}
