import type { ApprovalAnswer } from '../../../libs/domain/incoming-payments/incoming-payment.commands.ts';
import { Rejection } from '../../../libs/kernel/errors.ts';
import { readJson } from '../../../libs/runtime/http/json.ts';
import { freeObject, isObject, listOf, type Rule, text } from '../../../libs/runtime/http/rules.ts';
import type { SendResult } from '../../../libs/runtime/webhooks/sender.ts';

const REASON_LENGTH = 1_000;

/** What an answer may say, by its status (facts §3): checked as strictly as bodies of the API, for other platforms are shown it. */
const rules: Readonly<Record<number, Readonly<Record<string, Rule>>>> = {
  200: { receiverCustomerInfo: freeObject() },
  403: { reason: text(), message: text() },
  422: { requiredFields: listOf(text({ max: 100 })) },
};

interface Said {
  receiverCustomerInfo?: Record<string, unknown>;
  requiredFields?: string[];
  reason?: string;
  message?: string;
}

/** Of an answer with this status the body matters. */
export const isDecisive = (status: number): boolean => status in rules;

/**
 * What the answer to an approval webhook decides. One that says it in a way that cannot be used counts as `ERROR`. `until`: how long there
 * is to decide after the question was only acknowledged, RFC 3339 UTC.
 */
export function approvalAnswer(result: SendResult, until: string): ApprovalAnswer {
  if (result.outcome === 'failed') return { outcome: result.reason === 'TIMEOUT' ? 'TIMED_OUT' : 'ERROR' };
  const { status } = result;
  if (!isDecisive(status)) {
    return (status > 200 && status < 300) || status === 409 ? { outcome: 'ACKNOWLEDGED', until } : { outcome: 'ERROR' };
  }
  const said = saidIn(result);
  if (!said) return { outcome: 'ERROR' };
  const { receiverCustomerInfo, requiredFields = [], reason = said.message } = said;
  if (status === 200) return { outcome: 'APPROVED', ...(receiverCustomerInfo && { receiverCustomerInfo }) };
  if (status === 422) return { outcome: 'INSUFFICIENT', requiredFields };
  return { outcome: 'REJECTED', ...(reason !== undefined && { reason: [...reason].slice(0, REASON_LENGTH).join('') }) };
}

/**
 * What the body says: nothing where it does not begin as a JSON object does, such as "OK"; undefined where it cannot be used. An
 * approval whose body did not come may have been about to tell of the receiver.
 */
function saidIn({ status, body, isTruncated }: Extract<SendResult, { outcome: 'answered' }>): Said | undefined {
  if (status === 200 && isTruncated && /^\s*$/.test(body.toString('latin1'))) return undefined;
  if (!/^\s*\{/.test(body.toString('latin1'))) return {};
  const value = isTruncated ? undefined : objectIn(body);
  if (!value) return undefined;
  const told = Object.entries(rules[status]!).filter(([name]) => (value[name] ?? undefined) !== undefined);
  if (told.some(([name, rule]) => rule.check(value[name], value))) return undefined;
  return Object.fromEntries(told.map(([name]) => [name, value[name]]));
}

function objectIn(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value = readJson(body);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof Rejection) return undefined;
    throw error;
  }
}
