import { hash } from 'node:crypto';
import { rejectFields } from '../../kernel/errors.ts';
import { QueryInteger, QueryText } from './query-fields.ts';

export { PageOf } from './page-of.ts';

/** How many results a page holds unless the client says. */
export const USUAL_LIMIT = 20;

/** The paging part of a list's query; a list's own query class extends it with its filters (decision 17). */
export class PageQuery {
  @QueryInteger({ min: 1, max: 100, default: USUAL_LIMIT, description: 'How many results a page holds.' })
  limit: number = USUAL_LIMIT;

  @QueryText({ max: 1_000, description: '`nextCursor` of the page before; the filters must stay the same.' })
  cursor?: string;
}

/** Where a page ended: the value the list is ordered by (a timestamp or an integer) and the id that decides between equals. */
export interface PagePosition {
  key: string | number;
  id: string;
}

/** One page of a list as it goes to the client; `totalCount` is left out when there are too many to count. */
export interface Page<T> {
  data: T[];
  hasMore: boolean;
  nextCursor?: string;
  totalCount?: number;
}

/** A short hash of a list's filters (its query without `limit` and `cursor`), in any order of the keys. */
export function filtersHash(query: object): string {
  const filters = Object.entries(query)
    .filter(([name, value]) => name !== 'limit' && name !== 'cursor' && value !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1));
  return digest(JSON.stringify(filters));
}

/** The opaque cursor of a position within a filtered list. */
export function encodeCursor({ key, id }: PagePosition, filters: string): string {
  const position = JSON.stringify([key, id]);
  return Buffer.from(`${digest(position + filters)}${position}`).toString('base64url');
}

/** The position of a cursor; `400 INVALID_INPUT` on `cursor` when it is garbled or was made with other filters. */
export function decodeCursor(cursor: string, filters: string): PagePosition {
  const decoded = Buffer.from(cursor, 'base64url').toString();
  const position = decoded.slice(DIGEST_LENGTH);
  if (digest(position + filters) === decoded.slice(0, DIGEST_LENGTH)) {
    const [key, id] = parsed(position);
    if (isKey(key) && isId(id)) return { key, id };
  }
  const message = 'cursor is not the nextCursor of a page of this list with these filters.';
  throw rejectFields([{ field: 'cursor', constraint: 'FORMAT', message }]);
}

/**
 * Makes the page out of `limit + 1` rows at most: the row beyond the limit says that there is more and is not shown.
 * `cursorOf` gives the cursor of the last row shown; `total` is undefined when it was not counted.
 */
export function page<R, T = R>(
  rows: R[],
  limit: number,
  total: number | undefined,
  cursorOf: (last: R) => string,
  view: (row: R) => T = (row) => row as unknown as T,
): Page<T> {
  const shown = rows.length > limit ? rows.slice(0, limit) : rows;
  const hasMore = rows.length > limit;
  return {
    data: shown.map(view),
    hasMore,
    ...(hasMore && { nextCursor: cursorOf(shown.at(-1)!) }),
    ...(total !== undefined && { totalCount: total }),
  };
}

const DIGEST_LENGTH = 16;
const digest = (text: string): string => hash('sha256', text, 'base64url').slice(0, DIGEST_LENGTH);

function parsed(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** A cursor can be forged, and what it carries reaches a query: nothing passes that a timestamp, bigint or uuid column refuses. */
const isKey = (key: unknown): key is string | number =>
  typeof key === 'number'
    ? Number.isSafeInteger(key)
    : typeof key === 'string' && (/^\d{1,18}$/.test(key) || isMoment(key));
const isMoment = (key: string): boolean =>
  /^[0-2]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/.test(key) &&
  new Date(key).toJSON()?.slice(0, 19) === key.slice(0, 19);
const isId = (id: unknown): id is string =>
  typeof id === 'string' && /^([A-Za-z]{1,40}:)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
