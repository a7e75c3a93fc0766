// Training by several processes (ranks). The data are divided into shards, each rank has some of them, and
// results are identical for any number of ranks. Only this folder, train/ and search/ know that there may be
// several ranks. In the order to read it:
//
//   communicator.hpp     two callbacks of the host that move bytes between ranks
//   team.hpp             the ranks of a collective call: votes, failures, agreement on the arguments
//   shards.hpp           shards of the data, and the binary tree over them
//   tree_sums.hpp        sums over shards in the order of that tree; shard_sums.hpp for a few numbers
//   strata.hpp           minibatches made of equal fractions of every shard
//   this file            the evidence of a minibatch, estimated shard by shard and added up
//   row_messages.hpp     curvature rows as messages (tape_numbers.hpp), through shard_exchange.hpp
//   divided_rows.hpp     work on the rows of all shards, divided among the ranks
//   sharded_rows.hpp     rows of a whole data set, for Laplace's approximation
//
// Steps that need only sums over examples exchange these sums. Steps by curvature rows get the rows of all
// shards on every rank, and the ranks divide the work.
#pragma once

#include <optional>

#include "evidence/minibatch_evidence.hpp"
#include "ranks/divided_rows.hpp"
#include "ranks/row_messages.hpp"
#include "ranks/shard_exchange.hpp"
#include "ranks/strata.hpp"
#include "ranks/tree_sums.hpp"

namespace bdl {

/// True for steps that need the rows of all shards, not only sums over examples.
inline bool exchanges_rows(StepKind kind) {
  return kind == StepKind::natural_gradient || kind == StepKind::kfac;
}

template <class T>
class ShardedEvidence {
 public:
  /// `local` estimates the shards of this rank, and must outlive it.
  explicit ShardedEvidence(MinibatchEvidence<T>& local) : local_(local), messages_(local.model()) {}
  /// All ranks call it, and it fails on all of them if it fails on one. `batch` has the examples of this
  /// rank's shards, one shard after the other.
  StepEvidence<T> estimate(const EvidenceRequest<T>& request, const Minibatch<T>& batch,
                           const StepExamples& examples, Index shards, Team& team);
  /// Must be called after the team has changed: the next estimate agrees on sizes again.
  void forget_ranks() { reserved_ = {}; }

 private:
  /// Sizes of the sums (of numbers of T, and of doubles), and the number of shards.
  struct Layout {
    Index values = 0, numbers = 0, shards = 0;
    bool operator==(const Layout&) const = default;
  };
  Layout layout(const EvidenceRequest<T>& request, Index shards) const;
  Index hessian_numbers(const EvidenceRequest<T>& request) const;
  void add_shard(const EvidenceRequest<T>& request, const Minibatch<T>& batch, const StepExamples& examples,
                 Index shard, const Summand<T>& out);
  Samples<T> draw(const EvidenceRequest<T>& request, DrawPlace place);
  void write_values(const EvidenceRequest<T>& request, const Evidence<T>& evidence, std::span<T> out) const;
  StepEvidence<T> result(const EvidenceRequest<T>& request) const;
  void use_sums(const EvidenceRequest<T>& request, Evidence<T>& evidence);

  // Steps by curvature rows.
  typename RowMessages<T>::Form form(const Options& options, Index examples) const;
  void write_rows(const EvidenceRequest<T>& request, const Minibatch<T>& part, const Evidence<T>& evidence,
                  Index shard);
  void join_rows(const EvidenceRequest<T>& request, const Minibatch<T>& batch, const StepExamples& examples,
                 Team& team, Evidence<T>& evidence);
  Curvature<T> hessian(const EvidenceRequest<T>& request) const;

  MinibatchEvidence<T>& local_;
  Layout reserved_;
  ShardRange own_{0, 1};
  TreeSums<T> sums_;
  std::optional<Samples<T>> shared_samples_;
  NoiseGradient<T> noise_;
  RowMessages<T> messages_;
  ShardExchange<T> exchange_;
  DividedRows<T> divided_;
};

}  // namespace bdl
