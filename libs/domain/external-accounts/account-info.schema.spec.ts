import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { accountExamples } from './account.examples.ts';
import { accountInfoComponents, createComponent, type JsonSchema, responseComponent } from './account-info.schema.ts';
import { accountTypeNames, accountTypes, railsOf } from './account-types.ts';

const components = accountInfoComponents();
const ajv = new Ajv2020({ discriminator: false, strictRequired: false });
ajv.addFormat('date', fullFormats.date).addFormat('email', fullFormats.email);
ajv.addKeyword('discriminator').addKeyword('components');
ajv.addSchema({ $id: 'doc', components: { schemas: components } });

const accepts = (component: string, value: unknown): boolean =>
  ajv.validate({ $ref: `doc#/components/schemas/${component}` }, value) as boolean;

describe('the components of the OpenAPI document', () => {
  test('every reference leads to a component', () => {
    const references = JSON.stringify(components).matchAll(/#\/components\/schemas\/(\w+)/g);
    for (const [, name] of references) expect(Object.keys(components)).toContain(name);
  });

  test.each(accountTypeNames)('%s: the unions take its example, each by one variant', (type) => {
    const create = accountExamples[type];
    const wallet = accountTypes[type].rails.length === 0;
    const response = wallet ? create : { ...create, paymentRails: railsOf(create) };
    expect(accepts('ExternalAccountCreateInfoOneOf', create)).toBe(true);
    expect(accepts(createComponent(type), create)).toBe(true);
    expect(accepts('ExternalAccountInfoOneOf', response)).toBe(true);
    expect(accepts(responseComponent(type), response)).toBe(true);
    expect(accepts('ExternalAccountInfoOneOf', create)).toBe(wallet);
    const { examples } = components[responseComponent(type)] as { examples: JsonSchema[] };
    expect(accepts('ExternalAccountInfoOneOf', examples[0])).toBe(true);
  });

  test.each(accountTypeNames.filter((type) => accountTypes[type].fields !== undefined))(
    '%s: the create variant refuses an account of which nothing is known',
    (type) => {
      expect(accepts(createComponent(type), { accountType: type })).toBe(false);
    },
  );

  test('LIGHTNING_ACCOUNT is another name in responses only', () => {
    const info = { ...accountExamples.LIGHTNING, accountType: 'LIGHTNING_ACCOUNT' };
    expect(accepts('ExternalAccountInfoOneOf', info)).toBe(true);
    expect(accepts('ExternalAccountCreateInfoOneOf', info)).toBe(false);
    expect(components.ExternalAccountInfoOneOf).toMatchObject({
      discriminator: { mapping: { LIGHTNING_ACCOUNT: '#/components/schemas/LightningExternalAccountInfo' } },
    });
  });

  test('conditions are in the schema: alternatives by rail, one of three for LIGHTNING', () => {
    const { beneficiary } = accountExamples.SLV_ACCOUNT;
    const slv = { accountType: 'SLV_ACCOUNT', beneficiary };
    expect(accepts('SlvExternalAccountCreateInfo', slv)).toBe(false);
    expect(accepts('SlvExternalAccountCreateInfo', { ...slv, phoneNumber: '+50371234567' })).toBe(true);
    const both = { ...accountExamples.LIGHTNING, bolt12: 'lno1pqpzwyqqqqqqqqqqqqqqq' };
    expect(accepts('LightningExternalAccountCreateInfo', both)).toBe(false);
  });

  test('names follow the contract', () => {
    expect([createComponent('USD_ACCOUNT'), responseComponent('USD_ACCOUNT')]).toEqual([
      'UsdExternalAccountCreateInfo',
      'UsdExternalAccountInfo',
    ]);
    expect([createComponent('BASE_WALLET'), responseComponent('BASE_WALLET')]).toEqual([
      'BaseWalletExternalAccountInfo',
      'BaseWalletExternalAccountInfo',
    ]);
  });
});
