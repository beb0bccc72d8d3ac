import type { Config } from '../../../libs/runtime/config.ts';
import { BASE_PATH } from '../../../libs/runtime/http/index.ts';
import type { RunningPlatform } from './platform.ts';

/**
 * What a newcomer reads first: where the platform is, credentials that work, a command that succeeds, how to end it. A deployment with
 * a database and credentials of its own knows its secrets: there they are not repeated.
 */
export function banner(
  platform: Pick<RunningPlatform, 'url' | 'credentials' | 'webhookSecret'>,
  config: Config,
): string {
  const { url, credentials, webhookSecret } = platform;
  const isNewcomer = config.databaseUrl === undefined || config.bootstrap === undefined;
  const secret = isNewcomer ? credentials.clientSecret : '(BOOTSTRAP_CLIENT_SECRET)';
  const lines = [
    `API            ${url}${BASE_PATH}`,
    `Documentation  ${url}/docs`,
    `Client id      ${credentials.clientId}`,
    `Client secret  ${secret}`,
    ...(isNewcomer && webhookSecret ? [`Webhook secret ${webhookSecret}`] : []),
    `State          ${config.databaseUrl === undefined ? config.dataDir : 'the PostgreSQL of DATABASE_URL'}`,
  ];
  const user = quoted(`${credentials.clientId}:${isNewcomer ? credentials.clientSecret : 'SECRET'}`);
  return `
  Ledgerline is running.

${lines.map((line) => `    ${line}`).join('\n')}

  Try it:

    curl -u ${user} ${url}${BASE_PATH}/config

  Webhooks go to the webhookEndpoint that PATCH ${BASE_PATH}/config sets, signed with the webhook secret.
  Ctrl-C ends everything; the state stays for the next start.

`;
}

/** A text as one word of a POSIX shell. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
