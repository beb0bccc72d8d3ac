import { InvalidArgumentError } from 'commander';
import { parsePublicId } from '../../../libs/kernel/ids.ts';
import type { Config } from '../../../libs/runtime/config.ts';
import type { Engine } from '../../shared/engine.ts';
import type { Output, Streams } from './output.ts';

/** Exit codes: 0 fine; 1 something is wrong, in the data or with the command; 2 the command line cannot be understood. */
export const FINE = 0;
export const WRONG = 1;
export const MISUSED = 2;

/** What the command line asks for cannot be: it ends with 2, whenever that is found out. */
export class Misused extends Error {}

/** What a command line runs in. */
export interface Surroundings extends Streams {
  stdin: NodeJS.ReadableStream;
  /** Checks and gives the configuration. */
  config: () => Config;
  /** Gives a command the engine it works on. */
  connect: <T>(work: (engine: Engine) => Promise<T>, out: Output, on?: Deployment) => Promise<T>;
}

/** What a command works on: a deployment that is there, or also one that it begins. */
export type Deployment = 'existing' | 'existing or new';

/** The options that every command has. */
export interface CommonOptions {
  json?: true;
}

/** How a command does its work; the work answers the exit code. */
export interface Perform {
  /** On the engine of the deployment, which is there already unless `on` says otherwise. */
  onEngine(
    options: CommonOptions,
    work: (engine: Engine, out: Output) => Promise<number>,
    on?: Deployment,
  ): Promise<void>;
  /** Without one. */
  alone(options: CommonOptions, work: (out: Output, surroundings: Surroundings) => Promise<number>): Promise<void>;
}

/** Reads a whole number of at least `least`. */
export const wholeNumber =
  (least = 0) =>
  (text: string): number => {
    const number = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
    throw new InvalidArgumentError(`It must be a whole number, at least ${least}.`);
  };

/** Reads a text that says something. */
export function nonEmpty(text: string): string {
  if (text.trim() !== '') return text.trim();
  throw new InvalidArgumentError('It must not be empty.');
}

/** Reads `Platform:<uuid>`, `PlatformConfig:<uuid>` or a bare uuid. */
export function platformId(text: string): string {
  const uuid =
    parsePublicId('Platform', text) ??
    parsePublicId('PlatformConfig', text) ??
    parsePublicId('Platform', `Platform:${text}`);
  if (uuid !== undefined) return uuid;
  throw new InvalidArgumentError('It must be the id of a platform, a uuid.');
}

/** Collects an option that may be given several times, or with several values joined by commas. */
export function several(text: string, before: readonly string[] = []): string[] {
  const named = text.split(',').filter((one) => one !== '');
  if (named.length > 0) return [...before, ...named];
  throw new InvalidArgumentError('It must not be empty.');
}
