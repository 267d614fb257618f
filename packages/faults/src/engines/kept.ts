// A process that keeps engines for the harness: it answers each line with a line, and cleans up when its input ends.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export type Keeper = {
  /** The next line it prints. */
  answer(): Promise<string>
  /** Gives it a line and resolves with its answer. It answers in the order in which it is told. */
  tell(line: string): Promise<string>
  /** Ends its input and waits until it has cleaned up. */
  end(): Promise<void>
}

/** Starts it in a session of its own: what ends the harness, by whatever signal, does not end the keeper. */
export function startKeeper(file: string, args: readonly string[] = []): Keeper {
  const keeper = spawn(process.execPath, [file, ...args], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  keeper.stdin.on('error', () => undefined)
  const gone = once(keeper, 'exit')
  const lines = createInterface(keeper.stdout)
  const answer = async (): Promise<string> => {
    const [line] = (await Promise.race([once(lines, 'line'), gone])) as [unknown]
    if (typeof line !== 'string') throw new Error('the engines could not be started, or have ended')
    return line
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    answer,
    tell: (line) => {
      const told = last.then(() => {
        keeper.stdin.write(`${line}\n`)
        return answer()
      })
      last = told.catch(() => undefined)
      return told
    },
    end: async () => {
      keeper.stdin.end()
      await gone
    },
  }
}
