# Progress functions: called, stopping, raising; what they may do and what is refused.

struct MyError <: Exception
    value::Int
end

let optimizer = small_optimizer(steps = 0), epochs = Float64[]
    fit!(optimizer, X, y; epochs = 3, progress = o -> (push!(epochs, progress(o).epoch); nothing))
    @test epochs == [1, 2, 3]
    let before = progress(optimizer).epoch
        @test fit!(optimizer, X, y; epochs = 50, progress = o -> true) === optimizer
        @test progress(optimizer).epoch == before + 1
    end
    # Unfinished: epochs = 0 goes on to the planned end.
    fit!(optimizer, X, y; epochs = 0)
    @test progress(optimizer).step == progress(optimizer).planned

    # The very exception comes out, and training is as after its last step.
    error = MyError(7)
    step = progress(optimizer).step
    raised = try
        fit!(optimizer, X, y; epochs = 50, progress = o -> throw(error))
    catch e
        e
    end
    @test raised === error
    @test progress(optimizer).step > step
    fit!(optimizer, X, y; epochs = 1)

    fit!(optimizer, X, y; epochs = 5, progress = o -> (request_stop!(o); nothing))
    @test progress(optimizer).step < progress(optimizer).planned

    # Reading is allowed within a callback, calls that call back in turn too; changing and closing are refused.
    model, q = optimizer.model, optimizer.posterior
    refused = Any[]
    refuse(call) = push!(refused, try
        call()
    catch e
        e
    end)
    function meddle(o)
        predict(model, q, X; samples = 2)
        mean(q), running_elbo(o), noise_precision(model)
        foreach(refuse, (() -> close(o), () -> close(q), () -> close(model), () -> step!(o, X, y), () -> fit!(o, X, y),
            () -> initialize!(o), () -> o[:seed] = 2, () -> set!(q; mean = zeros(21), diagonal = ones(21)),
            () -> set_noise!(model; sd = 1), () -> standardize!(model, X), () -> observe!(o, X, y), () -> forecast!(o, 1)))
        GC.gc()
        return nothing
    end
    fit!(optimizer, X, y; epochs = 1, progress = meddle)
    @test length(refused) == 12 && all(e -> e isa InvalidArgumentError && occursin("in use", e.message), refused)

    # Data that a callback resizes.
    inputs, targets = X[:, 1:3], copy(y)
    fit!(optimizer, inputs, targets; epochs = 3, progress = o -> (append!(targets, zeros(10^6)); GC.gc(); nothing))
    @test all(isfinite, mean(q))
    close(optimizer)
end

# Models of one's own: training, exceptions of either function, wrong answers, copies that may be kept.
let model = own_linear_model(), q = Posterior(model; family = :full), kept = Any[]
    optimizer = Optimizer(model, q, 60; learn_prior = 0, prior_precision = 1e-4)
    fit!(optimizer, X, y .- 0.3; epochs = 100)
    @test norm(mean(q) - [1, -2, 0.5]) < 0.1
    @test predict(model, q, X; samples = 3).mean ≈ predict(Model((3, 1); bias = false), q, X; samples = 3).mean
    @test jacobian(model, zeros(3), X) == X

    failing = (Model((t, X) -> throw(MyError(1)), linear_gradients; inputs = 3, parameters = 3),
        Model(linear_outputs, (t, X, G) -> throw(MyError(1)); inputs = 3, parameters = 3))
    for model in failing
        q = Posterior(model)
        before = mean(q)
        @test_throws MyError(1) step!(Optimizer(model, q, 60), X, y)
    end
    @test_throws ShapeError evaluate(Model((t, X) -> X; inputs = 3, parameters = 3), zeros(3), X)
    @test_throws ShapeError evaluate(Model((t, X) -> "text"; inputs = 3, parameters = 3), zeros(3), X)
    @test_throws UnsupportedError jacobian(Model(linear_outputs; inputs = 3, parameters = 3), zeros(3), X)

    keeping = Model((t, X) -> (push!(kept, t, X); linear_outputs(t, X)); inputs = 3, parameters = 3, dtype = Float32)
    evaluate(keeping, [1, 2, 3], X)
    GC.gc()
    @test kept[1] == Float32[1, 2, 3] && kept[2] == Float32.(X)

    # A model that nothing names any more lives as long as its optimizer.
    orphan = Optimizer(Model((t, X) -> X * t, (t, X, G) -> G .* X; inputs = 3, parameters = 3), Posterior(3), 60)
    GC.gc()
    step!(orphan, X, y)
end

# Functions of modules that nothing names any more: Julia would free their types, and end the process when it comes upon
# them again (JuliaLang/julia#28917). They last as long as the handles that call them.
let freed = Ref(0), users = Any[]
    function user_of(kind)
        stage = Module()
        finalizer(_ -> freed[] += 1, stage)
        define(code) = Core.eval(stage, code)
        kind === :draws && return set_draws!(small_optimizer(steps = 0),
            define(:(source(kind, step, iteration, m, s, n) = m .+ s .* randn(length(m), n))))
        model = Model(define(:(outputs(theta, X) = X * theta)), define(:(gradients(theta, X, G) = G .* X));
            inputs = 3, parameters = 3)
        return Optimizer(model, Posterior(model), 60)
    end
    # Code that is compiled for the first of a kind may keep its types for ever.
    foreach(kind -> push!(users, user_of(kind)), repeat([:draws, :model], 3))
    foreach(_ -> GC.gc(), 1:3)
    @test freed[] == 0
    foreach(optimizer -> step!(optimizer, X, y), users)
    copies = map(copy, users[2:2:6])
    foreach(close, users)
    empty!(users)
    foreach(_ -> GC.gc(), 1:3)
    foreach(optimizer -> step!(optimizer, X, y), copies)
end

# Draws of one's own.
let optimizer = small_optimizer(steps = 0), asked = Any[]
    function source(kind, step, iteration, m, s, n)
        push!(asked, (kind, step, n))
        return m .+ s .* randn(length(m), n)
    end
    set_draws!(optimizer, source)
    GC.gc()
    step!(optimizer, X, y)
    @test asked == [(:parameters, 0, 2)]
    # A call that a source makes late in a step asks for interrupts in turn.
    function slow(kind, step, iteration, m, s, n)
        start = time()
        while time() < start + 0.03 end
        push!(asked, var(optimizer.posterior) ≈ s .^ 2)
        return m .+ s .* randn(length(m), n)
    end
    set_draws!(optimizer, slow)
    step!(optimizer, X, y)
    @test asked[2:end] == [true]
    set_draws!(optimizer, (arguments...) -> throw(MyError(3)))
    @test_throws MyError(3) step!(optimizer, X, y)
    set_draws!(optimizer, (arguments...) -> zeros(1, 1))
    @test_throws ShapeError step!(optimizer, X, y)
    set_draws!(optimizer, nothing)
    step!(optimizer, X, y)
end

# A search keeps trials that fail, and passes on what its own progress function raises.
let search = Search(small_optimizer(steps = 0); folds = 2, epochs = 2, samples = 2), seen = Int[]
    vary!(search, :learning_rate, 0.001, 0.1; scale = :log)
    vary!(search, :samples, 1, 3)
    vary!(search, :curvature, ["mc-ef", "mc-ggn"])
    run!(search, X, y; random = 3, bayesian = 1, progress = s -> (push!(seen, length(s)); nothing))
    @test seen == 1:4
    @test best(search).score == maximum(t.score for t in trials(search))
    @test best(search).values.samples isa Int && best(search).values.curvature in ("mc-ef", "mc-ggn")
    run!(search, X, y; random = 5, bayesian = 0, progress = s -> true)
    @test length(search) == 5
    @test_throws MyError(4) run!(search, X, y; random = 2, bayesian = 0, progress = s -> throw(MyError(4)))
    @test length(search) == 6
    optimizer = apply!(search, best(search).trial, small_optimizer())
    @test optimizer[:curvature] == best(search).values.curvature
    @test sort(unique(folds(search, 60))) == [1, 2]

    failing = Model(linear_outputs, (t, X, G) -> throw(MyError(5)); inputs = 3, parameters = 3)
    search = vary!(Search(Optimizer(failing, Posterior(failing), 60); folds = 2, epochs = 1), :learning_rate, 0.1, 1)
    run!(search, X, y; random = 2, bayesian = 0)
    @test all(t -> isnan(t.score) && !isempty(t.message), trials(search))
end

# Functions of a model of one's own may resize the very data: the library keeps to what it was given.
let n = 40, x = randn(n, 1), y = vec(3 .* x), kept = copy(y)
    outputs(theta, inputs) = inputs .* theta[1]
    function shrinking(theta, inputs)
        resize!(y, 1)
        GC.gc(false)
        return outputs(theta, inputs)
    end
    function trained_by(f)
        model = Model(f, (theta, inputs, seeds) -> seeds .* inputs; inputs = 1, parameters = 1)
        return fit!(Optimizer(model, Posterior(model; family = :full), "slang-ggn", n), x, y; epochs = 3)
    end
    expected = mean(trained_by(outputs).posterior)
    optimizer = trained_by(shrinking)
    @test length(y) == 1 && mean(optimizer.posterior) == expected
    append!(y, kept[2:end])
    @test all(isfinite, predict_log_density(optimizer.model, optimizer.posterior, x, y; samples = 3))
end
