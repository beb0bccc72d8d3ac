import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { rejectFields } from '../kernel/errors.ts';
import { Caller, type CallerRequest } from './caller.ts';
import { ReadModel } from './read-model.ts';

/** In both directions: what a write answers with is what a read, of any instance, may be asked to show. */
export const READ_POSITION = 'Read-Position';

/** Injection token of a function that answers the position of the log's end. */
export const LOG_HEAD = Symbol('LogHead');

/**
 * Read your writes (architecture §7), after the authentication. A GET waits, two seconds at most, until the read model shows what this
 * instance wrote for the platform and what the client's `Read-Position` names, then answers with the position that it shows. A write
 * answers with its position. A platform's events are in one partition of the feed, so that one number says it all.
 */
@Injectable()
export class ReadPosition implements CanActivate {
  private readonly readModel: ReadModel;

  constructor(@Inject(ReadModel) readModel: ReadModel) {
    this.readModel = readModel;
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request & CallerRequest>();
    const { caller, method } = request;
    if (!caller) return true;
    const response = http.getResponse<Response>();
    if (method !== 'GET' && method !== 'HEAD') {
      this.tellAtTheEnd(response, caller);
      return true;
    }
    const needed = Math.max(this.readModel.position(caller.tenant), askedBy(request));
    if (this.readModel.shown(caller.tenant) < needed) return this.wait(request, response, caller, needed);
    response.setHeader(READ_POSITION, this.readModel.shown(caller.tenant));
    return true;
  }

  private async wait(request: CallerRequest, response: Response, caller: Caller, needed: number): Promise<boolean> {
    if (!(await this.readModel.caughtUp(needed, caller.tenant))) {
      const tenant = this.readModel.waited(caller.tenant); // the reads of this request wait no longer
      request.caller = new Caller(tenant, caller.tokenId, caller.permissions, caller.requestId);
    }
    response.setHeader(READ_POSITION, this.readModel.shown(caller.tenant));
    return true;
  }

  /** What this instance has written for the platform by then: the request's own events, or later ones. */
  private tellAtTheEnd(response: Response, { tenant }: Caller): void {
    const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => Response;
    response.writeHead = ((...args: unknown[]) => {
      const position = this.readModel.position(tenant);
      if (position > 0 && response.statusCode < 400 && !response.hasHeader(READ_POSITION)) {
        response.setHeader(READ_POSITION, position);
      }
      return writeHead(...args);
    }) as Response['writeHead'];
  }
}

/** 0 when the client asks for none. */
function askedBy(request: Request): number {
  const header = request.headers['read-position'];
  if (header === undefined) return 0;
  const position = Number(header);
  if (/^\d{1,16}$/.test(String(header)) && Number.isSafeInteger(position)) return position;
  const message = `${READ_POSITION} must be the ${READ_POSITION} of an earlier answer.`;
  throw rejectFields([{ field: READ_POSITION, constraint: 'FORMAT', message }]);
}
