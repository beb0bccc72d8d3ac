import { expect, test } from '@jest/globals';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import ts from 'typescript';
import { freeFields } from '../libs/kernel/json.ts';
import { dependencyRules } from './tidy/dependency-rules.ts';
import { freeFormFields } from './tidy/free-fields.ts';
import {
  accessOf,
  found,
  functionLines,
  impurity,
  moneyAsNumber,
  placeOf,
  root,
  type Source,
  sources,
} from './tidy/source.ts';

const MAX_FILE = 400;
const MAX_FUNCTION = 70;

const all = sources();
const isTest = ({ file }: Source) => /\.(spec|examples|setup|child)\.ts$/.test(file) || file.startsWith('test/');
const program = all.filter((source) => !isTest(source));
const pure = program.filter(({ file }) => /^libs\/(kernel|domain)\//.test(file));

/** Fails with every place at once, and the reason of the rule. */
function none(places: readonly string[], reason: string): void {
  if (places.length > 0) throw new Error(`${reason}\n  ${places.join('\n  ')}`);
}

const placesOf = (some: readonly Source[], wanted: (node: ts.Node, source: Source) => string | undefined) =>
  some.flatMap((source) =>
    found(source, (node) => wanted(node, source)).map(([node, what]) => `${placeOf(source, node)} ${what}`),
  );

test('the files are found', () => {
  expect(program.length).toBeGreaterThan(100);
  expect(pure.length).toBeGreaterThan(20);
});

test('imports point down', async () => {
  const { output } = await cruise(['apps', 'libs', 'projections', 'migrations'], {
    baseDir: root,
    validate: true,
    ruleSet: { forbidden: dependencyRules },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'default'] },
  });
  const { violations } = (output as ICruiseResult).summary;
  const reasons = new Map(dependencyRules.map(({ name, comment }) => [name, comment]));
  const told = violations.map(({ rule, from, to }) => `${from} → ${to}: ${rule.name}. ${reasons.get(rule.name)}`);
  none(told, 'These imports go against the dependency rule (test/tidy/dependency-rules.ts):');
});

test(`a file has at most ${MAX_FILE} lines`, () => {
  const long = all
    .filter((source) => source.lines > MAX_FILE && !source.file.endsWith('.spec.ts'))
    .map(({ file, lines }) => `${file} has ${lines}`);
  none(long, 'A file that is too long does more than one thing: take one of them out.');
});

test(`a function has at most ${MAX_FUNCTION} lines`, () => {
  const long = placesOf(
    all.filter(({ file }) => !file.endsWith('.spec.ts')),
    (node, source) => {
      const lines = functionLines(source, node) ?? 0;
      return lines > MAX_FUNCTION ? `has ${lines}` : undefined;
    },
  );
  none(long, 'A function is read at once: name its parts.');
});

test('process.env is read in config.ts', () => {
  const places = placesOf(
    program.filter(({ file }) => file !== 'libs/runtime/config.ts' && !file.endsWith('.mjs')),
    (node) => (accessOf(node) === 'process.env' ? 'process.env' : undefined),
  );
  none(places, 'Configuration is checked in one place, all errors at once: libs/runtime/config.ts.');
});

test('kernel and domain take neither time nor randomness, and wait for nothing', () => {
  const places = placesOf(pure, (node) => impurity(node));
  none(places, 'Decisions are repeated after a conflict and in tests: what they need comes in the command.');
});

/** What is not a platform's: claims that platforms share, leases and lag, everything about webhooks, and what moves the clocks. */
const REAL_TIME = [
  'apps/api/src/customers/unique-values.ts',
  'apps/api/src/external-accounts/account-claims.ts',
  'apps/api/src/sandbox/clock.controller.ts',
  'apps/api/src/webhooks/',
  'apps/worker/src/approval-call.ts',
  'apps/worker/src/timer-metrics.ts',
  'apps/worker/src/timers.ts',
];

test('what a platform sees and decides goes by its own clock', () => {
  const timed = program.filter(({ file }) => /^(apps\/(api|worker)|libs\/providers)\//.test(file));
  const places = placesOf(
    timed.filter(({ file }) => !REAL_TIME.some((place) => file.startsWith(place))),
    (node) => {
      const isAsked = ts.isCallExpression(node) && accessOf(node.expression)?.endsWith('.nowMs');
      return isAsked && node.arguments.length === 0 ? 'asks for real time' : undefined;
    },
  );
  none(places, 'Say whose time: clock.nowMs(tenant). In the sandbox it may be ahead (docs/why/sandbox-time.md).');
});

test('no number is money in the domain', () => {
  const places = placesOf(
    pure.filter(({ file }) => file.startsWith('libs/domain/')),
    (node) => moneyAsNumber(node),
  );
  none(places, 'A number cannot hold every amount exactly: money is a bigint of minor units, …Minor.');
});

test('money that is stored is named …Minor, so that it is read back as what it was', () => {
  const places = placesOf(
    pure.filter(({ file }) => file.endsWith('.events.ts')),
    (node) => {
      if (!ts.isPropertySignature(node) || !node.type) return undefined;
      const [name, type] = [node.name.getText(), node.type.getText()];
      const isMoney = /^[^{]*\bbigint\b/.test(type);
      return isMoney === name.endsWith('Minor') ? undefined : `${name}: ${type}`;
    },
  );
  none(
    places,
    'fromJson makes a bigint of a field when its name ends in Minor, and of no other (libs/kernel/json.ts).',
  );
});

test('a field whose members somebody else names is declared, so that none of them is taken for money', () => {
  expect([...freeFormFields()].sort()).toEqual([...freeFields].sort());
});

test('nothing is left to be done later', () => {
  const word = new RegExp(`\\b(${['TO', 'DO'].join('')}|FIX${'ME'})\\b`);
  const places = all.flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, i) => (word.test(line) ? [`${file}:${i + 1} ${line.trim()}`] : [])),
  );
  none(places, 'What is not done is said in an issue, where it is found again.');
});

test('no test is skipped without saying why, and none runs alone', () => {
  const places = placesOf(
    all.filter(({ file }) => file.endsWith('.spec.ts')),
    (node, { text }) => {
      const access = accessOf(node) ?? '';
      if (/^(test|it|describe)(\.\w+)*\.only$/.test(access)) return access;
      if (/^(test|it|describe)(\.\w+)*\.todo$/.test(access)) return access;
      if (/^(test|it|describe)(\.\w+)*\.skip$/.test(access) && !text.includes('skipped: ')) return access;
      return ts.isCallExpression(node) && /^(x|f)(test|it|describe)$/.test(node.expression.getText())
        ? 'skips'
        : undefined;
    },
  );
  none(places, 'A test that does not run proves nothing: print `skipped: <reason>` where it cannot.');
});

test('there are no default exports', () => {
  const places = placesOf(
    all.filter(({ file }) => file.endsWith('.ts')),
    (node) => (ts.isExportAssignment(node) ? 'export default' : undefined),
  );
  none(places, 'A thing has one name wherever it is used.');
});
