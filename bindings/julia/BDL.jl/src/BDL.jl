"""
Package BDL fits Bayesian neural networks and generalised linear models with libbdl. Every prediction comes with its uncertainty.

- Estimators: [`BayesianMLP`](@ref), [`BayesianConv`](@ref) and [`BayesianGLM`](@ref) with `fit`, `predict` and `score`
- Handles, for programs that need each part: [`Model`](@ref), [`Posterior`](@ref), [`Optimizer`](@ref), [`Predictor`](@ref) and
  [`Search`](@ref)

Data are matrices with one example in each row. BDL reads strided arrays of `Float64`, `Float32`, `Int32` and `UInt8` without a copy, in any
memory order, and converts other arrays once. A vector of parameters is a column, as in Distributions.jl.

# Examples
```julia
using BDL
X, y = load_yacht()
m = fit(BayesianMLP, X, y; progress = false)
predict(m, X[1:3, :]; interval = 0.9)
```
"""
module BDL

# The work is done in C: optimising this code would only make first calls slow.
if isdefined(Base, :Experimental) && isdefined(Base.Experimental, Symbol("@optlevel"))
    @eval Base.Experimental.@optlevel 1
end

using Libdl, LinearAlgebra, Random, Serialization, Statistics
import LinearAlgebra: rank
import Statistics: cov, mean, std, var

export BDLError, InvalidArgumentError, ShapeError, NotFiniteError, LabelError, UnknownOptionError, UnsupportedError,
    AllocationError, FileError, FormatError, DivergedError, CallbackError, InternalError, PeerError,
    CommunicationError
export Model, nparameters, ninputs, noutputs, ntargets, dtype, likelihood, activation, description, blocks, initialize, evaluate,
    log_likelihoods, gradient_rows, jacobian, hessian, hessian_vector_product, noise_precision, noise_covariance, noise_degrees_of_freedom,
    set_noise!, degrees_of_freedom, set_degrees_of_freedom!, shape, set_shape!, levels, set_levels!, cut_points, set_cut_points!, set_classes!, input_names, target_names, class_labels, set_names!, standardize!, set_standardization!, standardization
export Posterior, LowRankPosterior, family, rank, isblank, has_covariance, dropout_rates, low_rank, precision_diagonal, solve, set!, tensors, set_tensors!, update!,
    logpdf, logdetcov, entropy, kldivergence, mean, var, std, cov
export Optimizer, fit!, step!, step_rows!, observe!, forecast!, laplace!, initialize!, request_stop!, options,
    training_methods, describe_method, suggest_method, suggest_training, suggest_noise, estimator_default, set_text!, start_noise!,
    method, data_size, elbo, running_elbo, progress, diagnose, memory, prior, set_prior!,
    set_process_noise!, set_draws!, prequential, guarded_steps, shortened_steps, noise, as_full, as_diagonal
export Predictor, predict, predict_quantiles, predict_interval, predict_classes, predict_log_density, predict_draws, predict_log_likelihood, predict_outputs, predict_leverage
export rmse, log_predictive_density, accuracy, brier, nll, ece, calibration_curve, coverage, crps, waic, loo
export entropies, entropy_histogram, auroc, aupr, fpr, detection_error, roc_curve, auroc_correct, out_of_distribution,
    fit_temperature, apply_temperature
export draw_reliability, draw_entropies, draw_roc
export Search, vary!, run!, trials, best, apply!, folds
export Dataset, set_block!, read_rows, target_range
export Communicator, mpi_of, mpi_world, set_communicator!, traffic
export save, load
export networks, network_description
export set_row_weights!, has_row_weights, set_offsets!, noffsets, weights
export load_yacht
export normal, coefficient_prior
export BayesianMLP, BayesianConv, BayesianGLM, fit, cross_validate, tune!, score, novelty, novelty_limit, learn_novelty!, loglikelihood, coef, coefnames, sample_coefficients, vcov, stderror, confint, nobs, dof, classes

include("errors.jl")
include("LibBDL.jl")
using .LibBDL: LibBDL, Handle, MatrixView, bdl_communicator, bdl_dataset, bdl_matrix, bdl_matrix_out, bdl_model, bdl_optimizer,
    bdl_posterior, bdl_predictor, bdl_search
include("library.jl")
include("names.jl")
include("views.jl")
include("callbacks.jl")
include("calls.jl")
include("handles.jl")
include("model.jl")
include("units.jl")
include("model_names.jl")
include("derivatives.jl")
include("user_model.jl")
include("posterior.jl")
include("density.jl")
include("options.jl")
include("optimizer.jl")
include("training.jl")
include("streams.jl")
include("dataset.jl")
include("communicator.jl")
include("mpi.jl")
include("predict.jl")
include("metrics.jl")
include("detection.jl")
include("charts.jl")
include("search.jl")
include("checkpoint.jl")
include("labels.jl")
include("networks.jl")
include("estimators.jl")
include("rows.jl")
include("keywords.jl")
include("normals.jl")
include("estimator_fit.jl")
include("estimator_predict.jl")
include("novelty.jl")
include("tuning.jl")
include("coefficients.jl")
include("show.jl")
include("tables.jl")

function __init__()
    open_library()
    # Julia opens the library of a ccall when it compiles the call: a direct one would be compiled together with this function.
    Base.invokelatest(check_version)
end

end
