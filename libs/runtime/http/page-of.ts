import { type TSchema, Type } from 'typebox';

/** The response schema of a page: `PageOf(CustomerView, 'CustomerListResponse')`. Apart from the rest, so that views load no Nest. */
export const PageOf = <S extends TSchema>(schema: S, name: string) =>
  Type.Object(
    {
      data: Type.Array(schema),
      hasMore: Type.Boolean({ description: 'Whether there are results after this page.' }),
      nextCursor: Type.Optional(Type.String({ description: 'Cursor of the next page; present when there is one.' })),
      totalCount: Type.Optional(
        Type.Integer({ minimum: 0, description: 'All results that match the filters; absent above 10,000.' }),
      ),
    },
    { $id: name },
  );
