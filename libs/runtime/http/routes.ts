import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type NextFunction, type Request, type Response, Router } from 'express';
import { type Exchange, serveAs } from './exchange.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

const resources = new WeakMap<object, ReadonlyMap<string, Router>>();

/**
 * Express tries one route after the other, which with a hundred of them is a tenth of what a request costs. Here the routes of each
 * resource (`/2025-10-13/quotes`) are a router of their own, found by the beginning of the path.
 */
export class RoutesByResource extends ExpressAdapter {
  private readonly routers = new Map<string, Router>();

  /** `exchange`: of the server whose requests the app is given; its own server's when absent. */
  constructor(exchange?: Exchange) {
    super(express());
    resources.set(this.getInstance(), this.routers);
    if (exchange) serveAs(this.getInstance(), exchange);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the signature of the adapter
  override get(...args: any[]) {
    return this.route('get', args);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the signature of the adapter
  override post(...args: any[]) {
    return this.route('post', args);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the signature of the adapter
  override put(...args: any[]) {
    return this.route('put', args);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the signature of the adapter
  override patch(...args: any[]) {
    return this.route('patch', args);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the signature of the adapter
  override delete(...args: any[]) {
    return this.route('delete', args);
  }

  private route(method: Method, [path, ...handlers]: [path?: string, ...handlers: never[]]): unknown {
    const resource = resourceOf(path ?? '');
    const target = resource === '' || /[:*{]/.test(resource) ? this.getInstance<Express>() : this.routerOf(resource);
    return target[method](path as string, ...handlers);
  }

  /** Puts the routes of the resources here among the middleware: before them comes what is mounted already. */
  mountResources(): void {
    const { routers } = this;
    this.getInstance<Express>().use((req: Request, res: Response, next: NextFunction) => {
      const router = routers.get(resourceOf(req.url));
      if (router) router(req, res, next);
      else next();
    });
  }

  /** JSON is sent as it is, without what Express finds out for answers of any kind. */
  override reply(response: Response, body: unknown, statusCode?: number) {
    const isJson = typeof body === 'string' ? response.hasHeader('Content-Type') : isPlain(body);
    if (!isJson) return super.reply(response, body, statusCode);
    if (statusCode !== undefined) response.statusCode = statusCode;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    if (typeof body !== 'string') response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', Buffer.byteLength(text));
    response.end(text);
    return response;
  }

  private routerOf(resource: string): Router {
    const router = this.routers.get(resource) ?? Router({ caseSensitive: true });
    this.routers.set(resource, router);
    return router;
  }
}

const isPlain = (body: unknown): body is object =>
  typeof body === 'object' &&
  body !== null &&
  (Array.isArray(body) || Object.getPrototypeOf(body) === Object.prototype);

/** The router of the resource that a request is about, where the app of the request has one. */
const routerAt = (req: Request): Router | undefined => resources.get(req.app)?.get(resourceOf(req.originalUrl));

/** A route as Express keeps it: its template, and the methods that it answers, in lower case. */
interface Route {
  path: unknown;
  methods: Record<string, boolean>;
}

/** The routes that fit the path of a request, whatever its method. Throws when the path cannot be decoded. */
export function routesAt(req: Request): Route[] {
  type Layer = { route?: Route; match(path: string): boolean };
  const routers = [req.app.router, routerAt(req)] as unknown as ({ stack: Layer[] } | undefined)[];
  const path = req.originalUrl.split('?', 1)[0]!;
  return routers
    .flatMap((router) => router?.stack ?? [])
    .flatMap((layer) => (layer.route && layer.match(path) ? [layer.route] : []));
}

/** The first two segments of a path: the version of the API and the resource. */
function resourceOf(path: string): string {
  const second = path.indexOf('/', 1) + 1;
  if (second === 0) return '';
  let end = second;
  while (end < path.length && path[end] !== '/' && path[end] !== '?') end += 1;
  return end === second ? '' : path.slice(0, end);
}
