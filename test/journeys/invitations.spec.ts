import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../apps/shared/engine.ts';
import { eraseCustomer } from '../../apps/shared/erase.ts';
import { timestamp } from '../../libs/kernel/clock.ts';
import { BASE_PATH } from '../../libs/runtime/http/index.ts';
import { eventually } from '../eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform.ts';
import { type Receiver, startReceiver } from '../receiver.ts';

type Sandbox = Pick<TestPlatform, 'tenant' | 'api'>;

interface Customer {
  id: string;
  umaAddress: string;
}

/** Real time stands still, so that answers can be compared whole; webhooks are sent by the real one. */
const WALL_MS = Date.parse('2031-10-13T12:00:00.000Z');
const at = (seconds: number) => timestamp(WALL_MS + seconds * 1_000);

let platform: TestPlatform;
/** The platform of whoever is invited. */
let bank: Sandbox;
let receiver: Receiver;
let amina: Customer;
let luis: Customer;

beforeAll(async () => {
  platform = await startTestPlatform({ clock: { nowMs: () => WALL_MS }, dispatcher: { clock: systemClock } });
  receiver = await startReceiver();
  await platform.api('patch', '/config').send({ webhookEndpoint: receiver.url }).expect(200);
  bank = await platform.another();
  amina = await customerOf(platform, { currencies: ['MXN', 'USD'] });
  luis = await customerOf(bank);
});
afterAll(async () => {
  await platform.stop();
  await receiver.stop();
});

const customerOf = async ({ api }: Pick<Sandbox, 'api'>, more: object = {}): Promise<Customer> => {
  const body = { customerType: 'INDIVIDUAL', region: 'US', ...more };
  return (await api('post', '/customers').send(body).expect(201)).body;
};
const invite = async (more: object = {}) =>
  (
    await platform
      .api('post', '/invitations')
      .send({ inviterUma: amina.umaAddress, ...more })
      .expect(201)
  ).body;
const read = async (code: string, { api }: Pick<Sandbox, 'api'> = platform) =>
  (await api('get', `/invitations/${code}`).expect(200)).body;
const claim = (code: string, { api }: Pick<Sandbox, 'api'> = bank, inviteeUma = luis.umaAddress) =>
  api('post', `/invitations/${code}/claim`).send({ inviteeUma });
const cancel = (code: string, { api }: Pick<Sandbox, 'api'> = platform) => api('post', `/invitations/${code}/cancel`);

describe('creating an invitation', () => {
  test('answers with a code that nobody can guess, and the amount in the currency of the inviter', async () => {
    const body = { firstName: 'Luis', amountToSend: 12_550, expiresAt: '2031-10-20T14:00:00+02:00' };
    const invitation = await invite(body);
    const { umaDomain } = (await platform.api('get', '/config').expect(200)).body;
    expect(invitation).toEqual({
      code: expect.stringMatching(/^[a-z2-7]{26}$/),
      invitationCode: invitation.code,
      createdAt: at(0),
      url: `https://${umaDomain}/invitations/${invitation.code}`,
      expiresAt: '2031-10-20T12:00:00.000Z',
      inviterUma: amina.umaAddress,
      status: 'PENDING',
      firstName: 'Luis',
      amountToSend: { amount: 12_550, currency: expect.objectContaining({ code: 'MXN', decimals: 2 }) },
    });
    expect(await read(invitation.code)).toEqual(invitation);
  });

  test('needs no more than the inviter, in any case of letters', async () => {
    const { code, ...rest } = await invite({ inviterUma: amina.umaAddress.toUpperCase() });
    const { inviterUma, status } = rest;
    expect([inviterUma, status, Object.keys(rest).sort()]).toEqual([
      amina.umaAddress,
      'PENDING',
      ['createdAt', 'invitationCode', 'inviterUma', 'status', 'url'],
    ]);
    expect((await invite()).code).not.toBe(code);
  });

  test('repeated with its key gives the same one', async () => {
    const keyed = (api: TestPlatform['api']) =>
      api('post', '/invitations').set('Idempotency-Key', '1').send({ inviterUma: amina.umaAddress });
    const first = await keyed(platform.api).expect(201);
    const second = await keyed(platform.api).expect(201);
    expect([second.body, second.headers['idempotent-replayed']]).toEqual([first.body, 'true']);
  });

  test('leaves nothing in the log by which anybody could be known', async () => {
    const { code } = await invite({ firstName: 'Wilhelmina' });
    const log = JSON.stringify(await platform.log());
    expect(log).toContain(code);
    expect([amina.umaAddress, 'Wilhelmina'].filter((text) => log.includes(text))).toEqual([]);
  });

  test.each<[string, object, number, string, unknown]>([
    ['no inviter', { inviterUma: undefined }, 400, 'INVALID_INPUT', ['inviterUma REQUIRED']],
    ['no address', { inviterUma: 'amina' }, 400, 'INVALID_UMA_ADDRESS', ['inviterUma PATTERN']],
    ['nobody', { inviterUma: '$nobody@example.com' }, 400, 'INVALID_UMA_ADDRESS', ['inviterUma CONFLICT']],
    ['a time that is over', { expiresAt: at(0) }, 400, 'INVALID_INPUT', ['expiresAt MINIMUM']],
    [
      'nonsense',
      { firstName: '', amountToSend: 0, expiresAt: 'soon' },
      400,
      'INVALID_INPUT',
      ['firstName MIN_LENGTH', 'amountToSend MINIMUM', 'expiresAt FORMAT'],
    ],
    [
      'everything wrong at once',
      { inviterUma: 'amina', amountToSend: 0, expiresAt: at(0) },
      400,
      'INVALID_INPUT',
      ['amountToSend MINIMUM', 'inviterUma PATTERN', 'expiresAt MINIMUM'],
    ],
    ['a fraction', { amountToSend: 1.5 }, 400, 'INVALID_INPUT', ['amountToSend TYPE']],
  ])('with %s is refused', async (_, more, status, code, errors) => {
    const body = { inviterUma: amina.umaAddress, ...more };
    const { body: refused } = await platform.api('post', '/invitations').send(body).expect(status);
    const told = refused.details.errors.map((e: { field: string; constraint: string }) => `${e.field} ${e.constraint}`);
    expect([refused.code, told]).toEqual([code, errors]);
  });

  test('is for customers of the platform that it has not deleted', async () => {
    const refused = async (inviterUma: string) => {
      const { body } = await platform.api('post', '/invitations').send({ inviterUma }).expect(400);
      return body.code;
    };
    expect(await refused(luis.umaAddress)).toBe('INVALID_UMA_ADDRESS');
    const gone = await customerOf(platform);
    await platform.api('delete', `/customers/${gone.id}`).expect(200);
    expect(await refused(gone.umaAddress)).toBe('INVALID_UMA_ADDRESS');
  });

  test('is refused where the operator has made a platform without invitations', async () => {
    const without = await platform.another({ hasNoInvitations: true });
    const { umaAddress } = await customerOf(without);
    const { body } = await without.api('post', '/invitations').send({ inviterUma: umaAddress }).expect(400);
    expect(body.code).toBe('INVITATIONS_NOT_CONFIGURED');
  });
});

describe('claiming an invitation', () => {
  test('ties the address of the invitee to the code; the platform of the inviter is told', async () => {
    const invitation = await invite({ firstName: 'Luis' });
    const { body: claimed } = await claim(invitation.code).expect(200);
    expect(claimed).toEqual({ ...invitation, status: 'CLAIMED', inviteeUma: luis.umaAddress, claimedAt: at(0) });
    expect([await read(invitation.code), await read(invitation.code, bank)]).toEqual([claimed, claimed]);
    const told = await eventually(
      async () => receiver.received.find(({ event }) => event.data.code === invitation.code),
      (one) => one !== undefined,
    );
    const { type, sequence, timestamp: when, data } = told!.event;
    expect({ type, sequence, when, data }).toEqual({
      type: 'INVITATION_CLAIMED',
      sequence: 2,
      when: at(0),
      data: claimed,
    });
    const webhooks = (await bank.api('get', '/webhooks/deliveries').expect(200)).body;
    expect(webhooks.data).toEqual([]);
  });

  test('happens once', async () => {
    const { code } = await invite();
    const keyed = () => claim(code).set('Idempotency-Key', 'claim');
    const first = await keyed().expect(200);
    expect((await keyed().expect(200)).body).toEqual(first.body);
    for (const again of [claim(code), claim(code, platform, (await customerOf(platform)).umaAddress)]) {
      expect((await again.expect(400)).body.code).toBe('INVITATION_ALREADY_CLAIMED');
    }
    expect(await read(code)).toEqual(first.body);
  });

  test('of many at once one succeeds', async () => {
    const { code } = await invite();
    const answers = await Promise.all(Array.from({ length: 8 }, () => claim(code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400, 400, 400]);
  });

  test('is open to the own platform, and to an address that nobody here knows', async () => {
    const neighbour = await customerOf(platform);
    const own = await claim((await invite()).code, platform, neighbour.umaAddress).expect(200);
    expect(own.body.inviteeUma).toBe(neighbour.umaAddress);
    const foreign = await claim((await invite()).code, bank, '$Zoe@elsewhere.example').expect(200);
    expect(foreign.body.inviteeUma).toBe('$zoe@elsewhere.example');
  });

  test.each<[string, () => string | undefined, string, string | undefined]>([
    ['without an address', () => undefined, 'INVALID_INPUT', undefined],
    ['with something else', () => 'luis@bank.example', 'INVALID_UMA_ADDRESS', undefined],
    ['with an address of another platform', () => luis.umaAddress, 'INVALID_UMA_ADDRESS', undefined],
    ['with the address of the inviter', () => amina.umaAddress, 'INVALID_UMA_ADDRESS', 'INVITER'],
  ])('%s is refused', async (_, inviteeUma, code, reason) => {
    const invitation = await invite();
    const { body } = await platform
      .api('post', `/invitations/${invitation.code}/claim`)
      .send({ inviteeUma: inviteeUma() })
      .expect(400);
    expect([body.code, body.details.reason]).toEqual([code, reason]);
    expect(await read(invitation.code)).toEqual(invitation);
  });
});

describe('cancelling an invitation', () => {
  test('ends it', async () => {
    const invitation = await invite();
    const { body: cancelled } = await cancel(invitation.code).expect(200);
    expect(cancelled).toEqual({ ...invitation, status: 'CANCELLED' });
    expect(await read(invitation.code, bank)).toEqual(cancelled);
    for (const refused of [cancel(invitation.code), claim(invitation.code)]) {
      expect((await refused.expect(400)).body.code).toBe('INVITATION_CANCELLED');
    }
  });

  test('is for the platform of the inviter', async () => {
    const invitation = await invite();
    const { body } = await cancel(invitation.code, bank).expect(403);
    expect([body.code, body.details.reason]).toEqual(['FORBIDDEN', 'NOT_THE_INVITER']);
    expect(await read(invitation.code)).toEqual(invitation);
  });

  test('comes too late once it is claimed', async () => {
    const { code } = await invite();
    const { body: claimed } = await claim(code).expect(200);
    expect((await cancel(code).expect(400)).body.code).toBe('INVITATION_ALREADY_CLAIMED');
    expect(await read(code)).toEqual(claimed);
  });
});

describe('an invitation that expires', () => {
  test('is expired by the clock of the inviter, at once on read and on command; the timer records it', async () => {
    const inviting = await platform.another();
    const { umaAddress } = await customerOf(inviting);
    const body = { inviterUma: umaAddress, expiresAt: at(60) };
    const { body: invitation } = await inviting.api('post', '/invitations').send(body).expect(201);
    const advance = (of: Sandbox, seconds: number) =>
      of.api('post', '/sandbox/clock/advance').send({ seconds }).expect(200);
    await advance(await platform.another(), 3_600);
    await advance(inviting, 59);
    expect(await read(invitation.code, bank)).toEqual(invitation);
    await advance(inviting, 1);
    const expired = { ...invitation, status: 'EXPIRED' };
    expect([await read(invitation.code, inviting), await read(invitation.code, bank)]).toEqual([expired, expired]);
    for (const refused of [claim(invitation.code), cancel(invitation.code, inviting)]) {
      const { body: error } = await refused.expect(400);
      expect([error.code, error.details.reason]).toEqual(['INVALID_INPUT', 'INVITATION_EXPIRED']);
    }
    const recorded = await eventually(
      () => platform.engine.store.readStream(`invitation-${invitation.code}`, -1),
      ({ length }) => length === 2,
    );
    expect(recorded.map(({ type }) => type)).toEqual(['InvitationCreated', 'InvitationExpired']);
    expect(await read(invitation.code, bank)).toEqual(expired);
  });
});

describe('who may', () => {
  test.each(['nonsense', 'aaaaaaaaaaaaaaaaaaaaaaaaaa', 'x'.repeat(300)])('%s is no invitation', async (code) => {
    for (const request of [platform.api('get', `/invitations/${code}`), claim(code), cancel(code)]) {
      expect((await request.expect(404)).body.code).toBe('INVITATION_NOT_FOUND');
    }
  });

  test('a token that may only look can read, and do no more', async () => {
    const { code } = await invite();
    const { body: token } = await platform
      .api('post', '/tokens')
      .send({ name: 'v', permissions: ['VIEW'] })
      .expect(201);
    const as = (method: 'get' | 'post', path: string) =>
      platform.api(method, path).auth(token.clientId, token.clientSecret);
    await as('get', `/invitations/${code}`).expect(200);
    for (const path of ['', `/${code}/claim`, `/${code}/cancel`]) {
      const { body } = await as('post', `/invitations${path}`).send({}).expect(403);
      expect(body.details).toEqual({ requiredPermission: 'MANAGE' });
    }
  });

  test('nobody without credentials', async () => {
    const { code } = await invite();
    const answer = await fetch(`http://127.0.0.1:${addressOf(platform)}${BASE_PATH}/invitations/${code}`);
    expect(answer.status).toBe(401);
  });
});

const addressOf = ({ app }: TestPlatform): number => (app.getHttpServer().address() as { port: number }).port;

describe('an erased person', () => {
  test('is gone from invitations, whichever side of them it was', async () => {
    const [inviter, invitee] = [await customerOf(platform), await customerOf(bank)];
    const { code } = await invite({ inviterUma: inviter.umaAddress, firstName: 'Zoë' });
    await claim(code, bank, invitee.umaAddress).expect(200);
    const erase = async (of: Sandbox, { id }: Customer) => {
      await of.api('delete', `/customers/${id}`).expect(200);
      return eraseCustomer(platform.engine, of.tenant, id.slice('Customer:'.length));
    };
    expect(await erase(bank, invitee)).toMatchObject({ invitations: 1 });
    expect(await read(code)).toMatchObject({ inviterUma: inviter.umaAddress, firstName: 'Zoë', status: 'CLAIMED' });
    expect(await read(code)).not.toHaveProperty('inviteeUma');
    expect(await erase(platform, inviter)).toMatchObject({ invitations: 1 });
    const left = await read(code);
    expect([left.inviterUma, left.firstName, left.inviteeUma]).toEqual(['', undefined, undefined]);
    const { rows } = await platform.engine.pool.query(
      `SELECT (SELECT state FROM invitations WHERE id = $1) AS row, (SELECT body FROM webhooks WHERE resource = $2) AS told,
              (SELECT count(*)::int FROM keyed_answers WHERE stream = $3) AS answers`,
      [code, `Invitation:${code}`, `invitation-${code}`],
    );
    const [{ row, told, answers }] = rows;
    expect([inviter, invitee].filter(({ umaAddress }) => row.includes(umaAddress))).toEqual([]);
    expect([told, answers]).toEqual(['', 0]);
  });
});
