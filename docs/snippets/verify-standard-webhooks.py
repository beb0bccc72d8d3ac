import base64
import hashlib
import hmac
import json
import time

TOLERANCE_SECONDS = 300


def verify_standard_webhook(raw_body: bytes, headers: dict, secret: str, now_seconds: float | None = None) -> dict:
    """Returns the event of a webhook whose `webhook-signature` is right; raises ValueError otherwise.

    raw_body: the bytes as received, before any parsing. headers: lower-case names. secret: `whsec_…`.
    """
    try:
        message_id = headers["webhook-id"]
        timestamp = headers["webhook-timestamp"]
        signatures = headers["webhook-signature"]
    except KeyError as missing:
        raise ValueError(f"{missing} is missing") from None

    now_seconds = time.time() if now_seconds is None else now_seconds
    if not abs(now_seconds - int(timestamp)) <= TOLERANCE_SECONDS:
        raise ValueError("The timestamp is too old or too new")

    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + raw_body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    if not any(hmac.compare_digest(entry.encode(), expected.encode()) for entry in signatures.split(" ")):
        raise ValueError("No signature matches")
    return json.loads(raw_body)
