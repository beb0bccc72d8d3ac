import { setFlagsFromString } from 'node:v8';
import { run } from './src/run.ts';

// With gigabytes to spare, V8 lets a heap grow to four times of what is in use before it collects: half as much again is enough.
setFlagsFromString('--heap-growing-percent=50');
await run();
