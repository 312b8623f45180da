"""What explanations and reports say of kinds of machines. They do not load the models of machines for it."""

GROUP_NAMES = {"fat-tree": "pod", "hyperx": "slice"}
"""Kind of machine -> what it calls the level above routers, if that is not a group."""

#: What runs on Slingshot machines say of congestion control: with that of Slingshot, and without.
SLINGSHOT_CONTROL = (
    "The congestion control of Slingshot is modelled as far as it is public (De Sensi 2020): its law and numbers are "
    "assumed (docs/model.md, section 3)."
)
NO_SLINGSHOT_CONTROL = (
    "The congestion control of Slingshot is not used: a job that overloads its receivers may slow its neighbours more "
    "than on the real machine."
)
SLINGSHOT_ROUTING = (
    "The default routing of Slingshot machines is assumed: the nearest to what is published (De Sensi 2020)."
)

#: What is said of a machine with traffic classes.
CLASSES_WITHOUT_BLAME = (
    "with traffic classes a run has no blame: `odonata explain` needs a run without them; `odonata run --alone` says "
    "what the others cost a job"
)

#: Where costs of the host come from that its table leaves out, for ranks on processors and on GPUs.
ON_PROCESSORS = "default: those of MPI on a processor (assumed, close to the calibration on Leonardo)"
ON_GPUS = "default: those of NCCL's protocol Simple, as in superpod-h100-gpu (assumed for other GPUs)"


def not_modelled(interconnect: str | None, congestion_control: str | None) -> tuple[str, ...]:
    """What a real network has and the model has not, a sentence each."""
    if interconnect != "slingshot":
        return ()
    return (SLINGSHOT_CONTROL if congestion_control == "slingshot" else NO_SLINGSHOT_CONTROL, SLINGSHOT_ROUTING)


def group_name(kind: str | None) -> str:
    """What a kind of machine calls the level above routers."""
    return GROUP_NAMES.get(kind or "", "group")
