import { runDemo } from './src/demo/run.ts';

process.exit(await runDemo(process.argv.slice(2), process.stdout));
