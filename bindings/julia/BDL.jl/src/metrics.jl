# Scores of predictions, on plain arrays.

"""
    rmse(mean, y)

Returns the root mean squared error over all entries, in the unit of y.

# Examples
```julia
rmse(predict(model, q, X).mean, y)
```
"""
rmse(mean, y) = read_out(out -> LibBDL.bdl_metric_rmse(look(mean), look(y), out), Float64)

"""
    log_predictive_density(log_density)

Returns `(mean, standard_error)` of log densities such as [`predict_log_density`](@ref) returns them, in nats for each example.

# Examples
```julia
log_predictive_density(predict_log_density(model, q, X, y)).mean
```
"""
function log_predictive_density(log_density)
    mean, standard_error = Ref{Float64}(), Ref{Float64}()
    check(LibBDL.bdl_metric_log_predictive_density(look(log_density), mean, standard_error))
    return (mean = mean[], standard_error = standard_error[])
end

"""
    accuracy(probabilities, y)

Returns the share of examples whose most probable class is the label. `probabilities` is n x K, or n values P(y = 1); `y` holds class
numbers from 0.

# Examples
```julia
accuracy([0.2, 0.7, 0.6], [0, 1, 0])  # 0.6666666666666666
```
"""
accuracy(probabilities, y) =
    read_out(out -> LibBDL.bdl_metric_accuracy(look(probabilities), look(y), out), Float64)

"""
    brier(probabilities, y)

Returns the Brier score, between 0 and 2; lower is better. The arguments are those of [`accuracy`](@ref).

# Examples
```julia
brier([0.8 0.2; 0.5 0.5], [0, 1])  # 0.29
```
"""
brier(probabilities, y) = read_out(out -> LibBDL.bdl_metric_brier(look(probabilities), look(y), out), Float64)

"""
    nll(probabilities, y)

Returns the mean of -log p of the labels, in nats; lower is better. The arguments are those of [`accuracy`](@ref).

# Examples
```julia
nll([0.8 0.2; 0.5 0.5], [0, 1])  # 0.458
```
"""
nll(probabilities, y) = read_out(out -> LibBDL.bdl_metric_nll(look(probabilities), look(y), out), Float64)

"""
    ece(probabilities, y; bins = 15)

Returns the expected calibration error of the most probable class, between 0 and 1, from bins of equal width; lower is better. The
arguments are those of [`accuracy`](@ref).

# Examples
```julia
ece([0.2, 0.7, 0.6], [0, 1, 0])
```
"""
ece(probabilities, y; bins::Integer = 15) =
    read_out(out -> LibBDL.bdl_metric_ece(look(probabilities), look(y), bins, out), Float64)

"""
    calibration_curve(probabilities, y; bins = 15)

Returns the data of a reliability diagram: `(counts, accuracy, confidence)` for each bin of the largest probability. Accuracy and
confidence are NaN in an empty bin. [`draw_reliability`](@ref) draws the diagram.

# Examples
```julia
probabilities = [0.9 0.1; 0.8 0.2; 0.4 0.6]
calibration_curve(probabilities, [0, 1, 1]; bins = 2).accuracy  # NaN, 0.667
```
"""
function calibration_curve(probabilities, y; bins::Integer = 15)
    curve = filled(view -> LibBDL.bdl_metric_calibration_curve(look(probabilities), look(y), view), rows(bins, 3, "bins"))
    return (counts = Int.(curve[:, 1]), accuracy = curve[:, 2], confidence = curve[:, 3])
end

function rows(count::Integer, columns::Integer, what)
    count >= 1 || throw(InvalidArgumentError("$what is $count; it must be 1 or more"))
    return Matrix{Float64}(undef, count, columns)
end

"""
    coverage(lower, upper, y)

Returns the share of the entries of y that are inside their intervals.

# Examples
```julia
interval = predict_interval(model, q, X, 0.9)
coverage(interval.lower, interval.upper, y)  # about 0.9
```
"""
coverage(lower, upper, y) =
    read_out(out -> LibBDL.bdl_metric_coverage(look(lower), look(upper), look(y), out), Float64)

"""
    crps(draws, y)

Returns the continuous ranked probability score of n x S samples for n targets, in the unit of y; lower is better.

# Examples
```julia
crps(predict_draws(model, q, X), y)
```
"""
crps(draws, y) = read_out(out -> LibBDL.bdl_metric_crps(look(draws), look(y), out), Float64)

"""
    waic(log_likelihood)

Returns an estimate of the expected log predictive density (elpd) of as many new rows as there are, in nats, by the widely applicable
information criterion, which is -2 elpd (Watanabe 2010): `(elpd, standard_error, effective_parameters, pointwise)`. `log_likelihood` is
samples x n ([`predict_log_likelihood`](@ref)). The columns of `pointwise` add up to elpd and effective parameters. Prefer
[`loo`](@ref), which tells where it fails.

# Examples
```julia
waic(predict_log_likelihood(model, q, X, y, 1000)).elpd
```
"""
function waic(log_likelihood)
    sums, pointwise = elpd_by(LibBDL.bdl_metric_waic, log_likelihood, 2)
    return (; sums..., pointwise = pointwise)
end

"""
    loo(log_likelihood)

Returns an estimate of the expected log predictive density (elpd) of as many new rows as there are, in nats, by leave-one-out
cross-validation without new fits (PSIS-LOO; Vehtari, Gelman, Gabry 2017): `(elpd, standard_error, effective_parameters, pointwise,
pareto_k)`. `log_likelihood` is samples x n ([`predict_log_likelihood`](@ref)). A warning tells of rows whose `pareto_k` is above
min(1 - 1 / log10(samples), 0.7): leave them out and fit again. Samples of an approximate posterior give the elpd of that approximation.

# Examples
```julia
found = loo(predict_log_likelihood(model, q, X, y, 1000))
(found.elpd, found.standard_error, maximum(found.pareto_k))
```
"""
function loo(log_likelihood)
    sums, pointwise = elpd_by(LibBDL.bdl_metric_loo, log_likelihood, 3)
    k, limit = pointwise[:, 3], min(1 - 1 / log10(size(log_likelihood, 1)), 0.7)
    high = count(>(limit), k)
    high == 0 || @warn "pareto_k is above $(round(limit; digits = 2)) for $high of $(length(k)) rows, whose elpd cannot be trusted: leave them out and fit again"
    return (; sums..., pointwise = pointwise[:, 1:2], pareto_k = k)
end

function elpd_by(estimate, log_likelihood, columns)
    logs = look(log_likelihood)
    pointwise = Matrix{Float64}(undef, logs.matrix.cols, columns)
    elpd, standard_error, effective = Ref{Float64}(), Ref{Float64}(), Ref{Float64}()
    check(estimate(logs, look(pointwise), elpd, standard_error, effective))
    return (elpd = elpd[], standard_error = standard_error[], effective_parameters = effective[]), pointwise
end
