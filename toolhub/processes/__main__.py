"""`python -m toolhub.processes FD`: supervises the plan that lies in the open file FD."""

import os
import sys

from toolhub.processes.plan import Plan
from toolhub.processes.supervisor import Supervisor, say

if __name__ == "__main__":
    with os.fdopen(int(sys.argv[1])) as file:
        plan = Plan.load(file.read())
    sys.exit(Supervisor(plan, say).run())
