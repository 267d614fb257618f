import { createProgram } from './program.ts'
import { runProgram } from './root.ts'
import type { Terminal } from './terminal.ts'

/** Runs one command line, given without the program name, and returns its exit code. */
export function run(args: readonly string[], terminal: Terminal): Promise<number> {
  // The legacy program prints its own help, so this program must not handle `legacy --help`.
  const commandLine = args[0] === 'help' && args[1] === 'legacy' ? ['legacy', '--help'] : args
  return runProgram(createProgram(terminal), commandLine, terminal)
}
