// The operator's command line in the process of the test: starting another one takes a second.
import { Writable } from 'node:stream'
import type { CommandResult } from '@manager/harness/process.ts'
import { run } from '../../src/commands/run.ts'
import { type Terminal, createTerminal } from '../../src/commands/terminal.ts'
import { loadConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/open-database.ts'
import { createLog } from '../../src/platform/log/log.ts'
import { settings } from '../../src/settings.ts'
import { closeWorld, createWorld } from '../../src/world.ts'

/** A stream that keeps the text written to it. */
function createCollector() {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') }
}

/** Gives a terminal to a command in this process, and returns what it printed there. */
export async function runAtTerminal(
  env: Record<string, string | undefined>,
  command: (terminal: Terminal) => Promise<number>,
): Promise<CommandResult> {
  const [stdout, stderr] = [createCollector(), createCollector()]
  const code = await command(createTerminal({ env, stdout: stdout.stream, stderr: stderr.stream }))
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

/** Runs one command of the operator's command line in this process: starting another one takes a second. */
export const runManager = (args: string[], env: Record<string, string | undefined>): Promise<CommandResult> =>
  runAtTerminal(env, (terminal) => run(args, terminal))

/** Returns the message of the error that stops a start before the service listens; null if there is none. */
export async function startRefusal(env: Record<string, string | undefined>): Promise<string | null> {
  const config = loadConfig({ env }, settings)
  const world = createWorld(config, { log: createLog('silent', { write: () => undefined }) })
  try {
    await openDatabase(config, world)
    return null
  } catch (error) {
    return (error as Error).message
  } finally {
    await closeWorld(world)
  }
}
