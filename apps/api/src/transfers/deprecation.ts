import type { RequestHandler } from 'express';
import type { CallerRequest } from '../../../../libs/runtime/caller.ts';
import { BASE_PATH, counter } from '../../../../libs/runtime/http/index.ts';

/** Since when and until when (docs/transfers.md). The window is longer than the three months that the spec promises. */
const DEPRECATED_AT = new Date('2025-10-13T00:00:00.000Z');
const GONE_AFTER = new Date('2027-10-13T00:00:00.000Z');
const MIGRATION = 'https://github.com/ledgerline/ledgerline/blob/main/docs/transfers.md';

const deprecated: ReadonlyMap<string, string> = new Map(
  ['/transfer-in', '/transfer-out'].map((path) => [`${BASE_PATH}${path}`, `POST ${path}`]),
);

const calls = counter(
  'deprecated_requests_total',
  'Requests to operations that will go, by the platform that made them; none: it is not known who did.',
  ['operation', 'platform'],
);

/**
 * Says on every answer of the deprecated transfers that they are (RFC 9745, RFC 8594 and RFC 8288), and counts who still calls them, so
 * that they can be told before it goes. A step before all others: refusals of a request that is not even read say so too.
 */
export const announceDeprecation: RequestHandler = (req, res, next) => {
  const operation = req.method === 'POST' ? deprecated.get(req.path.replace(/\/$/, '')) : undefined;
  if (operation) {
    res.setHeader('Deprecation', `@${DEPRECATED_AT.getTime() / 1_000}`);
    res.setHeader('Sunset', GONE_AFTER.toUTCString());
    res.setHeader('Link', `<${MIGRATION}>; rel="deprecation"; type="text/html"`);
    res.once('close', () =>
      calls.inc({ operation, platform: (req as CallerRequest).caller?.tenant.platform ?? 'none' }),
    );
  }
  next();
};
