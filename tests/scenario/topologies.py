"""A small machine of each kind, as the core reads it."""

from typing import Any

GLOBAL = {"groups": 3, "nodes_per_router": 1, "global_links_per_router": 2, "arrangement": "absolute"}
TOPOLOGIES: dict[str, dict[str, Any]] = {
    "dragonfly-plus": {
        "kind": "dragonfly-plus",
        "groups": 3,
        "leaves": 2,
        "spines": 2,
        "nodes_per_leaf": 1,
        "global_links_per_spine": 2,
        "arrangement": "linear",
    },
    "dragonfly": {"kind": "dragonfly", "routers": 2, **GLOBAL},
    "cascade": {"kind": "cascade", "rows": 2, "columns": 3, "column_links": 1, **GLOBAL},
    "fat-tree": {
        "kind": "fat-tree",
        "pods": 1,
        "leaves": 2,
        "spines": 2,
        "cores": 0,
        "nodes_per_leaf": 1,
        "leaf_links": 1,
        "core_links": 1,
    },
    "hyperx": {"kind": "hyperx", "dimensions": [4, 3, 2], "dimension_links": [1, 1, 1], "nodes_per_router": 1},
    "graph": {
        "kind": "graph",
        "routers": 4,
        "nics": [0, 1, 2],
        "weights": [1],
        "links": [[0, 3, 1], [1, 3, 1], [2, 3, 1]],
    },
}
