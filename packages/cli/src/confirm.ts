import { createInterface } from 'node:readline/promises'
import { Failure } from './failures.ts'
import { printable } from './printable.ts'
import { type World, isInteractive } from './world.ts'

/** Goes on when the person says so, or has said so by `--yes`; throws otherwise. */
export async function confirm(world: World, question: string, isYes: boolean): Promise<void> {
  if (isYes) return
  if (!isInteractive(world))
    throw new Failure('usage', 'Nobody can be asked here: there is no terminal. Add --yes to go on.')
  const lines = createInterface({ input: world.stdin, output: world.stderr })
  // A terminal in raw mode hands Ctrl-C to the reader of lines.
  lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    const answer = await lines.question(`${printable(question)} [y/N] `, { signal: world.signal })
    if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('failed', 'Nothing was changed.')
  } finally {
    lines.close()
  }
}
