# Scores of predictions, on plain arrays.

"""
    rmse(mean, y)

Root mean squared error over all entries.

# Examples
```julia
rmse(predict(model, q, X).mean, y)
```
"""
rmse(mean, y) = read_out(out -> LibBDL.bdl_metric_rmse(look(mean), look(y), out), Float64)

"""
    log_predictive_density(log_density)

`(mean, standard_error)` in nats per example, of what [`predict_log_density`](@ref) returns.

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

Fraction of examples whose most probable class is the label: probabilities n x K, or n values P(y = 1); y are class
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

Brier score, in [0, 2]; arguments as for [`accuracy`](@ref).

# Examples
```julia
brier([0.8 0.2; 0.5 0.5], [0, 1])  # 0.29
```
"""
brier(probabilities, y) = read_out(out -> LibBDL.bdl_metric_brier(look(probabilities), look(y), out), Float64)

"""
    nll(probabilities, y)

Mean of -log p of the labels, in nats; arguments as for [`accuracy`](@ref).

# Examples
```julia
nll([0.8 0.2; 0.5 0.5], [0, 1])  # 0.458
```
"""
nll(probabilities, y) = read_out(out -> LibBDL.bdl_metric_nll(look(probabilities), look(y), out), Float64)

"""
    ece(probabilities, y; bins = 15)

Expected calibration error of the most probable class over bins ((b - 1) / bins, b / bins] of its probability, in [0, 1];
arguments as for [`accuracy`](@ref).

# Examples
```julia
ece([0.2, 0.7, 0.6], [0, 1, 0])
```
"""
ece(probabilities, y; bins::Integer = 15) =
    read_out(out -> LibBDL.bdl_metric_ece(look(probabilities), look(y), bins, out), Float64)

"""
    calibration_curve(probabilities, y; bins = 15)

The reliability diagram that [`ece`](@ref) sums up: for each bin `(counts, accuracy, confidence)`, of which the last two are
NaN where it is empty. [`draw_reliability`](@ref) draws it.

# Examples
```julia
calibration_curve([0.9 0.1; 0.8 0.2; 0.4 0.6], [0, 1, 1]; bins = 2).accuracy  # NaN, 0.667
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

Fraction of entries of y inside their intervals.

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

Continuous ranked probability score of n x S draws of n targets, in units of y; lower is better.

# Examples
```julia
crps(predict_draws(model, q, X), y)
```
"""
crps(draws, y) = read_out(out -> LibBDL.bdl_metric_crps(look(draws), look(y), out), Float64)
