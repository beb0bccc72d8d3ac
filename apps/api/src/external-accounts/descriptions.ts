/** What both challenge routes say of themselves. */
export const challengeDescription =
  'For a self-custody wallet of the holder’s own. `WALLET_SIGNATURE` gives a message to sign; `LIVENESS` gives the link of a ' +
  'hosted check, which ends by itself and is announced as `EXTERNAL_ACCOUNT.STATUS_UPDATED`. A challenge that was started ' +
  'before is void.\n\n' +
  '409 `CONFLICT` with `details.reason`: `NOT_SELF_CUSTODY`, `NOT_FIRST_PARTY`, `ALREADY_VERIFIED`.';

/** What both verify routes say of themselves. */
export const verifyDescription =
  'Takes the signature over `messageToSign`, before `expiresAt`. EVM: EIP-191, 65 bytes in hex with 0x. Solana: Ed25519 in ' +
  'base58. TRON: `signMessageV2`, 65 bytes in hex. Spark: ECDSA of the identity key over the SHA-256 of the message, DER or ' +
  'compact, in hex.\n\n' +
  '400 `INVALID_INPUT` with `details.reason` (`WRONG_SIGNER`, `MALFORMED_SIGNATURE`, `CHALLENGE_EXPIRED`): the account is ' +
  '`UNVERIFIED` from then on and needs a new challenge. 409 `CONFLICT`: no challenge of this kind is outstanding ' +
  '(`NO_OUTSTANDING_CHALLENGE`), or there is nothing to verify.';
