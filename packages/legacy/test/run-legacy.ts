// Runs `manager legacy …` in the test process, because starting another process takes seconds.
import type { CommandResult } from '@manager/harness/process.ts'
import { runAtTerminal } from '../../manager/test/kit/commands.ts'
import { run } from '../src/command.ts'

/** The program that `manager legacy` starts. */
export const program = new URL('../src/legacy.ts', import.meta.url).pathname

export const runLegacy = (args: string[], env: Record<string, string | undefined>): Promise<CommandResult> =>
  runAtTerminal(env, (terminal) => run(args, terminal))
