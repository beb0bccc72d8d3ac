import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestPlatform, type TestPlatform } from '../platform.ts';

interface Listed {
  id: string;
  fullName?: string;
  createdAt: string;
  updatedAt: string;
  umaAddress: string;
  platformCustomerId: string;
}

let platform: TestPlatform;
/** Five customers, oldest first: A and B are American, C is a business, D was deleted, E was changed last. */
let all: Record<'A' | 'B' | 'C' | 'D' | 'E', Listed>;
const pause = () => new Promise((resolve) => setTimeout(resolve, 5));

beforeAll(async () => {
  platform = await startTestPlatform();
  const create = async (body: object): Promise<Listed> => {
    await pause();
    return (
      await platform
        .api('post', '/customers')
        .send({ customerType: 'INDIVIDUAL', ...body })
        .expect(201)
    ).body;
  };
  const businessInfo = { legalName: 'C', country: 'GB', incorporatedOn: '2019-04-01', taxId: '1' };
  all = {
    A: await create({ fullName: 'A', region: 'US', currencies: ['USD'] }),
    B: await create({ fullName: 'B', region: 'US', currencies: ['USD', 'EUR'] }),
    C: await create({ customerType: 'BUSINESS', businessInfo, currencies: ['EUR'], region: 'GB' }),
    D: await create({ fullName: 'D', currencies: ['USD'] }),
    E: await create({ fullName: 'E', currencies: ['MXN'] }),
  };
  await platform.api('delete', `/customers/${all.D.id}`).expect(200);
  await pause();
  await platform.api('patch', `/customers/${all.A.id}`).send({ fullName: 'AA' }).expect(200);
});
afterAll(() => platform.stop());

const nameOf = ({ id }: { id: string }) => Object.entries(all).find(([, one]) => one.id === id)?.[0];
const list = async (query = '') => (await platform.api('get', `/customers${query}`).expect(200)).body;
const names = async (query: string) => ((await list(query)).data as Listed[]).map(nameOf).join('');
const refused = async (query: string) => {
  const { body } = await platform.api('get', `/customers${query}`).expect(400);
  return [body.code, ...body.details.errors.map(({ field }: { field: string }) => field)];
};

describe('the list of customers', () => {
  test('is the newest first, without deleted ones', async () => {
    expect(await list()).toMatchObject({ hasMore: false, totalCount: 4 });
    expect(await names('')).toBe('ECBA');
  });

  test('each filter leaves what it names', async () => {
    const encoded = encodeURIComponent;
    expect(await names('?isIncludingDeleted=true')).toBe('EDCBA');
    expect(await names('?isIncludingDeleted=false')).toBe('ECBA');
    expect(await names('?region=US')).toBe('BA');
    expect(await names('?customerType=BUSINESS')).toBe('C');
    expect(await names('?customerType=INDIVIDUAL')).toBe('EBA');
    expect(await names('?currency=USD')).toBe('BA');
    expect(await names('?currency=EUR')).toBe('CB');
    expect(await names('?currency=XYZ')).toBe('');
    expect(await names(`?platformCustomerId=${all.B.platformCustomerId}`)).toBe('B');
    expect(await names(`?umaAddress=${encoded(all.C.umaAddress.toUpperCase())}`)).toBe('C');
    expect(await names('?region=US&currency=EUR')).toBe('B');
  });

  test('times are inclusive on both ends', async () => {
    expect(await names(`?createdAfter=${all.B.createdAt}&createdBefore=${all.C.createdAt}`)).toBe('CB');
    expect(await names(`?createdAfter=${all.E.createdAt}`)).toBe('E');
    expect(await names(`?createdBefore=${all.A.createdAt}`)).toBe('A');
    const changed = (await platform.api('get', `/customers/${all.A.id}`)).body.updatedAt;
    expect(await names(`?updatedAfter=${changed}`)).toBe('A');
    expect(await names(`?updatedBefore=${all.C.updatedAt}`)).toBe('CB');
    expect(await names('?createdAfter=2999-01-01T00:00:00%2B01:00')).toBe('');
  });

  test('pages come one after the other, with the filters they began with', async () => {
    const seen: string[] = [];
    let query = '?limit=2&isIncludingDeleted=true';
    for (let pages = 0; ; pages += 1) {
      const { data, hasMore, nextCursor, totalCount } = await list(query);
      seen.push(...data.map(nameOf));
      expect(totalCount).toBe(5);
      expect(pages).toBeLessThan(3);
      if (!hasMore) {
        expect(nextCursor).toBeUndefined();
        break;
      }
      query = `?limit=2&isIncludingDeleted=true&cursor=${nextCursor}`;
    }
    expect(seen.join('')).toBe('EDCBA');
  });

  test('a cursor with other filters, a made-up one and another platform’s are refused', async () => {
    const { nextCursor } = await list('?limit=1');
    expect(await refused(`?limit=1&region=US&cursor=${nextCursor}`)).toEqual(['INVALID_INPUT', 'cursor']);
    expect(await refused('?cursor=nonsense')).toEqual(['INVALID_INPUT', 'cursor']);
    const { api } = await platform.another();
    await api('get', `/customers?limit=1&cursor=${nextCursor}`).expect(400);
  });

  test('every invalid parameter is named; unknown ones are ignored', async () => {
    expect(await refused('?limit=0')).toEqual(['INVALID_INPUT', 'limit']);
    expect(await refused('?limit=101')).toEqual(['INVALID_INPUT', 'limit']);
    expect(await refused('?customerType=ROBOT&createdAfter=yesterday&isIncludingDeleted=perhaps')).toEqual([
      'INVALID_INPUT',
      'customerType',
      'createdAfter',
      'isIncludingDeleted',
    ]);
    expect(await names('?colour=red')).toBe('ECBA');
  });
});
