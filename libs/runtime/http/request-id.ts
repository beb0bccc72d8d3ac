import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse } from 'node:http';

declare global {
  namespace Express {
    interface Request {
      /** The id of this request, as answered in `X-Request-Id`. */
      requestId?: string;
      /** The bytes of a JSON body, as they came. */
      rawBody?: Buffer;
    }
  }
}

type Identified = IncomingMessage & { requestId?: string };

const SANE = /^[\w.:@/+=-]{1,128}$/;

/** Gives the request its id and the answer its `X-Request-Id`: the client's own when it is a sane one, else a fresh uuid. */
export function identify(req: Identified, res: ServerResponse): string {
  const sent = req.headers['x-request-id'];
  const id = typeof sent === 'string' && SANE.test(sent) ? sent : randomUUID();
  req.requestId = id;
  res.setHeader('X-Request-Id', id);
  return id;
}

/** The id of a request, as answered in `X-Request-Id`. */
export const requestIdOf = (req: object): string => (req as Identified).requestId ?? 'unknown';
