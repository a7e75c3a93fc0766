// "network-golden-1": networks, parameters, inputs and seeds in; outputs, input gradients and all operations
// of their curvature rows out.
#include <algorithm>
#include <cstdio>

#include "curvature/blocked_rows.hpp"
#include "golden.hpp"

namespace golden {
namespace {

using bdl::Index;
using bdl::MatrixView;
using Matrix = std::vector<Vector>;

/// In front of a network: a layer that changes nothing, whose parameters make input gradients known.
std::string identity_layer(const bdl::Shape& input) {
  const std::string channels = std::to_string(input.channels);
  return input.is_image() ? "conv " + channels + " 1 groups " + channels + " nobias\n"
                          : "dense " + channels + " nobias\n";
}
Vector identity_weights(const bdl::Shape& input) {
  if (input.is_image()) return Vector(static_cast<std::size_t>(input.channels), 1.0);
  const auto n = static_cast<std::size_t>(input.channels);
  Vector weights(n * n);
  for (std::size_t i = 0; i < n; ++i) weights[i * n + i] = 1;
  return weights;
}

std::string with_identity(const std::string& description, const bdl::Shape& input) {
  const std::size_t line = description.find('\n') + 1;
  return description.substr(0, line) + identity_layer(input) + description.substr(line);
}

/// Columns of a matrix.
bdl::Buffer<double> columns(const Matrix& rows) {
  bdl::Buffer<double> out(static_cast<Index>(rows.size() * rows.front().size()));
  double* to = out.data();
  for (const Vector& row : rows) to = std::copy(row.begin(), row.end(), to);
  return out;
}

class Problem {
 public:
  explicit Problem(const Json& json)
      : json_(json),
        plain_(json.at("description").get<std::string>()),
        graph_(with_identity(plain_.description(), plain_.input())),
        prefix_(identity_weights(plain_.input())) {}

  double largest_error() {
    const auto theta_rows = json_.at("theta").get<Matrix>();
    Matrix thetas;
    for (const Vector& theta : theta_rows) {
      thetas.push_back(prefix_);
      thetas.back().insert(thetas.back().end(), theta.begin(), theta.end());
    }
    samples_ = static_cast<Index>(thetas.size());
    const auto x_rows = json_.at("x").get<Matrix>();
    examples_ = static_cast<Index>(x_rows.size());
    const bdl::Buffer<double> theta_columns = columns(thetas), x = columns(x_rows);
    theta_ = {theta_columns.data(), graph_.parameters(), samples_};
    forward({x.data(), graph_.inputs(), examples_});
    backward();
    compare_rows();
    return worst_;
  }

 private:
  Index rows() const { return samples_ * examples_; }

  void compare(const char* name, const Vector& got) {
    const Json& expected = json_.at("expected").at(name);
    const Vector values = expected.empty()              ? Vector()
                          : expected.front().is_array() ? flatten_all(expected)
                                                        : expected.get<Vector>();
    const double error = golden::error(got, values);
    if (error > tolerance) std::printf("    %s: %.3g\n", name, error);
    worst_ = std::max(worst_, error);
  }

  /// Node by node, as the masks of dropout are given.
  void forward(bdl::ConstMatrixView<double> x) {
    output_.reserve(graph_.outputs() * rows());
    const MatrixView<double> f = output_.matrix(graph_.outputs(), rows());
    read_statistics();
    const bool trains = json_.at("mode") == "train";
    graph_.forward(theta_, x, tape_, f, nullptr,
                   {statistics_, trains ? std::span(learned_) : std::span<double>()});
    compare("running_after", by_layer(learned_));
    if (!json_.at("masks").empty()) mask(x, f);
    compare("output", {f.data, f.data + f.size()});
  }

  /// Reads the statistics of all layers: means, then variances. The file has them layer by layer.
  void read_statistics() {
    for (const std::size_t of : {0, 1})
      for (const Json& layer : json_.at("running")) {
        const auto values = layer.at(of).get<Vector>();
        statistics_.insert(statistics_.end(), values.begin(), values.end());
      }
    learned_ = statistics_;
  }
  Vector by_layer(const Vector& statistics) const {
    Vector out;
    std::size_t first = 0;
    for (const Json& layer : json_.at("running")) {
      const std::size_t channels = layer.at(0).size();
      for (const std::size_t from : {first, statistics.size() / 2 + first})
        out.insert(out.end(), statistics.begin() + static_cast<std::ptrdiff_t>(from),
                   statistics.begin() + static_cast<std::ptrdiff_t>(from + channels));
      first += channels;
    }
    return out;
  }

  void mask(bdl::ConstMatrixView<double> x, MatrixView<double> f) {
    const bdl::SampledWeights<double> weights(theta_);
    std::size_t dropout = 0;
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const auto& node = graph_.nodes()[n];
      const bool is_dropout = node.layer && node.layer->text().starts_with("dropout");
      for (Index s = 0; s < samples_; ++s) {
        const auto values = [&](Index w) {
          const Index columns = graph_.wire(w).columns(examples_);
          if (graph_.wire(w).is_data) return graph_.values(tape_, w);
          if (graph_.wire(w).place == graph_.wire(graph_.output()).place)
            return bdl::ConstMatrixView<double>(f.columns(s * columns, columns));
          return graph_.values(tape_, w).columns(s * columns, columns);
        };
        const auto in = values(node.in), other = node.layer ? in : values(node.other), at = values(node.out);
        const MatrixView<double> out(const_cast<double*>(at.data), at.rows, at.cols, at.ld);
        const auto kept = node.layer ? graph_.kept(tape_, n, s) : bdl::Kept<double>{};
        if (graph_.wire(node.out).is_data) continue;
        if (!node.layer)
          for (Index i = 0; i < out.size(); ++i) out.data[i] = in.data[i] + other.data[i];
        else if (is_dropout)
          apply_mask(json_.at("masks")[dropout][static_cast<std::size_t>(s)], node.layer->text(), in, out,
                     kept.slopes);
        else
          node.layer->forward({weights, x.cols, s}, in, out, kept);
      }
      if (is_dropout) ++dropout;
    }
  }

  /// One row of 0 and 1 an example; maps in packets or features in columns.
  static void apply_mask(const Json& masks, const std::string& text, bdl::ConstMatrixView<double> in,
                         MatrixView<double> out, MatrixView<double> slopes) {
    const double factor = 1 / (1 - std::stod(text.substr(8)));
    const Matrix rows = masks.get<Matrix>();
    std::copy_n(in.data, in.size(), out.data);
    std::fill_n(slopes.data, slopes.size(), 0.0);
    const bool is_packed = in.rows != static_cast<Index>(rows.front().size());
    const Index positions = is_packed ? positions_of(in.rows, static_cast<Index>(rows.front().size())) : 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < rows[i].size(); ++j) {
        const Index number = static_cast<Index>(j);
        const Index at =
            is_packed ? (number / positions * (positions | 1) + number % positions) * bdl::packet_size +
                            static_cast<Index>(i) % bdl::packet_size
                      : number;
        slopes(at, is_packed ? static_cast<Index>(i) / bdl::packet_size : static_cast<Index>(i)) =
            factor * rows[i][j];
      }
    for (Index i = 0; i < out.size(); ++i) out.data[i] *= slopes.data[i];
  }
  /// Returns the number of positions of a map with these numbers a packet and an example.
  static Index positions_of(Index packet_numbers, Index numbers) {
    for (Index positions = 1;; ++positions)
      if (numbers % positions == 0 &&
          numbers / positions * (positions | 1) * bdl::packet_size == packet_numbers)
        return positions;
  }

  void backward() {
    const MatrixView<double> e = graph_.seeds(tape_, rows());
    const Vector seeds = flatten_all(json_.at("seeds"));
    std::copy(seeds.begin(), seeds.end(), e.data);
    graph_.backward(theta_, tape_, 1);
    const Index wire = graph_.nodes()[static_cast<std::size_t>(graph_.learned().front().node)].out;
    const auto& of = graph_.wire(wire);
    const auto gradient = std::as_const(graph_).sensitivities(std::as_const(tape_), wire, samples_);
    Vector got;
    const bdl::Shape& shape = plain_.input();
    const Index stride = bdl::PacketMap{shape}.stride(), positions = shape.rows * shape.columns;
    for (Index s = 0; s < samples_; ++s)
      for (Index i = 0; i < examples_; ++i)
        for (Index j = 0; j < of.size; ++j)
          got.push_back(of.layout == bdl::Layout::columns
                            ? gradient(j, s * examples_ + i)
                            : gradient((j / positions * stride + j % positions) * bdl::packet_size +
                                           i % bdl::packet_size,
                                       s * of.columns(examples_) + i / bdl::packet_size));
    compare("input_gradient", got);
  }

  /// The operations on the network's own parameters, those of point parameters put together from their rows.
  void compare_rows() {
    bdl::NetworkRows<double> all(graph_);
    const Index before = static_cast<Index>(prefix_.size()), n = rows(), d = plain_.parameters();
    all.assign(tape_, 1);
    const auto sum_of = [&](const Vector& weights) {
      Vector sum(static_cast<std::size_t>(before + d));
      all.sum(weights, sum);
      return Vector(sum.begin() + before, sum.end());
    };
    const auto w = json_.at("w").get<Vector>();
    compare("sum", sum_of(w));
    read_points(sum_of);
    bdl::Rows<double>& rows = all.part(before, d);
    compare_squares(rows, w);
    compare_gram(all, before, rows);
    Vector u(static_cast<std::size_t>(2 * d)), projected(static_cast<std::size_t>(2 * n)), by_row;
    const auto u_rows = json_.at("u").get<Matrix>();
    for (std::size_t p = 0; p < u_rows.size(); ++p)
      for (std::size_t k = 0; k < 2; ++k) u[k * u_rows.size() + p] = u_rows[p][k];
    rows.project({u.data(), d, 2}, {projected.data(), 2, n});
    for (std::size_t r = 0; r < points_.size(); ++r)
      for (std::size_t p = 0; p < u_rows.size(); ++p)
        for (std::size_t k = 0; k < 2; ++k) projected[2 * r + k] += u_rows[p][k] * points_[r][p];
    compare("project", projected);
    Vector weights(w);
    for (const double value : w) weights.push_back(value * value);
    rows.combine({weights.data(), n, 2}, {u.data(), d, 2});
    for (std::size_t p = 0; p < u_rows.size(); ++p)
      for (std::size_t k = 0; k < 2; ++k) {
        by_row.push_back(u[k * u_rows.size() + p]);
        for (std::size_t r = 0; r < points_.size(); ++r)
          by_row.back() += weights[k * w.size() + r] * points_[r][p];
      }
    compare("combine", by_row);
  }

  /// The sum of one row is the row.
  template <class SumOf>
  void read_points(SumOf&& sum_of) {
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows()); ++r) {
      Vector one(static_cast<std::size_t>(rows()));
      one[r] = 1;
      Vector row = sum_of(one);
      std::vector<bool> is_point(row.size());
      for (const bdl::ParameterBlock& block : plain_.blocks())
        for (Index p = block.offset; p < block.offset + block.size(); ++p)
          if (!block.is_point) row[static_cast<std::size_t>(p)] = 0;
      points_.push_back(row);
    }
  }

  void compare_squares(bdl::Rows<double>& rows, const Vector& w) {
    Vector sum(points_.front().size()), squares(sum.size()), both(sum.size());
    rows.sum_squares(w, squares);
    rows.sum_and_squares(w, sum, w, both);
    for (Vector* const out : {&squares, &both}) {
      for (std::size_t r = 0; r < w.size(); ++r)
        for (std::size_t p = 0; p < sum.size(); ++p) (*out)[p] += w[r] * points_[r][p] * points_[r][p];
      compare("sum_squares", *out);
    }
  }

  /// `rows` are those of `all` from parameter `before` on.
  void compare_gram(const bdl::NetworkRows<double>& all, Index before, bdl::Rows<double>& rows) {
    const auto n = static_cast<std::size_t>(rows.count());
    Vector gram(n * n), written(n * n);
    rows.gram({gram.data(), rows.count(), rows.count()});
    Matrix g(n, Vector(static_cast<std::size_t>(rows.dimension())));
    for (std::size_t r = 0; r < n; ++r) all.write_row(static_cast<Index>(r), before, g[r]);
    const auto dot = [](const Vector& a, const Vector& b) {
      double sum = 0;
      for (std::size_t p = 0; p < a.size(); ++p) sum += a[p] * b[p];
      return sum;
    };
    for (std::size_t s = 0; s < n; ++s)  // the lower triangle, column by column
      for (std::size_t r = s; r < n; ++r) {
        const double points = dot(points_[r], points_[s]);
        gram[r * n + s] = gram[s * n + r] = gram[s * n + r] + points;
        written[r * n + s] = written[s * n + r] = dot(g[r], g[s]) + points;
      }
    compare("gram", gram);
    compare("gram", written);
  }

  const Json& json_;
  bdl::Graph<double> plain_, graph_;
  Vector prefix_;
  Index samples_ = 0, examples_ = 0;
  MatrixView<const double> theta_;
  bdl::Tape<double> tape_;
  bdl::Buffer<double> output_;
  Vector statistics_, learned_;
  Matrix points_;  // rows of point parameters, which curvature is not made of
  double worst_ = 0;
};

}  // namespace

bool replay_network(const Json& file) {
  bool good = true;
  for (const Json& json : file.at("problems")) {
    const auto name = json.at("name").get<std::string>();
    const double worst = Problem(json).largest_error();
    std::printf("%-45s largest error %.2g\n", name.c_str(), worst);
    good = good && worst <= tolerance;
  }
  return good;
}

}  // namespace golden
