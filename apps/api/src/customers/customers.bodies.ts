import { verificationStatuses } from '../../../../libs/domain/customers/customer.events.ts';
import type { CustomerType } from '../../../../libs/domain/customers/customer.profile.ts';
import * as values from '../../../../libs/domain/customers/customer.profile.ts';
import {
  Country,
  country,
  DateOnly,
  Email,
  ListOf,
  Nested,
  OneOf,
  oneOf,
  PhoneE164,
  type Submitted,
  submitted,
  Text,
  Timestamp,
  text,
} from '../../../../libs/runtime/http/index.ts';

const optional = true;
const decided = 'Decided by the verification: a value that is sent is ignored.';
const REGION = /^[A-Z]{2}$/;
/** SSN and ITIN alike (facts §6). */
const TAX_IDENTIFIER = /^\d{3}-\d{2}-\d{4}$/;

export class AddressRequest {
  @Text({ min: 1, max: 255, example: '1 Main Street' })
  line1!: string;

  @Text({ optional, max: 255 })
  line2?: string;

  @Text({ optional, max: 255 })
  city?: string;

  @Text({ optional, max: 255 })
  state?: string;

  @Text({ min: 1, max: 32, example: '94105' })
  postalCode!: string;

  @Country({ example: 'US' })
  country!: string;
}

export class EndUserTermsConsentRequest {
  @Timestamp({ description: 'When the end user accepted.' })
  acceptedAt!: string;

  @Text({ min: 1, max: 45, example: '203.0.113.7' })
  ipAddress!: string;

  @Text({ min: 1, max: 50, example: 'V1' })
  termsVersion!: string;

  @OneOf(values.acceptanceMethods)
  acceptanceMethod!: (typeof values.acceptanceMethods)[number];
}

/** What can be said of every customer, at creation and later. */
abstract class CustomerFields {
  @Text({
    optional,
    min: 1,
    max: 255,
    description: "The platform's own identifier, unique among its active customers. Not a place for personal data.",
    example: 'user-1234',
  })
  platformCustomerId?: string;

  @Text({ optional, pattern: REGION, max: 2, description: 'Country that the customer belongs to.', example: 'US' })
  region?: string;

  @ListOf(text({ min: 1, max: 10 }), {
    optional,
    max: 60,
    description: 'Currencies that the platform supports; an account is opened in each.',
    example: ['USD', 'EUR'],
  })
  currencies?: string[];

  @Email({ optional })
  email?: string;

  @PhoneE164({ optional, example: '+14155550123' })
  phoneNumber?: string;

  @Text({ optional, max: 500, description: "`$username@domain`, at the platform's own domain." })
  umaAddress?: string;

  @Nested(() => EndUserTermsConsentRequest, { optional })
  endUserTermsConsent?: EndUserTermsConsentRequest;

  @Nested(() => AddressRequest, { optional })
  address?: AddressRequest;
}

const needs = (field: string, by: string) => `Required when \`${field}\` ${by} \`OTHER\`.`;

abstract class IndividualFields extends CustomerFields {
  @OneOf(verificationStatuses, { optional, description: decided })
  kycStatus?: string;

  @Text({ optional, min: 1, max: 500, example: 'Amina Diallo' })
  fullName?: string;

  @DateOnly({ optional, example: '1990-01-15' })
  birthDate?: string;

  @Country({ optional })
  nationality?: string;

  @OneOf(['SSN', 'ITIN'], { optional, description: 'Kinds that individuals are identified by.' })
  idType?: 'SSN' | 'ITIN';

  @Text({ optional, pattern: TAX_IDENTIFIER, description: 'Never part of an answer.', example: '123-45-6789' })
  identifier?: string;

  @OneOf(['US'], { optional, description: 'Country that issued the identifier.' })
  countryOfIssuance?: string;

  @ListOf(oneOf(values.individualFundsSources), { optional, max: 20 })
  sourceOfFundsCategories?: (typeof values.individualFundsSources)[number][];

  @Text({
    requiredIf: ({ sourceOfFundsCategories }: IndividualFields) => hasOther(sourceOfFundsCategories),
    min: 1,
    max: 500,
    description: needs('sourceOfFundsCategories', 'contains'),
  })
  sourceOfFundsOtherDescription?: string;

  @ListOf(oneOf(values.wealthSources), { optional, max: 20 })
  sourceOfWealthCategories?: (typeof values.wealthSources)[number][];

  @Text({
    requiredIf: ({ sourceOfWealthCategories }: IndividualFields) => hasOther(sourceOfWealthCategories),
    min: 1,
    max: 500,
    description: needs('sourceOfWealthCategories', 'contains'),
  })
  sourceOfWealthOtherDescription?: string;

  @OneOf(values.accountPurposes, { optional })
  purposeOfAccount?: (typeof values.accountPurposes)[number];

  @Text({
    requiredIf: ({ purposeOfAccount }: IndividualFields) => purposeOfAccount === 'OTHER',
    min: 1,
    max: 500,
    description: needs('purposeOfAccount', 'is'),
  })
  purposeOfAccountOtherDescription?: string;

  @OneOf(values.monthlyCounts, { optional })
  expectedMonthlyTransactionCount?: (typeof values.monthlyCounts)[number];

  @OneOf(values.monthlyVolumes, { optional })
  expectedMonthlyTransactionVolume?: (typeof values.monthlyVolumes)[number];

  @OneOf(values.incomeRanges, { optional })
  annualIncomeRange?: (typeof values.incomeRanges)[number];

  @OneOf(values.netWorthRanges, { optional })
  netWorthRange?: (typeof values.netWorthRanges)[number];

  @OneOf(values.pepStatuses, { optional })
  pepStatus?: (typeof values.pepStatuses)[number];
}

const hasOther = (values: unknown): boolean => Array.isArray(values) && values.includes('OTHER');

abstract class BusinessInfoFields {
  @Text({ optional, min: 1, max: 500 })
  doingBusinessAs?: string;

  @Text({ optional, min: 1, max: 255, description: 'In the sandbox its last 3 characters decide the verification.' })
  registrationNumber?: string;

  @OneOf(values.entityTypes, { optional })
  entityType?: (typeof values.entityTypes)[number];

  @ListOf(country(), { optional, max: 250 })
  countriesOfOperation?: string[];

  @OneOf(values.businessTypes, { optional })
  businessType?: (typeof values.businessTypes)[number];

  @OneOf(values.accountPurposes, { optional })
  purposeOfAccount?: (typeof values.accountPurposes)[number];

  @Text({ optional, max: 500 })
  sourceOfFunds?: string;

  @OneOf(values.monthlyCounts, { optional })
  expectedMonthlyTransactionCount?: (typeof values.monthlyCounts)[number];

  @OneOf(values.monthlyVolumes, { optional })
  expectedMonthlyTransactionVolume?: (typeof values.monthlyVolumes)[number];

  @ListOf(text({ min: 1, max: 100 }), { optional, max: 250 })
  expectedRecipientJurisdictions?: string[];

  @Text({ optional, pattern: /^\d{2,6}$/, max: 6 })
  naicsCode?: string;

  @ListOf(oneOf(values.businessFundsSources), { optional, max: 20 })
  sourceOfFundsCategories?: (typeof values.businessFundsSources)[number][];

  @Text({
    requiredIf: ({ sourceOfFundsCategories }: BusinessInfoFields) => hasOther(sourceOfFundsCategories),
    min: 1,
    max: 500,
    description: needs('sourceOfFundsCategories', 'contains'),
  })
  sourceOfFundsOtherDescription?: string;

  @Text({
    requiredIf: ({ purposeOfAccount }: BusinessInfoFields) => purposeOfAccount === 'OTHER',
    min: 1,
    max: 500,
    description: needs('purposeOfAccount', 'is'),
  })
  purposeOfAccountOtherDescription?: string;

  @ListOf(country(), { optional, max: 250 })
  expectedCounterpartyCountries?: string[];

  @Text({ optional, max: 250 })
  primaryContactFirstName?: string;

  @Text({ optional, max: 250 })
  primaryContactLastName?: string;
}

export class BusinessInfo extends BusinessInfoFields {
  @Text({ min: 1, max: 500 })
  legalName!: string;

  @Country()
  country!: string;

  @DateOnly()
  incorporatedOn!: string;

  @Text({ min: 1, max: 100 })
  taxId!: string;
}

export class BusinessInfoUpdate extends BusinessInfoFields {
  @Text({ optional, min: 1, max: 500 })
  legalName?: string;

  @Country({ optional })
  country?: string;

  @DateOnly({ optional })
  incorporatedOn?: string;

  @Text({ optional, min: 1, max: 100 })
  taxId?: string;
}

export class IndividualCustomerCreateRequest extends IndividualFields {
  @OneOf(['INDIVIDUAL'])
  customerType!: 'INDIVIDUAL';
}

export class BusinessCustomerCreateRequest extends CustomerFields {
  @OneOf(['BUSINESS'])
  customerType!: 'BUSINESS';

  @OneOf(verificationStatuses, { optional, description: decided })
  kybStatus?: string;

  @Nested(() => BusinessInfo)
  businessInfo!: BusinessInfo;
}

export class IndividualCustomerUpdateRequest extends IndividualFields {
  @OneOf(['INDIVIDUAL'])
  customerType!: 'INDIVIDUAL';
}

export class BusinessCustomerUpdateRequest extends CustomerFields {
  @OneOf(['BUSINESS'])
  customerType!: 'BUSINESS';

  @OneOf(verificationStatuses, { optional, description: decided })
  kybStatus?: string;

  @Nested(() => BusinessInfoUpdate, { optional })
  businessInfo?: BusinessInfoUpdate;
}

/** A change without `customerType`, as it is documented; what it may say depends on whose it is: `changeOf`. */
export class CustomerUpdateRequest extends IndividualFields {
  @Nested(() => BusinessInfoUpdate, { optional })
  businessInfo?: BusinessInfoUpdate;
}

export type CustomerCreation = IndividualCustomerCreateRequest | BusinessCustomerCreateRequest;
export type CustomerChange =
  | IndividualCustomerUpdateRequest
  | BusinessCustomerUpdateRequest
  | (CustomerUpdateRequest & { customerType?: undefined });

const changes = { INDIVIDUAL: IndividualCustomerUpdateRequest, BUSINESS: BusinessCustomerUpdateRequest };

/**
 * A change of this kind of customer. Without `customerType` it is read as one of that kind, so fields of the other kind are ignored whatever
 * they hold, as with `customerType`.
 */
export const changeOf = (customerType: CustomerType, body: Submitted<CustomerChange>): Submitted<CustomerChange> =>
  body.given.customerType === undefined
    ? submitted<CustomerChange>(changes[customerType], { ...body.given, customerType })
    : body;
