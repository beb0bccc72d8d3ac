import { Type } from 'typebox';
import { Currency } from './currency.view.ts';
import { ExchangeRateNumber } from './payment-source.view.ts';
import { CustomerInfoFieldName } from './platform-config.view.ts';

const amount = (description: string) => Type.Integer({ format: 'int64', exclusiveMinimum: 0, description });

export const CurrencyPreference = Type.Object(
  {
    currency: Currency,
    estimatedExchangeRate: ExchangeRateNumber,
    min: amount('The least that can be received, in the smallest unit of the currency.'),
    max: amount('The most that can be received, in the smallest unit of the currency.'),
  },
  { $id: 'CurrencyPreference' },
);

export const RequiredPayerField = Type.Object(
  { name: CustomerInfoFieldName, mandatory: Type.Boolean() },
  { $id: 'RequiredPayerField', description: 'To be told in `senderCustomerInfo` of the quote.' },
);

const common = {
  supportedCurrencies: Type.Array(CurrencyPreference, {
    description: "Rates are from the first currency of the sending customer's accounts; a quote prices its own source.",
  }),
  requiredPayerDataFields: Type.Array(RequiredPayerField),
  lookupId: Type.String({ description: 'For `lookupId` of a quote to this receiver, for five minutes.' }),
};

export const ReceiverUmaLookupResponse = Type.Object(
  { ...common, receiverUmaAddress: Type.String() },
  { $id: 'ReceiverUmaLookupResponse' },
);

export const ReceiverExternalAccountLookupResponse = Type.Object(
  { ...common, accountId: Type.String() },
  { $id: 'ReceiverExternalAccountLookupResponse' },
);
