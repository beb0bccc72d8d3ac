const REMOVED = '[removed]';

/** Names of members whose values never reach a log, in lower case and without `-` and `_`. */
const secretNames = new Set(
  [
    'authorization cookie setcookie password secret clientsecret bootstrapclientsecret masterkey webhooksecret databaseurl',
    'token accesstoken refreshtoken oidctoken apikey privatekey signingkey encryptedsessionsigningkey encryptedotpbundle',
    'servicewalletsignature signature stamp idempotencykey panembedurl pan cvv code otp onetimecode verificationlink',
    'identifier taxid accountnumber routingnumber iban clabenumber pixkey vpa phonenumber email fullname birthdate address umaaddress',
    'body rawbody detail parameters where',
  ].flatMap((line) => line.split(' ')),
);

const secretTexts: [RegExp, string][] = [
  [/\b(Basic|Bearer)\s+[\w+/=.~-]{6,}/gi, `$1 ${REMOVED}`],
  [/\bwhsec_[\w+/=-]+/g, `whsec_${REMOVED}`],
  [/:\/\/([^\s:/@]*):[^\s@/]+@/g, `://$1:${REMOVED}@`],
];

const maySaySecrets = /basic|bearer|whsec_|:\/\//i;

/** A text without credentials. */
export function scrub(text: string): string {
  if (!maySaySecrets.test(text)) return text;
  return secretTexts.reduce((scrubbed, [pattern, replacement]) => scrubbed.replace(pattern, replacement), text);
}

/** A copy of a log entry in which no secret is left, at any depth; what lies deeper than eight levels is left out. */
export const redact = (entry: object): Record<string, unknown> => members(entry, -1);

function members(value: object, depth: number): Record<string, unknown> {
  const isError = value instanceof Error;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isCodeOfError = isError && name === 'code';
      return [name, isSecret(name) && !isCodeOfError && member !== undefined ? REMOVED : cleaned(member, depth + 1)];
    }),
  );
}

function cleaned(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return scrub(value);
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 8) return '[too deep]';
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => cleaned(item, depth + 1));
  if (value instanceof Date) return value;
  if (!(value instanceof Error)) return members(value, depth);
  const { name: type, message, stack, cause } = value;
  const said = { type, message: scrub(message), stack: scrub(stack ?? '') };
  return { ...members(value, depth), ...said, ...(cause !== undefined && { cause: cleaned(cause, depth + 1) }) };
}

const plainNames = new Map<string, boolean>();

function isSecret(name: string): boolean {
  const known = plainNames.get(name);
  if (known !== undefined) return known;
  const secret = secretNames.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
  if (plainNames.size < 1_000) plainNames.set(name, secret);
  return secret;
}
