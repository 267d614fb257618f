// A client for a keeper, which is a process that runs servers for the harness. The keeper replies to each
// line with one line, and cleans up when its stdin closes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export type Keeper = {
  /** Resolves with the next line that the keeper prints. */
  nextLine(): Promise<string>
  /** Sends a line and resolves with the reply. Lines are processed in order. */
  send(line: string): Promise<string>
  /** Closes the keeper's stdin and waits until the keeper has cleaned up. */
  end(): Promise<void>
}

/** Starts the keeper in its own session, so that signals to the harness do not reach it. */
export function startKeeper(file: string, args: readonly string[] = []): Keeper {
  const keeper = spawn(process.execPath, [file, ...args], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  keeper.stdin.on('error', () => undefined)
  const gone = once(keeper, 'exit')
  const lines = createInterface(keeper.stdout)
  const nextLine = async (): Promise<string> => {
    const [line] = (await Promise.race([once(lines, 'line'), gone])) as [unknown]
    if (typeof line !== 'string')
      throw new Error('the engine keeper exited: the engines failed to start or stopped')
    return line
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    nextLine,
    send: (line) => {
      const reply = last.then(() => {
        keeper.stdin.write(`${line}\n`)
        return nextLine()
      })
      last = reply.catch(() => undefined)
      return reply
    },
    end: async () => {
      keeper.stdin.end()
      await gone
    },
  }
}
