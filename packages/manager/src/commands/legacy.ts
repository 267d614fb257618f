import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Command } from 'commander'
import type { Terminal } from './terminal.ts'

/** The import code is in a separate package, which the container image includes. */
const programFile = new URL('../../../legacy/src/legacy.ts', import.meta.url).pathname

/**
 * Adds the `manager legacy` command, which starts a separate program and passes it all arguments, including
 * --help.
 */
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

/**
 * Runs the program and returns its exit code. The child inherits the standard streams. In tests, its output
 * is piped to the given streams.
 */
async function runLegacy(args: readonly string[], { env, stdout, stderr }: Terminal): Promise<number> {
  const output = stdout === process.stdout ? 'inherit' : 'pipe'
  const child = spawn(process.execPath, [programFile, ...args], {
    env: { ...env },
    // The child exits when the IPC channel closes, so killing this process also stops the child.
    stdio: ['inherit', output, output, 'ipc'],
  })
  child.stdout?.pipe(stdout, { end: false })
  child.stderr?.pipe(stderr, { end: false })
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}
