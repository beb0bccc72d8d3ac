import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { webhookEventTypes } from '../../libs/domain/webhooks/event-types.ts';
import { webhookDocs, webhookSamples } from './catalogue.ts';

const emitted = webhookEventTypes.filter(({ isEmitted }) => isEmitted).map(({ type }) => type);

test('every type that is sent has a sample, made by what announces it, and no other type is announced', () => {
  expect([...webhookSamples().keys()].sort()).toEqual([...emitted].sort());
});

test('every type that is sent is documented with its sample', () => {
  const samples = webhookSamples();
  const docs = Object.entries(webhookDocs());
  expect(docs.map(([type]) => type)).toEqual(emitted);
  expect(docs.map(([, { example }]) => example)).toEqual(emitted.map((type) => samples.get(type)));
});

test('what an answer means is documented: a question is decided by it, what is sent once is not tried again', () => {
  const { 'INCOMING_PAYMENT.PENDING': question, TEST: once, 'INCOMING_PAYMENT.FAILED': repeated } = webhookDocs();
  expect(Object.keys(question!.answers)).toEqual(['200', '202', '403', '422', 'default']);
  expect(once!.answers).toEqual({ '2XX': { description: 'Received. It is sent once, whatever is answered.' } });
  expect(repeated!.answers).toEqual({
    '2XX': { description: 'Received. Anything else but 409 makes the delivery be tried again.' },
  });
});

test('samples stay the same: nothing in them comes from the clock or from chance', () => {
  expect([...webhookSamples()]).toEqual([...webhookSamples()]);
});

/** The section of docs/webhooks.md, as it has to be. */
function section(): string {
  const samples = webhookSamples();
  return emitted
    .map((type) => {
      const json = JSON.stringify(samples.get(type), undefined, 2);
      return `<details>\n<summary><code>${type}</code></summary>\n\n\`\`\`json\n${json}\n\`\`\`\n\n</details>\n`;
    })
    .join('\n');
}

test('docs/webhooks.md shows the samples', () => {
  const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
  const shown = page.split('<!-- samples -->\n')[1]!.split('<!-- /samples -->')[0];
  expect(shown).toBe(section());
});
