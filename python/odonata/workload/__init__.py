"""A queue as a scenario: the running jobs on their own nodes, with traffic from a traffic book."""
