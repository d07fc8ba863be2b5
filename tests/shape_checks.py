"""The run-time checker of annotations: beartype, with an int allowed where a float is, as PEP 484
says."""

from beartype import BeartypeConf, beartype

check = beartype(conf=BeartypeConf(is_pep484_tower=True))
