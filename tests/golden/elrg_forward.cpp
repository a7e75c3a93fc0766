#include "elrg_forward.hpp"

#include "posterior/low_rank_moment/members.hpp"

namespace golden {
namespace {

using bdl::Index;
using bdl::MatrixView;

/// Keeps what layers make.
class Recorded final : public bdl::Weights<double> {
 public:
  Recorded(const bdl::Weights<double>& weights, Index examples) : weights_(weights), examples_(examples) {}
  const double* point_parameters(Index offset, Index s) const override {
    return weights_.point_parameters(offset, s);
  }
  void apply(const bdl::DenseShape& shape, Index s, bdl::ConstMatrixView<double> a,
             MatrixView<double> z) const override {
    weights_.apply(shape, s, a, z);
    values.insert(values.end(), z.data, z.data + z.size());
  }
  void pull(const bdl::DenseShape& shape, Index s, bdl::ConstMatrixView<double> e, bool add,
            MatrixView<double> to) const override {
    weights_.pull(shape, s, e, add, to);
  }
  void apply(const bdl::ConvShape& shape, Index s, bdl::ConstMatrixView<double> a,
             MatrixView<double> z) const override {
    weights_.apply(shape, s, a, z);
    bdl::Buffer<double> columns(shape.output.size() * examples_);
    bdl::to_columns<double>({shape.output}, z, false, columns.matrix(shape.output.size(), examples_));
    values.insert(values.end(), columns.data(), columns.data() + shape.output.size() * examples_);
  }
  void pull(const bdl::ConvShape& shape, Index s, bdl::ConstMatrixView<double> e, bool add,
            MatrixView<double> to) const override {
    weights_.pull(shape, s, e, add, to);
  }
  mutable Vector values;

 private:
  const bdl::Weights<double>& weights_;
  Index examples_;
};

void begin(const ElrgProblem& p, bdl::NoisyNetwork<double>& network,
           std::vector<bdl::BlockPosterior<double>>& blocks, const GivenNoise& source, Index samples) {
  bdl::for_each_low_rank_moment(
      std::as_const(*p.q), [&](const bdl::LowRankMomentPosterior<double>& member, Index offset) {
        blocks.push_back({offset, member.dimension(), member.w(), member.s().data(), false});
      });
  network.begin(std::as_const(*p.q).mean(), blocks, p.examples, samples, source);
}

}  // namespace

ElrgOutputs outputs_of(const ElrgProblem& p, const Json& samples) {
  const Index count = p.is_point() ? 1 : std::ssize(samples);
  bdl::Tape<double> tape;
  Vector f(size(p.graph->outputs() * p.examples * count));
  const MatrixView<double> out(f.data(), p.graph->outputs(), p.examples * count);
  bdl::NoisyNetwork<double> network(*p.graph);
  const auto source = p.noise(samples);
  std::vector<bdl::BlockPosterior<double>> blocks;
  const bdl::SampledWeights<double> mean({std::as_const(*p.q).mean().data(), p.graph->parameters(), 1});
  network.choose(estimators_of(samples.front()));
  if (!p.is_point()) begin(p, network, blocks, *source, count);
  const bdl::Weights<double>& noisy = network;
  const Recorded recorded(p.is_point() ? mean : noisy, p.examples);
  p.graph->forward(recorded, count, p.x(), tape, out, nullptr, {{}, {}});
  return {f, recorded.values};
}

}  // namespace golden
