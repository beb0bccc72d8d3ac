import { fileSink } from './export.ts';

/** Writes two lines, of which the second is cut by the limit of its files, into the file that it is given; prints what that came to. */
const sink = await fileSink(process.argv[2]!);
await sink.write('a'.repeat(400));
await sink
  .write('b'.repeat(400))
  .then(() => sink.finish())
  .then(
    () => process.stdout.write('fine'),
    (error: NodeJS.ErrnoException) => process.stdout.write(String(error.code)),
  );
