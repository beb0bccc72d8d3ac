import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { loadConfig, ROLES, variableDocs } from '../../libs/runtime/config.ts';

const root = path.join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

interface Service {
  image: string;
  environment?: Record<string, string>;
  command?: string[];
  volumes?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
  profiles?: string[];
}

interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
}

const composeFiles = ['docker/compose.yml', 'docker/compose.postgres.yml'];
const compose = (file: string) => parse(read(file), { merge: true }) as Compose;
const ours = ({ services }: Compose) => Object.entries(services).filter(([, { image }]) => image === 'ledgerline');

/** As docker compose fills variables in: those of the given environment, else the default. */
const filledIn = (text: string, given: Record<string, string>): string =>
  text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind?: string, rest = '') => {
    if (given[name]) return given[name];
    if (kind === '?') throw new Error(`${name}: ${rest}`);
    return rest;
  });

const GIVEN = { POSTGRES_PASSWORD: 'a-password', MASTER_KEY: 'f'.repeat(64) };

describe.each(composeFiles)('%s', (file) => {
  const document = compose(file);

  test('names only variables that the platform knows, with values that it takes', () => {
    const known = variableDocs.map(({ name }) => name);
    for (const [name, { environment = {} }] of ours(document)) {
      expect([name, Object.keys(environment).filter((variable) => !known.includes(variable))]).toEqual([name, []]);
      const filled = Object.entries(environment).map(([key, value]) => [key, filledIn(String(value), GIVEN)]);
      expect(loadConfig(Object.fromEntries(filled)).feed).toBe('kafka');
    }
  });

  test('runs every part of the platform apart from the others', () => {
    const roles = ours(document).flatMap(([name, { environment }]) =>
      environment?.ROLE ? [[name, environment.ROLE]] : [],
    );
    const apart = ROLES.filter((role) => role !== 'standalone');
    expect(roles.sort()).toEqual(apart.map((role) => [role, role]).sort());
  });

  test('starts what others stand on first, and waits until it is well', () => {
    const { services } = document;
    for (const [name, { depends_on: needed = {} }] of Object.entries(services)) {
      for (const [other, { condition }] of Object.entries(needed)) {
        expect([name, other, Object.keys(services).includes(other)]).toEqual([name, other, true]);
        if (other === 'migrate') expect(condition).toBe('service_completed_successfully');
        else
          expect([other, condition, services[other]!.healthcheck?.test?.length]).toEqual([
            other,
            'service_healthy',
            expect.any(Number),
          ]);
      }
      if (services[name]!.environment?.ROLE)
        expect(Object.keys(needed)).toEqual(expect.arrayContaining(['migrate', 'postgres', 'kafka']));
    }
    expect(() => order(services)).not.toThrow();
  });

  test('declares each volume that it uses', () => {
    const used = Object.values(document.services).flatMap(({ volumes = [] }) =>
      volumes.map((one) => one.split(':')[0]!),
    );
    const declared = Object.keys(document.volumes);
    expect([...new Set(used.filter((one) => !one.startsWith('.')))].sort()).toEqual(declared.sort());
    for (const folder of used.filter((one) => one.startsWith('.'))) {
      expect([folder, existsSync(path.join(root, 'docker', folder))]).toEqual([folder, true]);
    }
  });

  test('asks for each variable that docker/env.example has, and for no other without a default', () => {
    const example = [...read('docker/env.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name!);
    const asked = new Map([...read(file).matchAll(/\$\{(\w+)(:[-?])?/g)].map(([, name, kind]) => [name!, kind]));
    expect(
      [...asked]
        .filter(([, kind]) => kind !== ':-')
        .map(([name]) => name)
        .sort(),
    ).toEqual(['MASTER_KEY', 'POSTGRES_PASSWORD']);
    expect(example.filter((name) => !asked.has(name))).toEqual([]);
  });
});

/** Throws when services wait for each other. */
function order(services: Record<string, Service>): string[] {
  const done: string[] = [];
  const visit = (name: string, waiting: string[]): void => {
    if (waiting.includes(name)) throw new Error(`${[...waiting, name].join(' waits for ')}`);
    for (const other of Object.keys(services[name]!.depends_on ?? {})) visit(other, [...waiting, name]);
    if (!done.includes(name)) done.push(name);
  };
  for (const name of Object.keys(services)) visit(name, []);
  return done;
}

describe('docker/Dockerfile', () => {
  const text = read('docker/Dockerfile').replaceAll('\\\n', ' ');
  const instructions = text
    .split('\n')
    .filter((line) => /^[A-Z]+ /.test(line))
    .map((line) => line.split(/\s+/) as [string, ...string[]]);
  const copied = instructions
    .filter(([name, ...args]) => name === 'COPY' && !args.some((arg) => arg.startsWith('--from')))
    .flatMap(([, ...args]) => args.filter((arg) => !arg.startsWith('--')).slice(0, -1));

  test('copies what exists and what the context lets through', () => {
    const let_ = read('docker/Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'));
    expect(copied.length).toBeGreaterThan(8);
    for (const file of copied) {
      expect([file, existsSync(path.join(root, file))]).toEqual([file, true]);
      expect([file, let_.includes(`!${file}`)]).toEqual([file, true]);
    }
  });

  test('builds from every folder that the program is made of', () => {
    const { include } = JSON.parse(read('tsconfig.build.json')) as { include: string[] };
    expect(include.filter((folder) => !folder.startsWith('test')).filter((folder) => !copied.includes(folder))).toEqual(
      [],
    );
  });

  test('ends up as an ordinary user, without the tools of the build, and says how it is', () => {
    const last = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'));
    expect(last.filter(([name]) => name === 'USER')).toEqual([['USER', 'node']]);
    expect(last.some(([name]) => name === 'HEALTHCHECK')).toBe(true);
    expect(text).toContain('npm prune --omit=dev');
  });

  test('the operators’ program can be executed', () => {
    expect(statSync(path.join(root, 'docker/ledgerline-ops')).mode & 0o111).toBe(0o111);
  });
});
