import { type ExitCode, exitCodes, outcomeOf } from './failures.ts'
import { printableLines } from './printable.ts'
import { createProgram } from './program.ts'
import type { Terminal } from './terminal.ts'

/** Runs one command line, without the program name, and returns its exit code. */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  try {
    await createProgram(terminal).parseAsync([...args], { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    const { exitCode, text } = outcomeOf(error, terminal.signal)
    // Further lines are indented, so that untrusted text cannot imitate a line of the program.
    if (text !== '') terminal.stderr.write(`svc: ${printableLines(text).replaceAll('\n', '\n  ')}\n`)
    return exitCode
  }
}
