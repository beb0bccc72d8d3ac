import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { CallerRequest } from '../../../../libs/runtime/caller.ts';
import { counter } from '../../../../libs/runtime/http/index.ts';

const calls = counter(
  'deprecated_requests_total',
  'Requests to operations that will go, by the token that made them.',
  ['operation', 'token'],
);

/** Counts who still calls what is deprecated, so that they can be told before it goes. */
@Injectable()
export class CountDeprecated implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    const { caller, method, path } = context
      .switchToHttp()
      .getRequest<CallerRequest & { method: string; path: string }>();
    const operation = `${method} /${path.split('/').at(-1)}`;
    calls.inc({ operation, token: caller?.tokenId ?? 'none' });
    return next.handle();
  }
}
