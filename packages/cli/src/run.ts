import { type ExitCode, exitCodes, getOutcome } from './failures.ts'
import { escapeLines } from './printable.ts'
import { createProgram } from './program.ts'
import type { Terminal } from './terminal.ts'

/** Runs one command line without the program name. Returns the exit code. */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    await createProgram(terminal).parseAsync([...args], { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    const { exitCode, text } = getOutcome(error, terminal.signal)
    // Indent all lines after the first, so that untrusted text cannot imitate output of the program.
    if (text !== '') terminal.stderr.write(`svc: ${escapeLines(text).replaceAll('\n', '\n  ')}\n`)
    return exitCode
  }
}
