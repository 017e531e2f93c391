"""The papers' published results, and the benches that repeat their experiments.

``published``          the papers' tables, from ``bench/papers.toml``
``presets``            the experiments as cells, from ``bench/presets/``
``compared_settings``  the papers' settings beside the presets'
``comparable``         which published figures may stand beside a bench
"""
