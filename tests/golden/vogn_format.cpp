#include <algorithm>
#include <cstdio>

#include "model/network.hpp"
#include "vogn_problem.hpp"

namespace golden {
namespace {

using bdl::Index;

std::string number(const Json& value) {
  return std::to_string(value.get<long long>());
}

/// Layers of network.json's kinds as lines of a description.
std::string lines(const Json& layers) {
  std::string text;
  for (const Json& layer : layers) {
    const auto type = layer.at("type").get<std::string>();
    const std::string bias = layer.value("bias", true) ? "" : " nobias";
    if (type == "dense")
      text += "dense " + number(layer.at("out")) + bias;
    else if (type == "conv2d")
      text += "conv " + number(layer.at("out")) + " " + number(layer.at("kernel")) + " stride " +
              number(layer.at("stride")) + " pad " + number(layer.at("padding")) + bias;
    else if (type == "batchnorm2d")
      text += "batchnorm";
    else if (type == "maxpool2d" || type == "avgpool2d")
      text += type.substr(0, 7) + " " + number(layer.at("kernel")) + " stride " + number(layer.at("stride"));
    else if (type == "residual")
      text += "residual\n" + lines(layer.at("body")) +
              (layer.contains("shortcut") && !layer.at("shortcut").empty()
                   ? "shortcut\n" + lines(layer.at("shortcut"))
                   : "") +
              "end";
    else
      text += type;
    text += "\n";
  }
  return text;
}

std::shared_ptr<bdl::Model<double>> make_model(const Json& problem) {
  std::string text = "input";
  for (const Json& size : problem.at("shape")) text += " " + number(size);
  auto graph = std::make_shared<const bdl::Graph<double>>(text + "\n" + lines(problem.at("layers")));
  const Json& density = problem.at("likelihood");
  const bool is_gaussian = density.at("type") == "gaussian";
  auto model = std::make_shared<bdl::Network<double>>(
      graph, bdl::Likelihood(is_gaussian ? BDL_GAUSSIAN : BDL_CATEGORICAL, graph->outputs()));
  if (is_gaussian) {
    const auto precision = density.at("precision").get<double>();
    model->likelihood.set_noise_precision({&precision, 1});
  }
  return model;
}

bdl::Buffer<double> values(const Json& rows) {
  const Vector all = flatten_all(rows);
  bdl::Buffer<double> out(std::ssize(all));
  std::ranges::copy(all, out.data());
  return out;
}

}  // namespace

VognProblem::VognProblem(const Json& file, const Json& problem)
    : json(problem),
      batch(file.at("batch").get<Index>()),
      model(make_model(problem)),
      x(values(problem.at("x"))),
      y(values(problem.at("y"))) {}

Index VognProblem::examples() const {
  return std::ssize(json.at("x"));
}

bdl::ConstMatrixView<double> VognProblem::inputs(Index step) const {
  return x.matrix(model->inputs(), examples()).columns(step * batch, batch);
}

bdl::ConstMatrixView<double> VognProblem::targets(Index step) const {
  return y.matrix(model->likelihood.targets(), examples()).columns(step * batch, batch);
}

bool replay_vogn(const Json& file) {
  const double of_metrics = compare_vogn_metrics(file);
  std::printf("%-24s %.3g\n", "metrics", of_metrics);
  bool good = of_metrics <= tolerance;
  for (const Json& json : file.at("problems")) {
    const VognProblem problem(file, json);
    const double error = std::max({compare_vogn_cases(file, problem), compare_vogn_mean(file, problem),
                                   compare_vogn_kronecker(file, problem)});
    std::printf("%-24s %.3g\n", json.at("name").get<std::string>().c_str(), error);
    good = good && error <= tolerance;
  }
  return good;
}

}  // namespace golden
