import { type Static, Type } from 'typebox';
import { verificationStatuses } from '../libs/domain/customers/customer.events.ts';
import * as values from '../libs/domain/customers/customer.profile.ts';
import { type CustomerState, isDeleted } from '../libs/domain/customers/customer.ts';
import { publicId } from '../libs/kernel/ids.ts';

const text = (description?: string) => Type.Optional(Type.String({ ...(description && { description }) }));
const texts = (description?: string) =>
  Type.Optional(Type.Array(Type.String(), { ...(description && { description }) }));
const day = () => Type.Optional(Type.String({ format: 'date' }));
const named = <const T extends readonly string[]>($id: string, of: T) => Type.Enum([...of], { $id, type: 'string' });

export const Address = Type.Object(
  {
    line1: Type.String(),
    line2: text(),
    city: text(),
    state: text(),
    postalCode: Type.String(),
    country: Type.String({ description: 'ISO 3166-1 alpha-2.', examples: ['US'] }),
  },
  { $id: 'Address' },
);

const KycStatus = named('KycStatus', verificationStatuses);
const KybStatus = named('KybStatus', verificationStatuses);
const PurposeOfAccount = named('PurposeOfAccount', values.accountPurposes);
const ExpectedMonthlyTransactionCount = named('ExpectedMonthlyTransactionCount', values.monthlyCounts);
const ExpectedMonthlyTransactionVolume = named('ExpectedMonthlyTransactionVolume', values.monthlyVolumes);

export const EndUserTermsConsent = Type.Object(
  {
    acceptedAt: Type.String({ format: 'date-time' }),
    ipAddress: Type.String(),
    termsVersion: Type.String(),
    acceptanceMethod: named('EndUserTermsAcceptanceMethod', values.acceptanceMethods),
  },
  { $id: 'EndUserTermsConsent', description: 'Absent until consent was recorded.' },
);

export const EndUserTerms = Type.Object(
  {
    version: Type.String({ examples: ['V1'] }),
    url: Type.String({ format: 'uri', description: 'Where the end user can read them.' }),
  },
  { $id: 'EndUserTerms' },
);

const ContactVerificationStatus = Type.Enum(['PENDING', 'VERIFIED'], {
  $id: 'ContactVerificationStatus',
  type: 'string',
});

export const ContactVerification = Type.Object(
  { email: Type.Optional(ContactVerificationStatus), phone: Type.Optional(ContactVerificationStatus) },
  { $id: 'ContactVerification', description: 'Absent where no contact has to be verified.' },
);

export const BusinessInfoResponse = Type.Object(
  {
    legalName: Type.String(),
    doingBusinessAs: text(),
    country: text(),
    registrationNumber: text(),
    incorporatedOn: day(),
    entityType: Type.Optional(named('EntityType', values.entityTypes)),
    taxId: text(),
    countriesOfOperation: texts(),
    businessType: Type.Optional(named('BusinessType', values.businessTypes)),
    purposeOfAccount: Type.Optional(PurposeOfAccount),
    sourceOfFunds: text(),
    expectedMonthlyTransactionCount: Type.Optional(ExpectedMonthlyTransactionCount),
    expectedMonthlyTransactionVolume: Type.Optional(ExpectedMonthlyTransactionVolume),
    expectedRecipientJurisdictions: texts(),
    naicsCode: text(),
    sourceOfFundsCategories: Type.Optional(Type.Array(named('SourceOfFundsCategory', values.businessFundsSources))),
    sourceOfFundsOtherDescription: text(),
    purposeOfAccountOtherDescription: text(),
    expectedCounterpartyCountries: texts(),
    primaryContactFirstName: text(),
    primaryContactLastName: text(),
  },
  { $id: 'BusinessInfoResponse' },
);

/** What both kinds of customer have. */
const common = {
  id: Type.String({ description: '`Customer:<uuid>`.' }),
  platformCustomerId: Type.String({ description: "The platform's own identifier; generated where none was given." }),
  endUserTermsConsent: Type.Optional(EndUserTermsConsent),
  region: text(),
  currencies: texts('Currencies that the customer uses.'),
  email: text(),
  phoneNumber: text('E.164.'),
  umaAddress: Type.String({ description: 'Generated where none was given. `$erased@erased.invalid` after erasure.' }),
  createdAt: Type.String({ format: 'date-time' }),
  updatedAt: Type.String({ format: 'date-time' }),
  isDeleted: Type.Boolean(),
  contactVerification: Type.Optional(ContactVerification),
  address: Type.Optional(Address),
};

export const IndividualCustomer = Type.Object(
  {
    ...common,
    customerType: Type.Literal('INDIVIDUAL'),
    kycStatus: KycStatus,
    fullName: text(),
    birthDate: day(),
    nationality: text(),
    idType: Type.Optional(named('IdentificationType', values.identificationTypes)),
    countryOfIssuance: text(),
    sourceOfFundsCategories: Type.Optional(
      Type.Array(named('IndividualSourceOfFundsCategory', values.individualFundsSources)),
    ),
    sourceOfFundsOtherDescription: text(),
    sourceOfWealthCategories: Type.Optional(Type.Array(named('SourceOfWealthCategory', values.wealthSources))),
    sourceOfWealthOtherDescription: text(),
    purposeOfAccount: Type.Optional(PurposeOfAccount),
    purposeOfAccountOtherDescription: text(),
    expectedMonthlyTransactionCount: Type.Optional(ExpectedMonthlyTransactionCount),
    expectedMonthlyTransactionVolume: Type.Optional(ExpectedMonthlyTransactionVolume),
    annualIncomeRange: Type.Optional(named('AnnualIncomeRange', values.incomeRanges)),
    netWorthRange: Type.Optional(named('NetWorthRange', values.netWorthRanges)),
    pepStatus: Type.Optional(named('PepStatus', values.pepStatuses)),
  },
  { $id: 'IndividualCustomer' },
);

export const BusinessCustomer = Type.Object(
  {
    ...common,
    customerType: Type.Literal('BUSINESS'),
    kybStatus: KybStatus,
    businessInfo: Type.Optional(BusinessInfoResponse),
  },
  { $id: 'BusinessCustomer' },
);

export const CustomerOneOf = Type.Union([IndividualCustomer, BusinessCustomer], {
  $id: 'CustomerOneOf',
  discriminator: { propertyName: 'customerType' },
});

/** What is shown of an address whose owner was erased. */
export const ERASED_UMA_ADDRESS = '$erased@erased.invalid';

/** A customer as the API shows it. `identifier` is never part of it. */
export function customerView(state: CustomerState): Static<typeof CustomerOneOf> {
  const { email, phoneNumber, address, businessInfo, ...person } = state.profile;
  const shared = {
    id: publicId('Customer', state.customerId),
    platformCustomerId: state.platformCustomerId,
    ...(state.endUserTermsConsent && { endUserTermsConsent: state.endUserTermsConsent }),
    ...(state.region !== undefined && { region: state.region }),
    currencies: state.currencies,
    ...(email !== undefined && { email }),
    ...(phoneNumber !== undefined && { phoneNumber }),
    umaAddress: state.umaAddress ?? ERASED_UMA_ADDRESS,
    createdAt: state.createdAt,
    updatedAt: state.updatedAt,
    isDeleted: isDeleted(state),
    ...(address && { address }),
  };
  if (state.customerType === 'INDIVIDUAL') {
    return { ...shared, customerType: 'INDIVIDUAL', kycStatus: state.verificationStatus, ...person };
  }
  const info = businessInfo && { businessInfo: { ...businessInfo, legalName: businessInfo.legalName ?? '' } };
  return { ...shared, customerType: 'BUSINESS', kybStatus: state.verificationStatus, ...info };
}
