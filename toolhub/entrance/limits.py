"""Bounds of a request on its way in. Times in s, sizes in bytes."""

# Until all headers of a request are there; an idle connection is closed after it, too.
HEADERS_S = 5
# After the grace, a body must have brought this many bytes for each second that it took.
GRACE_S = 10.0
RATE = 1024
# Bodies on their way at once in one web process, and of one token or one address.
BODIES = 1024
SHARE = BODIES // 4
# As long as fewer are on their way, nobody counts whose they are.
FEW = 32
# Of one body in memory; more goes to a temporary file. Of all temporary files of one web process together.
MEMORY = 65_536
DISK = 1_073_741_824
# A client that takes nothing of an answer for so long is cut off.
STALL_S = 60
