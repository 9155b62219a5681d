"""Components of a few factors: Σ = ΛΛᵀ + Ψ, own or shared."""
