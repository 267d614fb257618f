import { createInterface } from 'node:readline'
import { Failure } from './failures.ts'
import { escapeControlCharacters } from './printable.ts'
import { announceUse } from './used-objects.ts'
import { type Terminal, isInteractive } from './terminal.ts'

/** Resolves if the user confirms or has passed `--yes`. Throws otherwise. */
export async function confirm(terminal: Terminal, question: string, isYes: boolean): Promise<void> {
  announceUse(terminal)
  if (isYes) return
  if (!isInteractive(terminal))
    throw new Failure('usage', 'Cannot prompt: stdin or stderr is not a terminal. Pass --yes.')
  const answer = await readAnswer(terminal, `${escapeControlCharacters(question)} [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('failed', 'Nothing was changed.')
}

/** Returns the line that the user enters, or an empty string after Ctrl-D. */
async function readAnswer({ stdin, stderr, signal }: Terminal, question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr, signal })
  // In raw mode, readline intercepts Ctrl-C, so it must be forwarded to the process.
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
