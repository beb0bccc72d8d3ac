import { randomUUID, timingSafeEqual } from 'node:crypto';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Express, Request, Response } from 'express';
import {
  type ExternalAccountState,
  externalAccount,
  isExpired,
  type LivenessOutcome,
  RecordLivenessOutcome,
} from '../../../../libs/domain/external-accounts/external-account.ts';
import { tenantOf } from '../../../../libs/domain/platforms/platform.ts';
import { timestamp } from '../../../../libs/kernel/clock.ts';
import { Rejection } from '../../../../libs/kernel/errors.ts';
import { isUuid, publicId } from '../../../../libs/kernel/ids.ts';
import type { Engine } from '../../../shared/engine.ts';

const PATH = '/sandbox-liveness';

const outcomes: Readonly<Record<string, LivenessOutcome>> = { completed: 'COMPLETED', failed: 'FAILED' };

/** Where the owner does the hosted check, on the host that the request came to. */
export function livenessLink(request: Request, token: string): string {
  const origin = `${request.protocol}://${request.get('host')}`;
  return new URL(`${PATH}/${token}`, URL.canParse(origin) ? origin : 'http://localhost').href;
}

/**
 * Serves the page that stands in for a liveness check in the sandbox: whoever has the link ends the check with one of two buttons.
 * Needs no credentials, the link holds 128 random bits; works offline and without scripts.
 */
export function serveLivenessPage(app: NestExpressApplication, engine: Engine): void {
  const instance = app.getHttpAdapter().getInstance() as Express;
  instance.get(`${PATH}/:token`, async (request, response) => {
    const account = await challenged(engine, request.params.token!);
    if (!account) return void answer(response, 404, gone);
    answer(response, 200, question(account, request.params.token!));
  });
  instance.post(`${PATH}/:token/:outcome`, async (request, response) => {
    const account = await challenged(engine, request.params.token!);
    const outcome = Object.hasOwn(outcomes, request.params.outcome!) ? outcomes[request.params.outcome!] : undefined;
    if (!account || !outcome) return void answer(response, 404, gone);
    const isRecorded = await record(engine, account, outcome);
    answer(response, isRecorded ? 200 : 404, isRecorded ? ended[outcome] : gone);
  });
}

/** The sandbox account whose outstanding challenge has this token. */
async function challenged(engine: Engine, token: string): Promise<ExternalAccountState | undefined> {
  const id = /^[0-9a-f]{64}$/.test(token) ? uuidOf(token.slice(0, 32)) : '';
  if (!isUuid(id)) return undefined;
  const { state } = await engine.writePath.state<ExternalAccountState>(externalAccount, id);
  const { challenge } = state;
  const tenant = tenantOf(state.tenantId);
  await engine.clock.know(tenant);
  if (challenge?.token?.length !== token.length || isExpired(challenge, timestamp(engine.clock.nowMs(tenant))))
    return undefined;
  const isToken = timingSafeEqual(Buffer.from(challenge.token), Buffer.from(token));
  return isToken && tenant.environment === 'sandbox' ? state : undefined;
}

const uuidOf = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** False when the challenge was replaced or answered at this moment. */
async function record(engine: Engine, account: ExternalAccountState, outcome: LivenessOutcome): Promise<boolean> {
  const { externalAccountId, challenge } = account;
  const { challengeId } = challenge!;
  const tenant = tenantOf(account.tenantId);
  const now = timestamp(engine.clock.nowMs(tenant));
  const commandId = randomUUID();
  const envelope = { commandId, correlationId: commandId, actor: `liveness:${challengeId}`, tenant };
  const command = new RecordLivenessOutcome({ externalAccountId, challengeId, outcome, now });
  try {
    await engine.writePath.execute(externalAccount, command, envelope);
    return true;
  } catch (error) {
    if (error instanceof Rejection && error.status < 500) return false;
    throw error;
  }
}

function answer(response: Response, status: number, body: string): void {
  response
    .status(status)
    .setHeader(
      'Content-Security-Policy',
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'",
    )
    .setHeader('Referrer-Policy', 'no-referrer')
    .type('html')
    .send(page(body));
}

const page = (body: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Liveness check (sandbox)</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 12vh auto; padding: 0 1rem; color: #1d2433; }
  code { overflow-wrap: anywhere; background: #f1f3f7; padding: .1em .3em; border-radius: 4px; }
  form { display: inline-block; margin: 1rem .75rem 0 0; }
  button { font: inherit; padding: .6rem 1.2rem; border: 1px solid #1d2433; border-radius: 6px; background: #fff; cursor: pointer; }
  .yes { background: #1d2433; color: #fff; }
  .note { color: #5b6475; font-size: .875rem; margin-top: 2rem; }
</style>
${body}
</html>
`;

const note =
  '<p class="note">This page belongs to the sandbox. In production the person is asked to show their face.</p>';

function question({ externalAccountId, accountInfo }: ExternalAccountState, token: string): string {
  const address = escaped(String(accountInfo?.address ?? ''));
  return `<h1>Is this your wallet?</h1>
<p>Wallet <code>${address}</code>, registered as <code>${publicId('ExternalAccount', externalAccountId)}</code>.</p>
<form method="post" action="${PATH}/${token}/completed"><button class="yes">Complete the check</button></form>
<form method="post" action="${PATH}/${token}/failed"><button>Fail the check</button></form>
${note}`;
}

const ended: Readonly<Record<LivenessOutcome, string>> = {
  COMPLETED: `<h1>Check completed</h1>\n<p>The wallet is verified. You can close this page.</p>\n${note}`,
  FAILED: `<h1>Check failed</h1>\n<p>The wallet is not verified. A new check can be started.</p>\n${note}`,
};

const gone = `<h1>This link is not valid</h1>
<p>The check has ended, has expired or was replaced by a newer one.</p>
${note}`;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!);
