// Repeats a command that reads, until the user stops it.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { escapeControlCharacters } from './printable.ts'
import type { Terminal } from './terminal.ts'

export type WatchOptions = { watch?: boolean; interval?: number }

const defaultIntervalSeconds = 5
const clearScreen = '\u001b[H\u001b[2J\u001b[3J'

/** Adds --watch to a command that reads. context.ts repeats the action of the command. */
export const addWatchOptions = (command: Command): Command =>
  command
    .option('-w, --watch', 'repeat the command until you press Ctrl-C')
    .option(
      '--interval <seconds>',
      `the seconds between two repetitions, from 1 to 3600 (default: ${defaultIntervalSeconds})`,
      parseInterval,
    )

/** Runs `read` repeatedly. On a terminal, each result replaces the previous one. */
export async function watch(
  { stdout, stderr, signal }: Terminal,
  { interval = defaultIntervalSeconds }: WatchOptions,
  read: () => Promise<void>,
): Promise<never> {
  const { isTransient } = await import('./retry.ts')
  for (;;) {
    // All output of the command is collected, so that the screen is never empty while the command waits.
    stdout.cork()
    try {
      if (stdout.isTTY === true) stdout.write(clearScreen)
      await read()
    } catch (error) {
      signal.throwIfAborted()
      if (!isTransient(error)) throw error
      const text = escapeControlCharacters((error as Error).message)
      stderr.write(`${text}. Repeating in ${interval} s; press Ctrl-C to stop.\n`)
    } finally {
      stdout.uncork()
    }
    await sleep(interval * 1_000, undefined, { signal })
  }
}

function parseInterval(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text) || Number(text) > 3_600)
    throw new InvalidArgumentError('Use a whole number from 1 to 3600.')
  return Number(text)
}
