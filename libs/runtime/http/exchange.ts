import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

/** The classes of a server's requests and responses, as `createServer` takes them. */
export interface Exchange {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
}

/** Classes of their own for one server. */
export const newExchange = (): Exchange => ({
  IncomingMessage: class extends IncomingMessage {},
  ServerResponse: class<R extends IncomingMessage> extends ServerResponse<R> {},
});

/**
 * Makes an app the one that serves them. Express gives each request and response the app's prototype, and V8 gives each object whose
 * prototype was changed a hidden class of its own with every property that is added: megabytes a second, and whatever reads the object
 * is slow. These are born with the prototype. To be called once, before the first request.
 */
export function serveAs(app: Express, exchange: Exchange): void {
  const { IncomingMessage: request, ServerResponse: response } = exchange;
  Object.setPrototypeOf(request.prototype, app.request);
  Object.setPrototypeOf(response.prototype, app.response);
  Object.assign(app, { request: request.prototype, response: response.prototype });
}
