import {
  type BeneficiaryChoice,
  type BeneficiaryRule,
  type Fields,
  matching,
  type ObjectRule,
  oneOf,
  required,
  type TextRule,
  text,
} from './field-rules.ts';

const country: TextRule = { ...matching('^[A-Z]{2}$', 2), check: 'country' };

const address: ObjectRule = {
  component: 'BeneficiaryAddress',
  fields: {
    line1: required(text(1, 255)),
    line2: text(0, 255),
    city: text(0, 255),
    state: text(0, 255),
    postalCode: required(text(1, 50)),
    country: required(country),
  },
};

const contact: Fields = {
  email: { format: 'email', maxLength: 320 },
  phoneNumber: text(1, 50),
  countryOfResidence: country,
  address,
};

const individualFields: Fields = {
  fullName: required(text(1, 250)),
  birthDate: { format: 'date' },
  nationality: country,
  ...contact,
};

const businessFields: Fields = {
  legalName: required(text(1, 250)),
  registrationNumber: text(1, 100),
  taxId: text(1, 100),
  ...contact,
};

function withRequired(fields: Fields, names: readonly string[]): Fields {
  const added = names.map((name) => [name, { ...fields[name], required: true }]);
  return { ...fields, ...Object.fromEntries(added) };
}

const individual = (component: string, fields: Fields): BeneficiaryRule => ({
  component,
  beneficiaryType: 'INDIVIDUAL',
  fields,
});

const business: BeneficiaryRule = {
  component: 'BusinessBeneficiary',
  beneficiaryType: 'BUSINESS',
  fields: businessFields,
};

const fiat = (INDIVIDUAL: BeneficiaryRule, BUSINESS = business): BeneficiaryChoice => ({
  required: true,
  INDIVIDUAL,
  BUSINESS,
});

const plain = individual('IndividualBeneficiary', individualFields);

/** The beneficiary of most fiat accounts, and the currencies that ask for more (facts §5, Beneficiaries). */
export const anyBeneficiary = fiat(plain);
export const aedBeneficiary = fiat(individual('AedBeneficiary', withRequired(individualFields, ['address'])));
export const eurBeneficiary = fiat(
  individual('EurBeneficiary', withRequired(individualFields, ['countryOfResidence'])),
);
export const gtqBeneficiary = fiat(
  individual('GtqBeneficiary', withRequired(individualFields, ['phoneNumber', 'countryOfResidence'])),
);
export const jmdBeneficiary = fiat(
  individual('JmdBeneficiary', withRequired(individualFields, ['phoneNumber', 'address'])),
);
export const cadBeneficiary = fiat(
  individual('CadBeneficiary', { ...individualFields, registrationNumber: text(1, 100) }),
);
export const copBeneficiary = fiat(
  individual('CopBeneficiary', {
    ...individualFields,
    documentType: oneOf('CC', 'CE', 'TI', 'NIT', 'PP'),
    documentNumber: text(1, 50),
  }),
);
export const ilsBeneficiary = fiat(plain, {
  ...business,
  component: 'IlsBusinessBeneficiary',
  fields: withRequired(businessFields, ['address']),
});

/** The beneficiary of a crypto wallet: may be absent, and an individual needs only what the Travel Rule asks for. */
export const walletBeneficiary: BeneficiaryChoice = {
  required: false,
  INDIVIDUAL: individual('WalletIndividualBeneficiary', {
    fullName: required(text(1, 250)),
    countryOfResidence: required(country),
  }),
  BUSINESS: business,
};
