import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A helper of the bench in a process of its own: answers one message to each one that it is sent. */
export interface Helper<Question, Answer> {
  pid: number;
  ask(question: Question): Promise<Answer>;
  stop(): Promise<void>;
}

/** Starts `<name>.js` beside this file; resolves when it has said that it is ready, unless it says nothing before it is asked. */
export async function startHelper<Question, Answer, Ready = undefined>(
  name: string,
  options: { args?: readonly string[]; saysReady?: boolean } = {},
): Promise<Helper<Question, Answer> & { ready: Ready }> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const child = fork(new URL(`./${name}.${extension}`, import.meta.url), [...(options.args ?? [])], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ready = options.saysReady ? ((await message(child, name)) as Ready) : (undefined as Ready);
  return {
    ready,
    pid: child.pid!,
    ask(question) {
      const answer = message(child, name);
      child.send(question as object);
      return answer as Promise<Answer>;
    },
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

function message(child: ChildProcess, name: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error(`${name} has ended`));
    child.once('exit', ended);
    child.once('message', (said) => {
      child.off('exit', ended);
      resolve(said);
    });
  });
}
