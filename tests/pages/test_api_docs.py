"""The pages of the API's documentation."""

from django.test import Client

from toolhub.api_docs import operations


def test_every_operation_has_a_page(eyes: Client, db: None) -> None:
    index = eyes.get("/api/docs").content.decode()
    for operation in operations():
        assert f'href="/api/docs/{operation.id}"' in index
        page = eyes.get(f"/api/docs/{operation.id}")
        assert page.status_code == 200
        assert len(page.content) < 100_000
    assert eyes.get("/api/docs/nothing").status_code == 404
