/** The end-user terms in force (spec, `GET /customers/end-user-terms`). */
export const endUserTerms = { version: 'V1', url: 'https://ledgerline.example/end-user-terms/V1' } as const;

/** Versions that a consent may name. */
export const knownTermsVersions: readonly string[] = [endUserTerms.version];
