"""Body plans, parameters, heads and coats of every species."""
