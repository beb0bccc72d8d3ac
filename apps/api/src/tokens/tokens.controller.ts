import { randomBytes } from 'node:crypto';
import { Body, Controller, Delete, Get, Inject, Param, Post, Query } from '@nestjs/common';
import type { Permission } from '../../../../libs/domain/tokens/token.events.ts';
import { IssueToken, RevokeToken, type TokenState } from '../../../../libs/domain/tokens/token.ts';
import { reject } from '../../../../libs/kernel/errors.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import { secretHash } from '../../../../libs/runtime/auth.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { Operation, PageOf } from '../../../../libs/runtime/http/index.ts';
import { ReadModel } from '../../../../libs/runtime/read-model.ts';
import { ApiToken, tokenView } from '../../../../projections/token.view.ts';
import { tokens } from '../../../../projections/tokens.ts';
import { within } from '../lists.ts';
import { ApiTokenCreateRequest, TokensQuery } from './tokens.bodies.ts';
import { TokenFacts } from './tokens.facts.ts';

const tag = 'API tokens';

@Controller('tokens')
export class TokensController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(ReadModel) private readonly readModel: ReadModel,
    @Inject(TokenFacts) private readonly facts: TokenFacts,
  ) {}

  @Post()
  @Operation({
    summary: 'Create an API token',
    description:
      'For the platform and environment of the token that asks, which can grant only the permissions that it has itself. The secret is ' +
      'shown in this answer only.',
    tag,
    success: { 201: ApiToken },
    permission: 'MANAGE',
    sealed: true,
  })
  async create(@Body() { name, permissions }: ApiTokenCreateRequest, @CurrentCaller() caller: Caller) {
    const lacking = permissions.find((permission) => !caller.permissions.has(permission));
    if (lacking) throw cannotGrant(lacking);
    const tokenId = caller.newId('token');
    const clientSecret = randomBytes(32).toString('hex');
    const issue = new IssueToken({
      tokenId,
      ...caller.tenant,
      name,
      permissions: [...new Set(permissions)],
      clientId: tokenId.replaceAll('-', ''),
      secretHash: secretHash(clientSecret),
    });
    return this.commands.answer(caller, issue, (state: TokenState) => {
      // The key was used before its answer was forgotten: that token has another secret, which nobody knows any more.
      if (state.secretHash !== issue.data.secretHash) throw shownAlready();
      return { ...tokenView(state), clientSecret };
    });
  }

  @Get()
  @Operation({
    summary: 'List API tokens',
    description: 'Deleted ones are left out.',
    tag,
    success: { 200: PageOf(ApiToken, 'TokenListResponse') },
    permission: 'VIEW',
  })
  list(@Query() query: TokensQuery, @CurrentCaller() { tenant }: Caller) {
    return this.readModel.page<TokenState, object>(
      tokens,
      tenant,
      query,
      (all) => {
        const rows = within(query)(all).where('status', '=', 'ACTIVE');
        return query.name === undefined ? rows : rows.where('name', '=', query.name);
      },
      tokenView,
    );
  }

  @Get(':tokenId')
  @Operation({ summary: 'Get an API token', tag, success: { 200: ApiToken }, errors: [404], permission: 'VIEW' })
  async get(@Param('tokenId') id: string, @CurrentCaller() { tenant }: Caller) {
    return tokenView(await this.facts.active(tenant, id));
  }

  @Delete(':tokenId')
  @Operation({
    summary: 'Delete an API token',
    description: 'It stops working at once. The token that asks cannot delete itself.',
    tag,
    success: { 204: { description: 'Deleted.' } },
    errors: [400, 404],
    permission: 'MANAGE',
  })
  async delete(@Param('tokenId') id: string, @CurrentCaller() caller: Caller) {
    if (parsePublicId('Token', id) === caller.tokenId) throw inUse();
    const { tokenId } = await this.facts.active(caller.tenant, id);
    await this.commands.send(new RevokeToken({ tokenId }), caller.envelope('RevokeToken'));
  }
}

const cannotGrant = (permission: Permission) =>
  reject(
    'FORBIDDEN',
    { requiredPermission: permission },
    `The token lacks the permission ${permission}, so it cannot grant it.`,
  );

const shownAlready = () =>
  reject(
    'CONFLICT',
    { reason: 'SECRET_SHOWN_ALREADY' },
    'This Idempotency-Key made a token whose secret was shown then. Use a new key.',
  );

const inUse = () =>
  reject('INVALID_INPUT', { reason: 'TOKEN_IN_USE' }, 'This request is made with the token itself: use another one.');
