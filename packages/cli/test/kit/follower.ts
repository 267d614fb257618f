// Runs a command with --follow and reads its lines.
import { expect } from 'vitest'
import { Failure } from '../../src/failures.ts'
import { type Ended, type SvcOptions, svcAt } from './svc.ts'

export type Follower = {
  /** The complete lines that have been printed. */
  lines: () => string[]
  errors: () => string
  /** Waits until this many lines have been printed. */
  waitForLines: (count: number) => Promise<string[]>
  /** Ends the command as Ctrl-C does. */
  stop: () => Promise<Ended>
}

/** Starts a command line in this process. */
export function startFollower(home: string, args: readonly string[], options: SvcOptions = {}): Follower {
  const controller = new AbortController()
  let [out, err] = ['', '']
  const ended = svcAt(home, args, {
    ...options,
    signal: controller.signal,
    onOut: (text) => void (out = text),
    onErr: (text) => void (err = text),
  })
  const lines = (): string[] => out.split('\n').slice(0, -1)
  return {
    lines,
    errors: () => err,
    waitForLines: async (count) => {
      await expect.poll(() => lines().length, { message: err }).toBeGreaterThanOrEqual(count)
      return lines()
    },
    stop: () => {
      controller.abort(new Failure('interrupted', 'Interrupted.'))
      return ended
    },
  }
}
