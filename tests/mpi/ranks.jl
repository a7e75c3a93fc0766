# Ranks of MPI train with the results of one that trains alone: mpirun -n N julia ranks.jl N
using BDL, Libdl

const x = [sin(1.3i + 0.7i * j) for i in 0:95, j in 0:3]
const y = Float64.(x[:, 1] .> 0.2)

function learned(ranks, method = "vogn", hidden = (5,))
    model = Model((4, hidden..., 1); likelihood = :bernoulli)
    q = method == "exact-full" ? Posterior(model; family = :full) : Posterior(model; rank = 0)
    optimizer = Optimizer(model, q, method, 96; shards = 4, threads = 1)
    set_communicator!(optimizer, ranks)
    fit!(optimizer, x, y; epochs = 20)
    return mean(q)
end

same(ranks, arguments...) = learned(ranks, arguments...) == learned(nothing, arguments...) || error("other bits")

struct Comm  # as MPI.jl has it with Open MPI
    val::Ptr{Cvoid}
end

ranks = mpi_world(timeout = 30)
length(ranks) == parse(Int, ARGS[1]) || error("$(length(ranks)) ranks")
same(ranks)
same(ranks, "exact-full", ())
traffic(ranks).received > 0 || error("nothing was received")
world = Libdl.dlsym(Libdl.dlopen("libmpi.so.40"), :ompi_mpi_comm_world)
again = mpi_of(Comm(world); timeout = 30)
(rank(again), length(again)) == (rank(ranks), length(ranks)) || error("another rank")
same(again)
println("rank $(rank(ranks)): the same bits")
