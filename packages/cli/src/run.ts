import { CommanderError } from 'commander'
import { completeCommand } from './completion.ts'
import { type ExitCode, exitCodes } from './failures.ts'
import { escapeLines } from './printable.ts'
import { createProgram } from './program.ts'
import type { Terminal } from './terminal.ts'

/** Runs one command line without the program name. Returns the exit code. */
export async function run(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  // The completion scripts of shells run this command. It is hidden, because people have no use for it.
  if (args[0] === completeCommand)
    return (await import('./complete/complete.ts')).complete(args.slice(1), terminal)
  try {
    const program = await createProgram(terminal, args)
    await program.parseAsync([...args], { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    // Commander has already printed its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    const { getOutcome } = await import('./outcomes.ts')
    const { exitCode, text } = getOutcome(error, terminal.signal)
    // Indent all lines after the first, so that untrusted text cannot imitate output of the program.
    if (text !== '') terminal.stderr.write(`svc: ${escapeLines(text).replaceAll('\n', '\n  ')}\n`)
    return exitCode
  }
}
