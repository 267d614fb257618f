// Runs the operator CLI in the test process, because starting another process takes 1 s.
import { Writable } from 'node:stream'
import type { CommandResult } from '@manager/harness/process.ts'
import { run } from '../../src/commands/run.ts'
import { type Terminal, createTerminal } from '../../src/commands/terminal.ts'
import { loadConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/open-database.ts'
import { createLog } from '../../src/platform/log/log.ts'
import { settings } from '../../src/settings.ts'
import { closeWorld, createWorld } from '../../src/world.ts'

/** Returns a stream that collects the text written to it. */
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

/** Runs a command at a fake terminal in this process and returns its output. */
export async function runAtTerminal(
  env: Record<string, string | undefined>,
  command: (terminal: Terminal) => Promise<number>,
): Promise<CommandResult> {
  const [stdout, stderr] = [createCollector(), createCollector()]
  const code = await command(createTerminal({ env, stdout: stdout.stream, stderr: stderr.stream }))
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

/** Runs one operator CLI command in this process. */
export const runManager = (args: string[], env: Record<string, string | undefined>): Promise<CommandResult> =>
  runAtTerminal(env, (terminal) => run(args, terminal))

/** Returns the message of the error that stops the service before it listens, or null if it starts. */
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
