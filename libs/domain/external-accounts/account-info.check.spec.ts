import { describe, expect, test } from '@jest/globals';
import { accountExamples, exampleCurrencies, withSuffix } from './account.examples.ts';
import { checkAccountInfo, knownAccountInfo, travelRuleErrors } from './account-info.check.ts';
import { type AccountInfo, type AccountType, accountTypeNames, accountTypes, suffixOf } from './account-types.ts';
import { isObjectRule, type TextRule } from './field-rules.ts';
import type { CheckName } from './identifier-checks.ts';

const currencyOf = (type: AccountType): string => exampleCurrencies[type] ?? accountTypes[type].currencies[0]!;

const check = (info: unknown, currency = currencyOf((info as AccountInfo).accountType), context = {}) =>
  checkAccountInfo(info, currency, context);

/** Field and constraint of each error, in the order in which they are told. */
const told = (errors: readonly { field: string; constraint: string }[]): string[] =>
  errors.map(({ field, constraint }) => `${field} ${constraint}`);

const without = (info: AccountInfo, field: string): AccountInfo => {
  const { [field]: _, ...rest } = info;
  return rest as AccountInfo;
};

const rows = accountTypeNames.flatMap((type) =>
  Object.entries(accountTypes[type].fields).map(([field, rule]) => [type, field, rule as TextRule] as const),
);
const rowsWhere = (holds: (rule: TextRule) => unknown) => rows.filter(([, , rule]) => holds(rule));

/** Values that fit every pattern of the fields with that check, and fail the check. */
const failing: Record<CheckName, (valid: string) => string> = {
  iban: (valid) => valid.slice(0, -1) + (valid.endsWith('9') ? '8' : '9'),
  country: () => 'ZZ',
  bic: (valid) => `${valid.slice(0, 4)}XX${valid.slice(6)}`,
  aba: () => '021000022',
  clabe: (valid) => valid.slice(0, -1) + ((Number(valid.at(-1)) + 1) % 10),
  pixKey: () => 'not an address',
  evmAddress: () => '0x52908400098527886E0F7030069857D2E4169Ee7',
  solanaAddress: (valid) => valid.slice(0, 20),
  sparkAddress: (valid) => `${valid.slice(0, -1)}${valid.endsWith('q') ? 'p' : 'q'}`,
  tronAddress: (valid) => `${valid.slice(0, -1)}${valid.endsWith('1') ? '2' : '1'}`,
  bolt11: () => 'lnbc1qqqqqq',
  bolt12: () => 'lnr1qqqqqqqqqqqqqqqqqqqq',
  lightningAddress: () => 'amina.example.com',
};

/** Valid values of checked fields that the examples leave out. */
const validValues: Record<string, string> = {
  'SWIFT_ACCOUNT.iban': 'DE89370400440532013000',
  'PKR_ACCOUNT.iban': 'PK36SCBL0000001123456702',
  swiftCode: 'DEUTDEFF',
};

/** The example with the field set, and nothing else changed, so that only that field can be wrong. */
const having = (type: AccountType, field: string, value: unknown): AccountInfo => {
  const given = type === 'LIGHTNING' ? { accountType: type } : accountExamples[type];
  return { ...given, [field]: value } as AccountInfo;
};

describe('every account type', () => {
  test.each(accountTypeNames)('%s: its example is valid', (type) => {
    expect(check(accountExamples[type])).toEqual([]);
  });

  test.each(rowsWhere((rule) => rule.required))('%s without %s is told exactly that', (type, field) => {
    expect(check(without(accountExamples[type], field), currencyOf(type))).toEqual([
      { field: `accountInfo.${field}`, constraint: 'REQUIRED', message: `accountInfo.${field} is required.` },
    ]);
  });

  test.each(rowsWhere((rule) => rule.pattern && !rule.enum))('%s: %s must match its pattern', (type, field, rule) => {
    expect(check(having(type, field, '!'))).toEqual([
      {
        field: `accountInfo.${field}`,
        constraint: 'PATTERN',
        message: `accountInfo.${field} does not match the pattern ${rule.pattern}.`,
        pattern: rule.pattern,
        minLength: rule.minLength,
        maxLength: rule.maxLength,
      },
    ]);
  });

  test.each(rowsWhere((rule) => rule.enum))('%s: %s must be an allowed value', (type, field, rule) => {
    expect(check(having(type, field, 'ZZ'))).toMatchObject([
      { field: `accountInfo.${field}`, constraint: 'ENUM', allowed: rule.enum },
    ]);
  });

  test.each(rows)('%s: %s must be a string', (type, field) => {
    expect(told(check(having(type, field, 12)))).toEqual([`accountInfo.${field} TYPE`]);
    expect(told(check(having(type, field, null)))).toEqual([`accountInfo.${field} TYPE`]);
  });

  test.each(rowsWhere((rule) => !rule.pattern && rule.minLength))('%s: %s must not be empty', (type, field, rule) => {
    expect(check(having(type, field, ''))).toMatchObject([
      { field: `accountInfo.${field}`, constraint: 'MIN_LENGTH', minLength: rule.minLength },
    ]);
  });

  test.each(rowsWhere((rule) => !rule.pattern && rule.maxLength))(
    '%s: %s has a longest length',
    (type, field, rule) => {
      expect(check(having(type, field, 'x'.repeat(rule.maxLength! + 1)))).toMatchObject([
        { field: `accountInfo.${field}`, constraint: 'MAX_LENGTH', maxLength: rule.maxLength },
      ]);
    },
  );

  test.each(rowsWhere((rule) => rule.check))('%s: %s must pass its check', (type, field, rule) => {
    const valid = String(accountExamples[type][field] ?? validValues[`${type}.${field}`] ?? validValues[field]);
    expect(check(having(type, field, failing[rule.check!](valid)))).toMatchObject([
      { field: `accountInfo.${field}`, constraint: 'FORMAT', format: rule.check },
    ]);
  });

  test.each(accountTypeNames)('%s: a currency it does not hold is a conflict', (type) => {
    expect(told(check(accountExamples[type], 'BTC.X'))).toEqual(['currency CONFLICT']);
  });

  test.each(accountTypeNames.filter((type) => accountTypes[type].beneficiary?.required))(
    '%s needs a beneficiary, of a known type, with its required fields',
    (type) => {
      const { INDIVIDUAL, BUSINESS } = accountTypes[type].beneficiary!;
      const path = 'accountInfo.beneficiary';
      expect(told(check(without(accountExamples[type], 'beneficiary')))).toContain(`${path} REQUIRED`);
      expect(told(check({ ...accountExamples[type], beneficiary: [] }))).toContain(`${path} TYPE`);
      expect(told(check({ ...accountExamples[type], beneficiary: {} }))).toContain(`${path}.beneficiaryType REQUIRED`);
      for (const { beneficiaryType, fields } of [INDIVIDUAL, BUSINESS]) {
        const required = Object.keys(fields).filter((name) => fields[name]!.required);
        const errors = told(check({ ...accountExamples[type], beneficiary: { beneficiaryType } }));
        expect(errors.filter((error) => error.startsWith(path))).toEqual(
          required.map((name) => `${path}.${name} REQUIRED`),
        );
      }
    },
  );
});

describe('the conditional requirements of facts §5', () => {
  const info = (
    accountType: AccountType,
    fields: object,
    beneficiary: object = { ...accountExamples.USD_ACCOUNT.beneficiary! },
  ) => ({
    accountType,
    ...fields,
    beneficiary,
  });
  const account = ['accountInfo.accountNumber REQUIRED', 'accountInfo.phoneNumber REQUIRED'];

  test.each([
    ['BDT_ACCOUNT', { bankName: 'B' }, account],
    ['GHS_ACCOUNT', { bankName: 'B' }, account],
    ['PKR_ACCOUNT', { bankName: 'B', iban: 'PK36SCBL0000001123456702' }, account],
    ['CNY_ACCOUNT', { bankName: 'B' }, ['accountInfo.phoneNumber REQUIRED']],
    ['CNY_ACCOUNT', { bankName: 'B', accountNumber: '1' }, ['accountInfo.phoneNumber REQUIRED']],
    [
      'COP_ACCOUNT',
      { bankName: 'B', accountNumber: '1' },
      ['accountInfo.phoneNumber REQUIRED', 'accountInfo.bankAccountType REQUIRED'],
    ],
    ['EGP_ACCOUNT', { bankName: 'B' }, ['accountInfo.iban REQUIRED', 'accountInfo.phoneNumber REQUIRED']],
    [
      'SLV_ACCOUNT',
      { bankName: 'B', accountNumber: '1' },
      ['accountInfo.bankAccountType REQUIRED', 'accountInfo.phoneNumber REQUIRED'],
    ],
    [
      'INR_ACCOUNT',
      { accountNumber: '123456789', ifsc: 'HDFC0000001' },
      ['accountInfo.vpa REQUIRED', 'accountInfo.rail REQUIRED'],
    ],
    [
      'SWIFT_ACCOUNT',
      { country: 'US', swiftCode: 'CHASUS33', bankName: 'B' },
      ['accountInfo.accountNumber REQUIRED', 'accountInfo.iban REQUIRED'],
    ],
    [
      'SWIFT_ACCOUNT',
      { country: 'GB', swiftCode: 'BARCGB22', bankName: 'B', accountNumber: '1' },
      ['accountInfo.iban REQUIRED'],
    ],
  ] as const)('%s with %j lacks %j', (type, fields, errors) => {
    expect(told(check(info(type, fields)))).toEqual(errors);
  });

  test('the error names what each rail needs', () => {
    expect(check(info('SLV_ACCOUNT', {}))[0]).toEqual({
      field: 'accountInfo.accountNumber',
      constraint: 'REQUIRED',
      message:
        'The account can be paid by no rail: BANK_TRANSFER needs bankAccountType, accountNumber; MOBILE_MONEY needs phoneNumber.',
      anyOf: [
        { rail: 'BANK_TRANSFER', fields: ['bankAccountType', 'accountNumber'] },
        { rail: 'MOBILE_MONEY', fields: ['phoneNumber'] },
      ],
    });
  });

  test('LIGHTNING takes exactly one of its three', () => {
    expect(told(check({ accountType: 'LIGHTNING' }))).toEqual([
      'accountInfo.invoice REQUIRED',
      'accountInfo.bolt12 REQUIRED',
      'accountInfo.lightningAddress REQUIRED',
    ]);
    const two = { accountType: 'LIGHTNING', bolt12: 'lno1pqpzwyqqqqqqqqqqqqqqq', lightningAddress: 'a@b.cd' };
    expect(told(check(two))).toEqual(['accountInfo.lightningAddress CONFLICT']);
  });

  test('an individual in Israel needs no address, a business does', () => {
    const beneficiary = { beneficiaryType: 'BUSINESS', legalName: 'Teva Ltd' };
    expect(told(check({ ...accountExamples.ILS_ACCOUNT, beneficiary }))).toEqual([
      'accountInfo.beneficiary.address REQUIRED',
    ]);
  });

  test('the bank of an ILS account is one of the known institutions', () => {
    const context = { bankNames: ['Bank Hapoalim'] };
    expect(check(accountExamples.ILS_ACCOUNT, 'ILS', context)).toMatchObject([
      { field: 'accountInfo.bankName', constraint: 'ENUM', allowed: ['Bank Hapoalim'] },
    ]);
    expect(check({ ...accountExamples.ILS_ACCOUNT, bankName: 'Bank Hapoalim' }, 'ILS', context)).toEqual([]);
    expect(check(accountExamples.PHP_ACCOUNT, 'PHP', { bankNames: ['Another Bank'] })).toEqual([]);
  });
});

describe('the request as a whole', () => {
  test('what is no account at all', () => {
    expect(told(checkAccountInfo(undefined, 'USD'))).toEqual(['accountInfo REQUIRED']);
    for (const input of [null, 'x', 7, []]) expect(told(checkAccountInfo(input, 'USD'))).toEqual(['accountInfo TYPE']);
    expect(checkAccountInfo({}, 'USD')).toMatchObject([
      { field: 'accountInfo.accountType', constraint: 'REQUIRED', allowed: accountTypeNames },
    ]);
    expect(told(checkAccountInfo({ accountType: 5 }, 'USD'))).toEqual(['accountInfo.accountType TYPE']);
    for (const accountType of ['usd_account', 'LIGHTNING_ACCOUNT', 'constructor', '__proto__'])
      expect(checkAccountInfo({ accountType }, 'USD')).toMatchObject([
        { field: 'accountInfo.accountType', constraint: 'ENUM', allowed: accountTypeNames },
      ]);
  });

  test('every invalid field is told at once, each once, in the order of the table', () => {
    const input = {
      accountType: 'USD_ACCOUNT',
      routingNumber: '12',
      bankAccountType: 'OTHER',
      bankName: '',
      intermediaryRoutingNumber: '021000022',
      beneficiary: {
        beneficiaryType: 'INDIVIDUAL',
        birthDate: '1990-02-30',
        nationality: 'usa',
        email: 'nobody',
        address: { line1: '', country: 'U' },
      },
    };
    expect(told(check(input, 'EUR'))).toEqual([
      'currency CONFLICT',
      'accountInfo.accountNumber REQUIRED',
      'accountInfo.routingNumber PATTERN',
      'accountInfo.bankName MIN_LENGTH',
      'accountInfo.bankAccountType ENUM',
      'accountInfo.intermediaryRoutingNumber FORMAT',
      'accountInfo.beneficiary.fullName REQUIRED',
      'accountInfo.beneficiary.birthDate FORMAT',
      'accountInfo.beneficiary.nationality PATTERN',
      'accountInfo.beneficiary.email FORMAT',
      'accountInfo.beneficiary.address.line1 MIN_LENGTH',
      'accountInfo.beneficiary.address.postalCode REQUIRED',
      'accountInfo.beneficiary.address.country PATTERN',
    ]);
  });

  test('text that nobody can read is refused; a wire message may have lines', () => {
    const beneficiary = {
      beneficiaryType: 'INDIVIDUAL',
      fullName: 'A\u0000B',
      address: { ...{ line1: ' ', postalCode: '\ud800', country: 'US' } },
    };
    expect(
      told(check({ ...accountExamples.USD_ACCOUNT, bankName: 'a\nb', fiToFiInformation: 'a\nb', beneficiary })),
    ).toEqual([
      'accountInfo.bankName FORMAT',
      'accountInfo.beneficiary.fullName FORMAT',
      'accountInfo.beneficiary.address.line1 FORMAT',
      'accountInfo.beneficiary.address.postalCode FORMAT',
    ]);
  });

  test('a country is one that exists, wherever it stands', () => {
    const address = { line1: '1 Main Street', postalCode: '1', country: 'XX' };
    const person = {
      beneficiaryType: 'INDIVIDUAL',
      fullName: 'A',
      nationality: 'UK',
      countryOfResidence: 'EU',
      address,
    };
    const input = { ...accountExamples.SWIFT_ACCOUNT, country: 'ZZ', beneficiary: person };
    expect(check(input)).toMatchObject([
      {
        field: 'accountInfo.country',
        constraint: 'FORMAT',
        message: 'accountInfo.country must be a country of ISO 3166-1 alpha-2.',
        format: 'country',
      },
      { field: 'accountInfo.beneficiary.nationality', constraint: 'FORMAT' },
      { field: 'accountInfo.beneficiary.countryOfResidence', constraint: 'FORMAT' },
      { field: 'accountInfo.beneficiary.address.country', constraint: 'FORMAT' },
    ]);
  });

  test('what the table does not know is tolerated, and not kept', () => {
    const known = accountExamples.AED_ACCOUNT;
    const beneficiary = known.beneficiary as object;
    const input = { ...known, paymentRails: ['X'], platformAccountId: 'mine', beneficiary: { ...beneficiary, age: 3 } };
    expect(check(input)).toEqual([]);
    expect(knownAccountInfo(input)).toEqual(known);
  });

  test.each([
    ['SWIFT_ACCOUNT', 'EUR', []],
    ['SWIFT_ACCOUNT', 'USDC', ['currency CONFLICT']],
    ['SPARK_WALLET', 'USDB', []],
    ['SPARK_WALLET', 'USD', ['currency CONFLICT']],
    ['SLV_ACCOUNT', 'USD', []],
  ] as const)('%s in %s', (type, currency, errors) => {
    expect(told(check(accountExamples[type], currency))).toEqual(errors);
  });
});

describe('Pix keys', () => {
  test.each([
    ['CPF', '52998224725', true],
    ['CPF', '52998224726', false],
    ['CPF', '11111111111', false],
    ['CNPJ', '11222333000181', true],
    ['CNPJ', '12ABC34501DE35', true],
    ['CNPJ', '11222333000182', false],
    ['EMAIL', 'maria@example.com.br', true],
    ['EMAIL', 'maria@localhost', false],
    ['PHONE', '+5511987654321', true],
    ['PHONE', '11987654321', false],
    ['RANDOM', '123e4567-e89b-12d3-a456-426655440000', true],
    ['RANDOM', '123e4567', false],
  ])('%s %s: %s', (pixKeyType, pixKey, valid) => {
    const errors = check({ ...accountExamples.BRL_ACCOUNT, pixKey, pixKeyType });
    expect(told(errors)).toEqual(valid ? [] : ['accountInfo.pixKey FORMAT']);
  });

  test.each(['__proto__', 'constructor', 'isPrototypeOf'])(
    'of no kind, but of the name that every object has: %s',
    (name) => {
      const errors = check({ ...accountExamples.BRL_ACCOUNT, pixKeyType: name });
      expect(told(errors)).toEqual(['accountInfo.pixKeyType ENUM']);
    },
  );
});

describe('wallet addresses and invoices', () => {
  test.each([
    // EIP-55's own examples, and one letter's case changed.
    ['ETHEREUM_WALLET', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', true],
    ['ETHEREUM_WALLET', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', true],
    ['ETHEREUM_WALLET', '0x52908400098527886E0F7030069857D2E4169EE7', true],
    ['ETHEREUM_WALLET', '0xde709f2102306220921060314715629080e2fb77', true],
    ['ETHEREUM_WALLET', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD', false],
    ['ETHEREUM_WALLET', '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', false],
    ['SPARK_WALLET', 'spark1pgss9qg3vdslzmt2name9v550skuvlu6lj5xt9sly90k7p0gxughlqv023jqmc', true],
    ['SPARK_WALLET', 'sprt1pgssx63fa5g6uyv450rajp5ndwy9laxzpsp9e37su58jddmcdsvhgm5n7y0ud6', true],
    ['SPARK_WALLET', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', false],
    ['SOLANA_WALLET', '11111111111111111111111111111111', true],
    ['SOLANA_WALLET', '0zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', false],
    ['TRON_WALLET', '1PMycacnJaSqwwJqjawXBErnLsZ7RkXUAs', false],
  ] as const)('%s %s: %s', (type, address, valid) => {
    expect(told(check({ accountType: type, address }))).toEqual(valid ? [] : ['accountInfo.address FORMAT']);
  });

  test('a BOLT 11 invoice has its checksum checked', () => {
    // The first example of BOLT 11, a donation of any amount.
    const invoice =
      'lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql';
    expect(check({ accountType: 'LIGHTNING', invoice })).toEqual([]);
    expect(told(check({ accountType: 'LIGHTNING', invoice: invoice.replace('pvjluez', 'pvjluep') }))).toEqual([
      'accountInfo.invoice FORMAT',
    ]);
  });
});

describe('magic suffixes of the sandbox', () => {
  const suffixes = ['002', '003', '004', '005', '006', '007', '102', '103', '104', '105', '106', '107'];
  /** Alphabets without 0 or 1: such an address cannot be real. */
  const impossible = ['SOLANA_WALLET', 'SPARK_WALLET', 'TRON_WALLET'];

  test.each(accountTypeNames)('%s: an identifier with any of them can be made', (type) => {
    for (const suffix of suffixes) {
      const info = withSuffix(type, suffix);
      const sandboxOnly = impossible.includes(type);
      expect(suffixOf(info)).toBe(suffix);
      expect(check(info, currencyOf(type), { sandbox: true })).toEqual([]);
      expect(told(check(info))).toEqual(sandboxOnly ? ['accountInfo.address FORMAT'] : []);
    }
  });

  test('in the sandbox they excuse the checksum of the identifier, not its form nor other fields', () => {
    const sandbox = { sandbox: true };
    const iban = 'DE89370400440532013002';
    expect(told(check({ ...accountExamples.EUR_ACCOUNT, iban }, 'EUR'))).toEqual(['accountInfo.iban FORMAT']);
    expect(check({ ...accountExamples.EUR_ACCOUNT, iban }, 'EUR', sandbox)).toEqual([]);
    expect(told(check({ ...accountExamples.EUR_ACCOUNT, iban: `${iban.slice(0, -1)}1` }, 'EUR', sandbox))).toEqual([
      'accountInfo.iban FORMAT',
    ]);
    const usd = { ...accountExamples.USD_ACCOUNT, accountNumber: '1002', routingNumber: '021000002' };
    expect(told(check(usd, 'USD', sandbox))).toEqual(['accountInfo.routingNumber FORMAT']);
    const wallet = { accountType: 'SPARK_WALLET', address: 'sp1002' };
    expect(told(check(wallet, 'BTC', sandbox))).toEqual(['accountInfo.address FORMAT']);
  });
});

test('objects nest in beneficiaries only, as the check relies on', () => {
  for (const [, , rule] of rows) expect(isObjectRule(rule)).toBe(false);
});

describe('counterparty requirements', () => {
  const wallet = accountExamples.SOLANA_WALLET;
  test.each([
    [wallet, undefined, ['ownershipType REQUIRED']],
    [wallet, 'FIRST_PARTY', []],
    [wallet, 'THIRD_PARTY', ['accountInfo.beneficiary REQUIRED']],
    [{ ...wallet, beneficiary: {} }, 'THIRD_PARTY', []],
    [{ ...wallet, vaspName: 'Kraken' }, undefined, []],
    [{ ...wallet, vaspName: 'Kraken' }, 'THIRD_PARTY', ['accountInfo.beneficiary REQUIRED']],
    [accountExamples.LIGHTNING, undefined, []],
    [accountExamples.LIGHTNING, 'THIRD_PARTY', []],
    [accountExamples.USD_ACCOUNT, undefined, []],
    [{ accountType: 'MOON_ACCOUNT' }, undefined, []],
    [undefined, undefined, []],
  ])('%j, %s: %j', (info, ownershipType, errors) => {
    expect(told(travelRuleErrors(info, ownershipType))).toEqual(errors);
  });
});
