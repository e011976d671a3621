"""The runtime vm: an image in a virtual machine, or on a kernel of its own."""

from toolhub_sdk.runtimes.container import Container, image_properties


class Vm(Container):
    name = "vm"
    properties = image_properties("The same in a virtual machine, or on a kernel of its own.")


RUNTIME = Vm()
