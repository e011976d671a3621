"""The runtime vm: an image in a virtual machine, or on a kernel of its own."""

from execution.runners.container import Container
from toolhub_sdk.runtimes import vm as sdk


class Vm(Container):
    name = sdk.Vm.name
    in_machine = True


RUNTIME = Vm()
