import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Command } from 'commander'
import type { Terminal } from './terminal.ts'

/** A package of its own, which the image contains. */
const program = new URL('../../../legacy/src/legacy.ts', import.meta.url).pathname

/** manager legacy … The arguments, help included, are those of a program of its own, which this starts. */
export function addLegacyCommands(manager: Command, terminal: Terminal): void {
  manager
    .command('legacy')
    .description(
      'Import an installation without versioned migrations (docs/guides/operators/migrate-from-an-older-installation.md).',
    )
    .helpOption(false)
    .helpCommand(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (_flags, command: Command) => {
      const { config } = command.optsWithGlobals<{ config?: string }>()
      const args = config === undefined ? command.args : ['--config', config, ...command.args]
      terminal.exitCode = await runLegacy(args, terminal)
    })
}

/** Resolves with its exit code. Its output is that of this process, or is collected with it. */
async function runLegacy(args: readonly string[], { env, stdout, stderr }: Terminal): Promise<number> {
  const output = stdout === process.stdout ? 'inherit' : 'pipe'
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...env },
    // It ends when the channel closes: killing this process kills it too.
    stdio: ['inherit', output, output, 'ipc'],
  })
  child.stdout?.pipe(stdout, { end: false })
  child.stderr?.pipe(stderr, { end: false })
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}
