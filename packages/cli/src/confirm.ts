import { createInterface } from 'node:readline'
import { Failure } from './failures.ts'
import { printable } from './printable.ts'
import { type World, isInteractive } from './world.ts'

/** Goes on when the person says so, or has said so by `--yes`; throws otherwise. */
export async function confirm(world: World, question: string, isYes: boolean): Promise<void> {
  if (isYes) return
  if (!isInteractive(world))
    throw new Failure('usage', 'Nobody can be asked here: there is no terminal. Add --yes to go on.')
  const answer = await answerOf(world, `${printable(question)} [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('failed', 'Nothing was changed.')
}

/** The line that the person types; empty when there is none, as after Ctrl-D. */
async function answerOf({ stdin, stderr, signal }: World, question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr, signal })
  // A terminal in raw mode hands Ctrl-C to the reader of lines.
  lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  const answer = await new Promise<string | null>((resolve) => {
    lines.once('close', () => resolve(null))
    lines.question(question, resolve)
  })
  lines.close()
  signal.throwIfAborted()
  if (answer === null) stderr.write('\n')
  return answer ?? ''
}
