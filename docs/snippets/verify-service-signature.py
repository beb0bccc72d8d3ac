# pip install cryptography
import base64
import json

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_public_key


def verify_service_signature(raw_body: bytes, header: str, public_key_pem: str) -> dict:
    """Returns the event of a webhook whose `X-Service-Signature` is right; raises ValueError otherwise.

    raw_body: the bytes as received, before any parsing. header: the header's value. public_key_pem: SPKI PEM.
    """
    signature = json.loads(header)
    if not isinstance(signature, dict) or signature.get("v") != "1":
        raise ValueError("Unknown signature version")

    public_key = load_pem_public_key(public_key_pem.encode())
    try:
        public_key.verify(base64.b64decode(signature.get("s", "")), raw_body, ec.ECDSA(SHA256()))
    except InvalidSignature:
        raise ValueError("The signature is wrong") from None
    return json.loads(raw_body)
