/** How far the identity of a person is known at once, without documents. */
export type KycOutcome = 'UNVERIFIED' | 'PENDING' | 'APPROVED' | 'REJECTED';

/** Checks who somebody is. */
export interface Kyc {
  /** The standing of an individual at creation, on platforms that answer for the identity of their customers. */
  resolveIndividual(person: { fullName: string }): Promise<KycOutcome>;
}
