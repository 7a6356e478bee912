"""Whether a port can be listened on."""

from __future__ import annotations

import socket


def fault_of_binding(host: str, port: int) -> int | None:
    """Bind the port for a moment, as `maquette up` will: the errno of what went wrong, 0 when nothing did.

    `None` when the host has no address.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, _, _, address = found[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except socket.gaierror:
        return None
    except OSError as error:
        return error.errno
    return 0
