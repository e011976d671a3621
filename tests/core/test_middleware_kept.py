"""Addresses of the API that were found are kept, and no long ones."""

from typing import Any

from core import middleware


def test_a_long_address_is_not_kept(client: Any) -> None:
    middleware._resolve.cache_clear()
    for name in ("a", "a" * 10_000):
        assert client.post(f"/api/v1/tools/{name}/execute").status_code == 401
    assert middleware._resolve.cache_info().currsize == 1
