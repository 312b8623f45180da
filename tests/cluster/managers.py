"""Files of PBS, Flux and LSF, in the forms that their manuals describe."""

import json

PBS = {
    "timestamp": 1479277336,
    "pbs_version": "2022.1.1",
    "pbs_server": "pbs-01",
    "Jobs": {
        "11.pbs-01": {
            "Job_Name": 7,
            "Job_Owner": "ana@login1",
            "job_state": "R",
            "queue": "prod",
            "exec_host": "x1000c0s0b0n0/0*208+x1000c0s1b0n0/0*208",
            "exec_vnode": "(x1000c0s0b0n0:ncpus=208)+(x1000c0s1b0n0:ncpus=208)",
            "Account_Name": "physics",
            "Resource_List": {"nodect": 2, "walltime": "01:00:00"},
            "resources_used": {"walltime": "00:20:00"},
            "Variable_List": {"PBS_O_HOME": "/home/ana"},
        },
        "12.pbs-01": {"job_state": "Q", "queue": "prod", "Resource_List": {"nodect": 512, "walltime": "06:00:00"}},
        "13[].pbs-01": {"job_state": "B", "Resource_List": {"nodect": 1}},
        "14.pbs-01": {"job_state": "E", "exec_vnode": "(n7[0]:ncpus=4+n7[1]:ncpus=4)", "Resource_List": {}},
        "15.pbs-01": {"job_state": "S", "exec_host": "n8/0", "Resource_List": {}},
    },
}
PBS_TEXT = """Job Id: 11.pbs-01
    Job_Name = a name = with signs
    Job_Owner = ana@login1
    resources_used.walltime = 00:20:00
    job_state = R
    queue = prod
    exec_host = x1000c0s0b0n0/0*208+x1000c0s1b0n0/0*2
\t08
    Resource_List.nodect = 2
    Resource_List.walltime = 01:00:00
    Variable_List = PBS_O_HOME=/home/ana,PBS_O_LANG=C,
\tPBS_O_PATH=/usr/bin

Job Id: 12.pbs-01
    job_state = Q
    queue = prod
    Resource_List.nodect = 512
"""
PBS_NODES = {
    "timestamp": 1,
    "pbs_version": "2022.1.1",
    "pbs_server": "pbs-01",
    "nodes": {
        "n1": {"Mom": "n1.site", "state": "free", "resources_available": {"host": "n1", "ncpus": 4}, "queue": "prod"},
        "n2": {"Mom": "n2.site", "state": "free", "jobs": ["3.pbs-01"], "resources_available": {"host": "n2"}},
        "n3": {"state": "job-exclusive", "resources_available": {"host": "n3"}},
        "n4": {"state": "offline,down", "resources_available": {"host": "n4"}},
        "n5[0]": {"state": "free", "resources_available": {"host": "n5"}},
        "n5[1]": {"state": "job-busy", "resources_available": {"host": "n5"}},
    },
}
PBS_NODES_TEXT = """n1
     Mom = n1.site
     ntype = PBS
     state = free
     resources_available.host = n1
     jobs =\x20

n4
     Mom = n4.site
     state = state-unknown,down
"""
LOG = """11/16/2016 06:22:16;Q;11.pbs-01;queue=prod
11/16/2016 06:22:17;S;11.pbs-01;user=ana group=g jobname=a queue=prod ctime=900 start=1000 exec_host=n1/0*4+n2/0*4
11/16/2016 06:22:17;S;12.pbs-01;user=bo jobname=b ctime=1400 start=1500 exec_host=n3/0 Resource_List.walltime=01:00:00
11/16/2016 06:32:17;E;11.pbs-01;user=ana account="my account" jobname=a queue=prod ctime=900 qtime=900 etime=900 \
start=1000 exec_host=n1/0*4+n2/0*4 exec_vnode=(n1:ncpus=4)+(n2:ncpus=4) Resource_List.nodect=2 \
Resource_List.walltime=00:30:00 session=1 end=1600 Exit_status=0 resources_used.walltime=00:10:00
11/16/2016 06:33:00;D;13.pbs-01;requestor=root@n1
"""
FLUX = {
    "jobs": [
        {
            "t_depend": 1.5,
            "t_run": 2.5,
            "cwd": "/home/ana",
            "name": "lmp",
            "queue": "pbatch",
            "bank": "physics",
            "ntasks": 8,
            "duration": 3600.0,
            "nnodes": 2,
            "ranks": "[0-1]",
            "nodelist": "tuo[1001-1002]",
            "annotations": {"sched": {"queue": "x"}},
            "id": 4142,
            "t_submit": 1.5,
            "state": "RUN",
            "username": "ana",
            "t_remaining": 1200.5,
        },
        {"nodelist": "", "id": 5, "t_submit": 2.0, "state": "SCHED", "nnodes": 4, "duration": 0.0},
        {"nodelist": "tuo1003", "id": 6, "t_submit": 2.0, "state": "INACTIVE", "nnodes": 1},
    ]
}
RESOURCES = {
    "version": 1,
    "execution": {
        "R_lite": [{"rank": "0-3", "children": {"core": "0-95"}}],
        "starttime": 0.0,
        "expiration": 0.0,
        "nodelist": ["tuo[1001-1004]"],
    },
}
LSF = {
    "COMMAND": "bjobs",
    "JOBS": 4,
    "RECORDS": [
        {
            "JOBID": "101",
            "STAT": "RUN",
            "USER": "ana",
            "QUEUE": "normal",
            "JOB_NAME": "cfd",
            "EXEC_HOST": "42*a01n01:42*a01n02",
            "RUNTIMELIMIT": "120.0 / a01n01",
            "TIME_LEFT": "1:30 L",
        },
        {"JOBID": "102", "JOBINDEX": "3", "STAT": "PEND", "EXEC_HOST": "", "TIME_LEFT": "-"},
        {"JOBID": "103", "STAT": "SSUSP", "EXEC_HOST": "a01n03"},
        {"JOBID": "104", "STAT": "NEWSTATE", "EXEC_HOST": "-"},
    ],
}
LSF_HOSTS = {
    "COMMAND": "bhosts",
    "HOSTS": 4,
    "RECORDS": [
        {"HOST_NAME": "a01n01", "STATUS": "closed_Full", "NJOBS": "42"},
        {"HOST_NAME": "a01n04", "STATUS": "ok", "NJOBS": "0"},
        {"HOST_NAME": "a01n05", "STATUS": "ok", "NJOBS": "3"},
        {"HOST_NAME": "a01n06", "STATUS": "closed_Adm", "NJOBS": "0"},
        {"HOST_NAME": "a01n07", "STATUS": "unavail", "NJOBS": "0"},
    ],
}


def text(form: object) -> str:
    """The text of a file."""
    return form if isinstance(form, str) else json.dumps(form, indent=4)


#: The texts that list jobs, nodes, and past jobs.
QUEUES = tuple(map(text, (PBS, PBS_TEXT, FLUX, LSF)))
NODES = tuple(map(text, (PBS_NODES, PBS_NODES_TEXT, RESOURCES, LSF_HOSTS)))
HISTORIES = (LOG,)
