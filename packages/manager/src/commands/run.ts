import { CommanderError } from 'commander'
import { ConfigError } from '../config/config.ts'
import { createProgram } from './program.ts'
import type { Terminal } from './terminal.ts'

/** Runs one command line, without the name of the program; returns its exit code. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(args, { from: 'user' })
    return terminal.exitCode
  } catch (error) {
    // Commander has already printed the help, the version or the usage error.
    if (error instanceof CommanderError) return error.exitCode
    // It has a line for each problem, which may quote a value.
    if (error instanceof ConfigError) for (const line of error.message.split('\n')) terminal.warn(line)
    else terminal.warn(`error: ${(error as Error).message}`)
    return 1
  }
}
