import { Type } from 'typebox';

/** What a receiver needs to check signatures, without any secret. */
export const WebhookKeys = Type.Object(
  {
    environment: Type.Enum(['sandbox', 'production']),
    algorithm: Type.Literal('ECDSA_P256_SHA256'),
    publicKey: Type.String({ description: 'SPKI PEM; checks `X-Service-Signature`. The same for all platforms.' }),
    secrets: Type.Array(
      Type.Object({
        fingerprint: Type.String({ description: 'The first 16 hex digits of the SHA-256 of the secret.' }),
        validUntil: Type.Optional(
          Type.String({ format: 'date-time', description: 'A replaced secret signs until then.' }),
        ),
      }),
      {
        description:
          'The secrets behind `webhook-signature`, newest first. The secrets themselves are never shown here.',
      },
    ),
  },
  { $id: 'WebhookKeys' },
);

export const RotatedWebhookSecret = Type.Object(
  {
    secret: Type.String({ description: 'The new secret, shown this once.' }),
    previousValidUntil: Type.Optional(
      Type.String({ format: 'date-time', description: 'The previous secret signs beside it until then.' }),
    ),
  },
  { $id: 'RotatedWebhookSecret' },
);

/** The answer of a receiver to a test (facts §11; its names are in snake case there). */
export const TestWebhookResponse = Type.Object(
  {
    url: Type.String({ format: 'uri' }),
    response_status: Type.Integer(),
    response_body: Type.String(),
  },
  { $id: 'TestWebhookResponse' },
);
