import type { IForbiddenRuleType } from 'dependency-cruiser';

/** Files that stand beside the program: tests, and the examples that they share. */
const beside = '\\.(spec|examples|setup|child)\\.ts$';

const rule = (
  name: string,
  from: string,
  to: string,
  comment: string,
  more: { except?: string; notTo?: string; mayImportTypes?: boolean } = {},
) =>
  ({
    name,
    comment,
    severity: 'error',
    from: { path: from, pathNot: more.except ? [beside, more.except] : [beside] },
    to: {
      path: to,
      ...(more.notTo && { pathNot: more.notTo }),
      ...(more.mayImportTypes && { dependencyTypesNot: ['type-only'] }),
    },
  }) satisfies IForbiddenRuleType;

/** The dependency rule (architecture §3), each with the reason that its message gives. */
export const dependencyRules: IForbiddenRuleType[] = [
  rule(
    'the kernel stands alone',
    '^libs/kernel/',
    '^(apps|projections|migrations|libs/(?!kernel/))',
    'Everything stands on the kernel: what it imports, everything drags along.',
  ),
  rule(
    'the kernel imports no library',
    '^libs/kernel/',
    'node_modules/',
    'It is pure TypeScript, so that a decision can be tried without anything else.',
    { notTo: 'node_modules/(decimal\\.js|@types)/' },
  ),
  rule(
    'the domain imports the kernel only',
    '^libs/domain/',
    '^(apps|projections|migrations|libs/(runtime|adapters|providers)/)',
    'Decisions are pure: facts, rates and answers of providers come in a command.',
  ),
  rule(
    'runtime, adapters and providers stand on the kernel',
    '^libs/(runtime|adapters|providers)/',
    '^(apps|projections|migrations|libs/domain)/',
    'They serve every feature, so they know none; a program joins them.',
  ),
  rule(
    'the runtime knows no adapter',
    '^libs/runtime/',
    '^libs/(adapters|providers)/',
    'It works through ports; which adapter stands behind one is chosen in apps/.',
  ),
  rule(
    'adapters know no runtime',
    '^libs/adapters/',
    '^libs/(runtime|providers)/',
    'An adapter implements a port of the kernel and nothing else, so that another one can take its place.',
  ),
  rule(
    'projections stand on the domain and the kernel',
    '^projections/',
    '^(apps|migrations|libs/(runtime|adapters)/)',
    'A read model is rows and events: it knows neither HTTP nor the projector nor Postgres.',
    { notTo: '^libs/runtime/http/page-of\\.ts$', mayImportTypes: true },
  ),
  rule(
    'nothing imports a program',
    '^(libs|projections|migrations)/',
    '^apps/',
    'Arrows point down: apps → projections → domain → kernel.',
  ),
  {
    name: "a feature sees another one's events only",
    comment:
      'A feature may import another one’s *.events.ts, and its commands inside a *.process.ts: otherwise two features become one.',
    severity: 'error',
    from: { path: '^libs/domain/([^/]+)/', pathNot: [beside, '\\.process\\.ts$'] },
    to: { path: '^libs/domain/([^/]+)/', pathNot: ['^libs/domain/$1/', '\\.events\\.ts$'] },
  },
  rule(
    'Nest stays in the HTTP program and its runtime',
    '^(libs|projections|migrations|apps)/',
    'node_modules/@nestjs/',
    'Only what speaks HTTP knows the framework; the rest runs without it, in workers, tests and the command line.',
    { except: '^(libs/runtime/|apps/api/src/|apps/[^/]+/(src/)?(app|main)\\.ts$)' },
  ),
  rule(
    'Postgres stays in the adapters and programs',
    '^(libs/(kernel|domain|runtime)|projections)/',
    'node_modules/pg/',
    'Databases are an adapter’s business.',
    { except: '^libs/runtime/read-model\\.ts$' },
  ),
  rule(
    'one file knows kafkajs',
    '^(apps|libs|projections|migrations)/',
    'node_modules/kafkajs/',
    'The client is without a maintainer: what it does is fenced in one place, and can be replaced there.',
    { except: '^libs/adapters/kafka/kafka\\.ts$' },
  ),
  {
    name: 'no circles',
    comment: 'Of two files that import each other neither can be understood, or loaded, first.',
    severity: 'error',
    from: {},
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  {
    name: 'everything imported exists',
    comment: 'An import that resolves to nothing fails at the first start.',
    severity: 'error',
    from: {},
    to: { couldNotResolve: true },
  },
];
