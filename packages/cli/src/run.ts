import { type ExitCode, exitCodes, outcomeOf } from './failures.ts'
import { printableLines } from './printable.ts'
import { createProgram } from './program.ts'
import type { World } from './world.ts'

/** Runs one command line, without the name of the program; answers its exit code. */
export async function run(args: readonly string[], world: World): Promise<ExitCode> {
  try {
    await createProgram(world).parseAsync([...args], { from: 'user' })
    return exitCodes.ok
  } catch (error) {
    const { exitCode, text } = outcomeOf(error, world.signal)
    // Further lines are indented: none of them looks like a line of the program.
    if (text !== '') world.stderr.write(`svc: ${printableLines(text).replaceAll('\n', '\n  ')}\n`)
    return exitCode
  }
}
