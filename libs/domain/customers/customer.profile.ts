/** Values of the customer's enumerated fields (spec, Customer; facts §6), in the contract's order. */
export const customerTypes = ['INDIVIDUAL', 'BUSINESS'] as const;
export const identificationTypes = ['SSN', 'ITIN', 'EIN', 'NON_US_TAX_ID'] as const;
export const individualFundsSources = [
  'SALARY',
  'SELF_EMPLOYMENT_INCOME',
  'INVESTMENT_INCOME',
  'PENSION',
  'RENTAL_INCOME',
  'GIFT',
  'INHERITANCE',
  'LOAN',
  'SAVINGS',
  'SALE_OF_ASSETS',
  'OTHER',
] as const;
export const wealthSources = [
  'SALARY',
  'BUSINESS_INCOME',
  'INVESTMENTS',
  'INHERITANCE',
  'PROPERTY_SALE',
  'GIFT',
  'RETIREMENT',
  'SAVINGS',
  'OTHER',
] as const;
export const businessFundsSources = [
  'OPERATING_REVENUE',
  'INVESTMENT_INCOME',
  'LOANS',
  'VENTURE_CAPITAL',
  'PERSONAL_SAVINGS',
  'DONATIONS',
  'OTHER',
] as const;
export const accountPurposes = [
  'CONTRACTOR_PAYOUTS',
  'CREATOR_PAYOUTS',
  'EMPLOYEE_PAYOUTS',
  'MARKETPLACE_SELLER_PAYOUTS',
  'SUPPLIER_PAYMENTS',
  'CROSS_BORDER_B2B',
  'AR_AUTOMATION',
  'AP_AUTOMATION',
  'EMBEDDED_PAYMENTS',
  'PLATFORM_FEE_COLLECTION',
  'P2P_TRANSFERS',
  'CHARITABLE_DONATIONS',
  'OTHER',
] as const;
export const monthlyCounts = [
  'COUNT_UNDER_10',
  'COUNT_10_TO_100',
  'COUNT_100_TO_500',
  'COUNT_500_TO_1000',
  'COUNT_OVER_1000',
] as const;
export const monthlyVolumes = [
  'VOLUME_UNDER_10K',
  'VOLUME_10K_TO_100K',
  'VOLUME_100K_TO_1M',
  'VOLUME_1M_TO_10M',
  'VOLUME_OVER_10M',
] as const;
export const incomeRanges = ['UNDER_50K', 'RANGE_50K_100K', 'RANGE_100K_250K', 'RANGE_250K_1M', 'OVER_1M'] as const;
export const netWorthRanges = [
  'UNDER_100K',
  'RANGE_100K_500K',
  'RANGE_500K_1M',
  'RANGE_1M_5M',
  'RANGE_5M_25M',
  'OVER_25M',
] as const;
export const pepStatuses = ['NONE', 'DOMESTIC', 'FOREIGN', 'HIO', 'FAMILY_OR_ASSOCIATE'] as const;
export const entityTypes = [
  'SOLE_PROPRIETORSHIP',
  'PARTNERSHIP',
  'LLC',
  'CORPORATION',
  'S_CORPORATION',
  'NON_PROFIT',
  'PUBLICLY_LISTED_COMPANY',
  'TRUST',
  'PRIVATE_FOUNDATION',
  'CHARITY',
  'OTHER',
] as const;
export const businessTypes = [
  'AGRICULTURE_FORESTRY_FISHING_AND_HUNTING',
  'MINING_QUARRYING_AND_OIL_AND_GAS_EXTRACTION',
  'UTILITIES',
  'CONSTRUCTION',
  'MANUFACTURING',
  'WHOLESALE_TRADE',
  'RETAIL_TRADE',
  'TRANSPORTATION_AND_WAREHOUSING',
  'INFORMATION',
  'FINANCE_AND_INSURANCE',
  'REAL_ESTATE_AND_RENTAL_AND_LEASING',
  'PROFESSIONAL_SCIENTIFIC_AND_TECHNICAL_SERVICES',
  'MANAGEMENT_OF_COMPANIES_AND_ENTERPRISES',
  'ADMINISTRATIVE_AND_SUPPORT_AND_WASTE_MANAGEMENT_AND_REMEDIATION_SERVICES',
  'EDUCATIONAL_SERVICES',
  'HEALTH_CARE_AND_SOCIAL_ASSISTANCE',
  'ARTS_ENTERTAINMENT_AND_RECREATION',
  'ACCOMMODATION_AND_FOOD_SERVICES',
  'OTHER_SERVICES',
  'PUBLIC_ADMINISTRATION',
] as const;
export const acceptanceMethods = ['CHECKBOX', 'CLICK_TO_ACCEPT'] as const;

export type CustomerType = (typeof customerTypes)[number];

type OneOf<T extends readonly string[]> = T[number];

export interface Address {
  line1: string;
  line2?: string;
  city?: string;
  state?: string;
  postalCode: string;
  country: string;
}

/** What is known of a business. A new one has at least `legalName`, `country`, `incorporatedOn` and `taxId`. */
export interface BusinessInfo {
  legalName?: string;
  doingBusinessAs?: string;
  country?: string;
  registrationNumber?: string;
  /** `YYYY-MM-DD`. */
  incorporatedOn?: string;
  entityType?: OneOf<typeof entityTypes>;
  taxId?: string;
  countriesOfOperation?: string[];
  businessType?: OneOf<typeof businessTypes>;
  purposeOfAccount?: OneOf<typeof accountPurposes>;
  sourceOfFunds?: string;
  expectedMonthlyTransactionCount?: OneOf<typeof monthlyCounts>;
  expectedMonthlyTransactionVolume?: OneOf<typeof monthlyVolumes>;
  expectedRecipientJurisdictions?: string[];
  naicsCode?: string;
  sourceOfFundsCategories?: OneOf<typeof businessFundsSources>[];
  sourceOfFundsOtherDescription?: string;
  purposeOfAccountOtherDescription?: string;
  expectedCounterpartyCountries?: string[];
  primaryContactFirstName?: string;
  primaryContactLastName?: string;
}

/** Everything that says who a customer is. Encrypted as a whole in the log; empty once the person was erased. */
export interface Profile {
  email?: string;
  phoneNumber?: string;
  address?: Address;
  fullName?: string;
  /** `YYYY-MM-DD`. */
  birthDate?: string;
  nationality?: string;
  idType?: OneOf<typeof identificationTypes>;
  countryOfIssuance?: string;
  sourceOfFundsCategories?: OneOf<typeof individualFundsSources>[];
  sourceOfFundsOtherDescription?: string;
  sourceOfWealthCategories?: OneOf<typeof wealthSources>[];
  sourceOfWealthOtherDescription?: string;
  purposeOfAccount?: OneOf<typeof accountPurposes>;
  purposeOfAccountOtherDescription?: string;
  expectedMonthlyTransactionCount?: OneOf<typeof monthlyCounts>;
  expectedMonthlyTransactionVolume?: OneOf<typeof monthlyVolumes>;
  annualIncomeRange?: OneOf<typeof incomeRanges>;
  netWorthRange?: OneOf<typeof netWorthRanges>;
  pepStatus?: OneOf<typeof pepStatuses>;
  businessInfo?: BusinessInfo;
}

/** A profile after a change: fields that are given replace, `businessInfo` field by field. */
export function mergedProfile(before: Profile, changes: Profile | undefined): Profile {
  const businessInfo = changes?.businessInfo && { ...before.businessInfo, ...changes.businessInfo };
  return { ...before, ...changes, ...(businessInfo && { businessInfo }) };
}
