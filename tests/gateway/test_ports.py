import errno
import socket

import pytest

from gateway.local.ports import fault_of_binding


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_port_that_somebody_listens_on_is_taken_whatever_the_address_family(family, host):
    with socket.socket(family) as held:
        held.bind((host, 0))
        held.listen()
        port = held.getsockname()[1]

        assert fault_of_binding(host, port) == errno.EADDRINUSE

    assert fault_of_binding(host, port) == 0


def test_a_host_without_an_address_is_no_fault_of_the_port():
    assert fault_of_binding("nowhere.invalid", 1) is None
