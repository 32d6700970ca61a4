"""respx for the providers' SDKs: they sit on httpx2, whose core respx does not patch by itself.

`with respx.mock(using=HTTPX2)` catches what they send.
"""

from __future__ import annotations

from respx.mocks import HTTPCoreMocker

HTTPX2 = "httpcore2"


class Httpcore2Mocker(HTTPCoreMocker):
    """respx's own mocker, aimed at the new core's transports. Defining it registers it under its name."""

    name = HTTPX2
    targets = [  # noqa: RUF012  # as the base class has it
        "httpcore2._async.connection_pool.AsyncConnectionPool",
        "httpcore2._async.connection.AsyncHTTPConnection",
        "httpcore2._sync.connection_pool.ConnectionPool",
    ]
