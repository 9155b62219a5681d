"""Covariances of a few factors and a variance of each column's own: Σ = ΛΛᵀ + Ψ."""
