"""Body plans and the parameters of every species."""
