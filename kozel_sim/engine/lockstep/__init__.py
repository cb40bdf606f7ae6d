"""The vector engine: many matches in lock-step, sixteen at a time, equal to the scalar engine."""
