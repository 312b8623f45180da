"""Odonata for Spack: put this file into `packages/py-odonata` of a repository of Spack."""

from spack.package import *


class PyOdonata(PythonPackage):
    """Which jobs on a shared network slow each other down, why, and which placement or routing prevents it."""

    license("Apache-2.0")

    version("0.2.0")

    variant("all", default=True, description="Pictures, statistics and mappings by METIS")

    depends_on("c", type="build")
    depends_on("rust@1.89:", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-maturin@1.16:1", type="build")

    depends_on("py-cloudpickle@3:3", type=("build", "run"))
    depends_on("py-cyclopts@5.4:5", type=("build", "run"))
    depends_on("py-numpy@2:2", type=("build", "run"))
    depends_on("py-polars@1.36.1:2", type=("build", "run"))
    depends_on("py-pydantic@2.9:2", type=("build", "run"))
    depends_on("py-rich@14:15", type=("build", "run"))
    depends_on("py-pyyaml@6.0.2:6", type=("build", "run"))
    depends_on("py-tomli_w@1.2:1", type=("build", "run"))
    depends_on("py-tomlkit@0.13.2:0.15", type=("build", "run"))

    with when("+all"):
        depends_on("py-matplotlib@3.9:3", type=("build", "run"))
        depends_on("py-pymetis@2025.2.2:2026", type=("build", "run"))
        depends_on("py-scipy@1.15:1", type=("build", "run"))
