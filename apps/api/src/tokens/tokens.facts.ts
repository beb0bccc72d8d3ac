import { Inject, Injectable } from '@nestjs/common';
import { type TokenState, token } from '../../../../libs/domain/tokens/token.ts';
import { reject } from '../../../../libs/kernel/errors.ts';
import { parsePublicId } from '../../../../libs/kernel/ids.ts';
import type { Tenant } from '../../../../libs/kernel/messages.ts';
import { WritePath } from '../../../../libs/runtime/execute.ts';

/** What requests about tokens need to know. */
@Injectable()
export class TokenFacts {
  constructor(@Inject(WritePath) private readonly writePath: WritePath) {}

  /** The caller's token of this public id; a deleted one is a 404. */
  async active({ platform, environment }: Tenant, id: string): Promise<TokenState> {
    const uuid = parsePublicId('Token', id);
    if (!uuid) throw reject('TOKEN_NOT_FOUND');
    const { state } = await this.writePath.state<TokenState>(token, uuid);
    const isOwn = state.platform === platform && state.environment === environment;
    if (!isOwn || state.status !== 'ACTIVE') throw reject('TOKEN_NOT_FOUND');
    return state;
  }
}
