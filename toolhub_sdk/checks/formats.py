"""An example of each format of JSON Schema 2020-12 (§7.3 of the validation vocabulary)."""

from collections.abc import Mapping

FORMAT_EXAMPLES: Mapping[str, str] = {
    "date-time": "2026-01-31T09:30:00Z",
    "date": "2026-01-31",
    "time": "09:30:00Z",
    "duration": "PT1H30M",
    "email": "ada@example.com",
    "idn-email": "ada@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uri-reference": "/path",
    "iri": "https://example.com/",
    "iri-reference": "/path",
    "uri-template": "https://example.com/{id}",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
    "json-pointer": "/name",
    "relative-json-pointer": "1/name",
    "regex": "^[a-z]+$",
}
