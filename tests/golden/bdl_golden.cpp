// bdl_golden FILE: replays a golden file through the public C API and prints the largest error per problem;
// exit status 1 above 1e-9. Each format has its reader.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "golden.hpp"

namespace golden {

Vector flatten_all(const Json& array) {
  if (!array.is_array()) return {array.get<double>()};
  Vector all;
  for (const Json& part : array) {
    const Vector values = flatten_all(part);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

Vector flatten(const Json& matrix) {
  Vector flat;
  for (const Json& line : matrix) {
    const Vector values = line.get<Vector>();
    flat.insert(flat.end(), values.begin(), values.end());
  }
  return flat;
}

double error(const Vector& got, const Vector& expected) {
  if (got.size() != expected.size()) throw std::runtime_error("an expected vector has the wrong length");
  double worst = 0, scale = 1e-300;
  for (std::size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::isfinite(got[i]) ? std::abs(got[i] - expected[i]) : HUGE_VAL);
    scale = std::max(scale, std::abs(expected[i]));
  }
  return worst / scale;
}

}  // namespace golden

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: bdl_golden FILE\n");
    return 2;
  }
  try {
    std::ifstream stream(argv[1]);
    const golden::Json file = golden::Json::parse(stream);
    const auto format = file.at("format").get<std::string>();
    if (format == "slang-golden-1") return golden::replay_slang(file) ? 0 : 1;
    if (format == "bong-golden-1") return golden::replay_bong(file) ? 0 : 1;
    if (format == "network-golden-1") return golden::replay_network(file) ? 0 : 1;
    if (format == "elrg-golden-1") return golden::replay_elrg(file) ? 0 : 1;
    if (format == "evidence-golden-1") return golden::replay_evidence(file) ? 0 : 1;
    if (format == "vogn-golden-1") return golden::replay_vogn(file) ? 0 : 1;
    throw std::runtime_error("unknown format " + format);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "bdl_golden: %s\n", exception.what());
    return 1;
  }
}
