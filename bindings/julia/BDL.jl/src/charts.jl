# Pictures as SVG files, written without a plotting package.

"""
    draw_reliability(path, probabilities, y; bins = 10)

Draws [`calibration_curve`](@ref) to an SVG file and returns the curve. Calibrated probabilities lie on the diagonal. The size of a point
shows its share of the data.

# Examples
```julia
curve = draw_reliability("reliability.svg", [0.9 0.1; 0.8 0.2; 0.4 0.6], [0, 1, 1])
sum(curve.counts)
```
"""
function draw_reliability(path::AbstractString, probabilities, y; bins::Integer = 10)
    curve = calibration_curve(probabilities, y; bins = bins)
    used = findall(>(0), curve.counts)
    x, right, shares = curve.confidence[used], curve.accuracy[used], curve.counts[used] ./ sum(curve.counts)
    marks = [circle(x[k], right[k], 3 + 10 * shares[k]) for k in eachindex(used)]
    write_chart(path, [diagonal(), polyline(x, right, COLOURS[1]), marks...], "probability of the predicted class",
        "share of right predictions", 1, 1)
    return curve
end

"""
    draw_entropies(path, name => probabilities...; bins = 15)

Draws histograms of the entropy of class probabilities, as shares of each group, to an SVG file, and returns the histograms.

# Examples
```julia
digits, letters = [0.9 0.1], [0.5 0.5; 0.6 0.4]
drawn = draw_entropies("entropies.svg", "digits" => digits, "letters" => letters; bins = 5)
drawn[2].counts
```
"""
function draw_entropies(path::AbstractString, groups::Pair...; bins::Integer = 15)
    isempty(groups) && throw(InvalidArgumentError("groups are missing; they must be name => probabilities"))
    histograms = [entropy_histogram(last(group); bins = bins) for group in groups]
    shares = [h.counts ./ sum(h.counts) for h in histograms]
    wide, high = maximum(last(h.edges) for h in histograms), maximum(maximum, shares)
    marks = String[]
    for (k, h) in enumerate(histograms)
        colour = COLOURS[mod1(k, length(COLOURS))]
        x, y = repeat(collect(h.edges); inner = 2), [0; repeat(shares[k]; inner = 2); 0]
        push!(marks, polyline(x ./ wide, y ./ high, colour), words(0.03, 1 - 0.06 * k, string(first(groups[k])), colour))
    end
    write_chart(path, marks, "entropy (nats)", "share", wide, high)
    return histograms
end

"""
    draw_roc(path, positive, negative)

Draws [`roc_curve`](@ref) and its area to an SVG file and returns the curve.

# Examples
```julia
draw_roc("roc.svg", [3, 1, 2], [2, 0])
```
"""
function draw_roc(path::AbstractString, positive, negative)
    curve = roc_curve(positive, negative)
    area = words(0.6, 0.05, string("AUROC ", round(auroc(positive, negative); digits = 3)), COLOURS[1])
    write_chart(path, [diagonal(), polyline(curve.fpr, curve.tpr, COLOURS[1]), area], "false positive rate",
        "true positive rate", 1, 1)
    return curve
end

const COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd")

# The unit square is drawn from (60, 20) to (360, 320).
place(x, y) = string(round(60 + 300 * x; digits = 2), ",", round(320 - 300 * y; digits = 2))

polyline(x, y, colour) =
    "<polyline points=\"$(join(map(place, x, y), ' '))\" fill=\"none\" stroke=\"$colour\" stroke-width=\"2\"/>"

diagonal() = "<polyline points=\"$(place(0, 0)) $(place(1, 1))\" stroke=\"black\" stroke-dasharray=\"2 4\"/>"

function circle(x, y, radius)
    cx, cy = split(place(x, y), ',')
    return "<circle cx=\"$cx\" cy=\"$cy\" r=\"$(round(radius; digits = 2))\" fill=\"$(COLOURS[1])\"/>"
end

function words(x, y, text, colour = "black", more = "")
    at_x, at_y = split(place(x, y), ',')
    return "<text x=\"$at_x\" y=\"$at_y\" fill=\"$colour\"$more>$(escaped(text))</text>"
end

escaped(text) = replace(replace(replace(text, "&" => "&amp;"), "<" => "&lt;"), ">" => "&gt;")

"Marks are in the unit square, which stands for [0, wide] x [0, high]."
function write_chart(path, marks, xlabel, ylabel, wide, high)
    middle = " text-anchor=\"middle\""
    tick(value) = string(round(value; digits = 2))
    axes = [words(0.5, -0.13, xlabel, "black", middle),
        words(-0.14, 0.5, ylabel, "black", middle * " transform=\"rotate(-90 18 170)\"")]
    for share in (0, 0.5, 1)
        push!(axes, words(share, -0.06, tick(share * wide), "black", middle),
            words(-0.02, share - 0.01, tick(share * high), "black", " text-anchor=\"end\""))
    end
    open(path, "w") do file
        println(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 380 375\" font-family=\"sans-serif\" font-size=\"13\">")
        println(file, "<rect x=\"60\" y=\"20\" width=\"300\" height=\"300\" fill=\"white\" stroke=\"grey\"/>")
        foreach(mark -> println(file, mark), [axes; marks])
        println(file, "</svg>")
    end
end
