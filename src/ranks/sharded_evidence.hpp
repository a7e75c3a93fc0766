// The evidence of a minibatch of which each process (rank) has some shards: estimated shard by shard as
// steps/ does it, and added up in one order (tree_sums.hpp), so that results are identical for any number of
// ranks. Steps that only take sums over examples get these; steps by curvature rows get the rows of all
// shards, on every rank, and the ranks divide the work on them (divided_rows.hpp).
#pragma once

#include <optional>

#include "evidence/minibatch_evidence.hpp"
#include "ranks/divided_rows.hpp"
#include "ranks/row_messages.hpp"
#include "ranks/shard_exchange.hpp"
#include "ranks/strata.hpp"
#include "ranks/tree_sums.hpp"

namespace bdl {

/// True for steps that are more than sums over examples.
inline bool exchanges_rows(StepKind kind) {
  return kind == StepKind::natural_gradient || kind == StepKind::kfac;
}

template <class T>
class ShardedEvidence {
 public:
  /// `local` estimates the shards of this rank, and must outlive it.
  explicit ShardedEvidence(MinibatchEvidence<T>& local) : local_(local), messages_(local.model()) {}
  /// By all ranks; fails on all of them if one does. `batch` has the examples of this rank's shards, one
  /// shard after the other.
  StepEvidence<T> estimate(const EvidenceRequest<T>& request, const Minibatch<T>& batch,
                           const StepExamples& examples, Index shards, Team& team);
  /// Called where the ranks have become others.
  void forget_ranks() { reserved_ = {}; }

 private:
  /// What the sums are made of, in numbers of T and in doubles.
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
  StepEvidence<T> result(const EvidenceRequest<T>& request, const StepExamples& examples) const;
  void use_sums(const EvidenceRequest<T>& request, Evidence<T>& evidence);

  // Steps by rows.
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
