// Enumerations of the options that are choices. The enumerators are in the order of the words in options.def.
#pragma once

namespace bdl {

enum class ScheduleKind { cosine, power, steps };
enum class SampleSharing { all, shard };
enum class Sampling { shuffle, replacement };
enum class AugmentFill { zero, reflect };

/// Two losses with two descents each (docs/theory/streams.md, "The four rules"), and the posterior's
/// mode.
enum class Rule { bong, blr, bog, bbb, map };

/// Estimates of the expected gradient and Hessian (docs/theory/curvature.md, "The estimates").
enum class EstimateKind { mc_ef, mc_ggn, mc_hess, lin_hess, lin_ef, exact_hess, mc_reparam };

enum class DescentOption { sgd, adam, vogn, ivon, kfac };
enum class MomentumForm { corrected, average, heavy_ball };
enum class DampingIn { both, step };
enum class Tempering { exact, printed };
enum class ScaleParameter { log_sigma, softplus, log_variance };

/// Noise from which draws of low-rank-moment posteriors are made (docs/theory/noise.md).
enum class NoiseEstimator { automatic, local, weights, flipout, shared };
/// Form in which the diagonal s of low-rank-moment posteriors is learned.
enum class DiagonalPart { free, block, fixed, tied };

enum class MeanUpdateOption { automatic, projected, unprojected };

/// Update of a low-rank precision: the largest eigenpairs of the updated matrix, or a moving average of those
/// of each curvature alone (docs/theory/natural-gradients.md, "SLANG-OnlineEig").
enum class LowRankUpdate { projected, moving_average };

enum class Indefinite { automatic, shorten, error, improved };
/// Scales of a stream's inputs and targets: the model's, or those of its first rows.
enum class ScalesOfStream { given, learned };
enum class ScoreKind { none, plug_in, linearized };
enum class PriorGroups { shared, weights_biases, layers, blocks, inputs };
/// The source from which prior and noise precisions are learned.
enum class ScaleSource { automatic, evidence, samples };
/// When the evidence of Laplace's approximation chooses prior and noise: never, at the end of fit, or during
/// it as well.
enum class EvidenceUse { none, after, during };
/// Whether fit ends with a refined posterior.
enum class Refine { automatic, no };
enum class PriorScaling { unit, fan_in, elrg };
enum class Initialization { uniform_fan_in, xavier, he, zero, he_fan_out, xavier_normal };

/// Labels from which Kronecker factors are made, and precisions along the pairs of their eigenvectors.
enum class FisherLabels { exact, empirical, sampled };
enum class KroneckerEigenvalues { products, corrected };
enum class DampingForm { exact, split };

/// Algorithms for eigenpairs; automatic is the cheapest by a cost model, and exact unless that is much
/// slower.
enum class EigenMethod { automatic, gram, outer, randomized };

}  // namespace bdl
