import { Integer, Text, Timestamp } from '../../../../libs/runtime/http/index.ts';

/** The most that an invitation can speak of: the largest amount of a payment. */
const MAX_AMOUNT = 9_000_000_000_000_000;

export class UmaInvitationCreateRequest {
  @Text({ max: 255, description: 'UMA address of a customer of the platform.', example: '$amina@pay.example.com' })
  inviterUma!: string;

  @Text({ optional: true, min: 1, max: 255, description: 'Of whoever is invited.', example: 'Luis' })
  firstName?: string;

  @Integer({
    optional: true,
    min: 1,
    max: MAX_AMOUNT,
    description: "What the inviter means to send, in the smallest unit of the inviter's currency.",
    example: 12_550,
  })
  amountToSend?: number;

  @Timestamp({ optional: true, description: 'Absent: the invitation does not expire.' })
  expiresAt?: string;
}

export class UmaInvitationClaimRequest {
  @Text({ max: 255, description: 'UMA address of the customer who was invited.', example: '$luis@bank.example' })
  inviteeUma!: string;
}
