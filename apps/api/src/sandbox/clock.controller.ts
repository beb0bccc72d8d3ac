import { Body, Controller, Get, Inject, Post } from '@nestjs/common';
import { AdvanceSandboxClock, type PlatformState, tenantIdOf } from '../../../../libs/domain/platforms/platform.ts';
import { rejectFields } from '../../../../libs/kernel/errors.ts';
import { type Caller, CurrentCaller } from '../../../../libs/runtime/caller.ts';
import { Commands } from '../../../../libs/runtime/commands.ts';
import { Operation } from '../../../../libs/runtime/http/index.ts';
import { PlatformClock } from '../../../../libs/runtime/platform-clock.ts';
import { SandboxClock, sandboxClockView } from '../../../../projections/sandbox-clock.view.ts';
import { SandboxClockAdvanceBody } from './clock.bodies.ts';

const tag = 'Sandbox';

@Controller('sandbox/clock')
export class SandboxClockController {
  constructor(
    @Inject(Commands) private readonly commands: Commands,
    @Inject(PlatformClock) private readonly clock: PlatformClock,
  ) {}

  @Get()
  @Operation({
    summary: 'Get the sandbox time',
    tag,
    success: { 200: SandboxClock },
    errors: [403],
    permission: 'VIEW',
    sandboxOnly: true,
    extension: true,
  })
  get(@CurrentCaller() { tenant }: Caller) {
    return sandboxClockView({ clockAheadMs: this.clock.aheadMs(tenant) }, this.clock.nowMs());
  }

  @Post('advance')
  @Operation({
    summary: 'Advance the sandbox time',
    description:
      "Moves the platform's sandbox clock forward, by `seconds` or `to` a time. What had been waiting for a time in between happens now: quotes and invitations expire, delayed payments go on, in the order of their times. The clock never goes back. Webhook retries keep to real time.",
    tag,
    success: { 200: SandboxClock },
    errors: [403],
    keyedByCommit: true,
    permission: 'MANAGE',
    sandboxOnly: true,
    extension: true,
  })
  async advance(@Body() body: SandboxClockAdvanceBody, @CurrentCaller() caller: Caller) {
    const { tenant } = caller;
    const wallMs = this.clock.nowMs();
    const advance = new AdvanceSandboxClock({ tenantId: tenantIdOf(tenant), wallMs, ...targetOf(body) });
    const answer = await this.commands.answer(caller, advance, (state: PlatformState) =>
      sandboxClockView(state, wallMs),
    );
    await this.clock.refresh(tenant);
    return answer;
  }
}

function targetOf({ seconds, to }: SandboxClockAdvanceBody): { seconds: number } | { to: string } {
  if (seconds !== undefined && to !== undefined) {
    throw rejectFields([{ field: 'to', constraint: 'CONFLICT', message: 'Give either seconds or to.' }]);
  }
  if (seconds !== undefined) return { seconds };
  if (to !== undefined) return { to };
  throw rejectFields([{ field: 'seconds', constraint: 'REQUIRED', message: 'seconds or to is required.' }]);
}
