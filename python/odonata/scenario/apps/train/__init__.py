"""Training of a model with data, tensor, pipeline, context and expert parallelism.

| file | what |
|---|---|
| `models.py`, `shapes.py` | models by name with their sources; parameters and operations of a transformer |
| `options.py` | the keys of `train` |
| `layout.py` | how ranks, layers and parameters are divided |
| `schedule.py` | the order of the passes of a stage: 1F1B |
| `layers.py`, `collectives.py`, `graph.py` | the work of a layer, its collectives, and the graph of a stage |
| `volume.py` | bytes of a step by dimension, in closed form |
"""

from typing import TYPE_CHECKING

from odonata.lazy import lazily

if TYPE_CHECKING:
    from odonata.scenario.apps.train.app import Train
    from odonata.scenario.apps.train.models import MODELS
    from odonata.scenario.apps.train.options import TrainTable
    from odonata.scenario.apps.train.shapes import ShapeTable
    from odonata.scenario.apps.train.volume import step_bytes

__all__ = ["MODELS", "ShapeTable", "Train", "TrainTable", "step_bytes"]

__getattr__ = lazily(
    __name__,
    {
        "app": ("Train",),
        "models": ("MODELS",),
        "options": ("TrainTable",),
        "shapes": ("ShapeTable",),
        "volume": ("step_bytes",),
    },
)
