// Defines all commands of svc. Building the program reads no files and sends no requests.
import { Argument, Command } from 'commander'
import { addAppCommands } from './commands/apps.ts'
import { addApplyCommand } from './commands/apply.ts'
import { addAuditCommands } from './commands/audit.ts'
import { addEsbCommands } from './commands/esb.ts'
import { addMachineUserCommands } from './commands/machine-users.ts'
import { addPiletCommands } from './commands/pilets.ts'
import { addSettingsCommands } from './commands/settings.ts'
import { addSignInCommands } from './commands/sign-in.ts'
import { addTokenCommands } from './commands/tokens.ts'
import { addTriggerCommands } from './commands/triggers.ts'
import { type Shell, createCompletionScript, shells } from './completion.ts'
import { addCommand, addGlobalOptions, setAction } from './context.ts'
import { Failure } from './failures.ts'
import { escapeLines } from './printable.ts'
import { addResourceCommands } from './resource-commands.ts'
import { resources } from './resources/all.ts'
import { version } from './version.ts'
import type { Terminal } from './terminal.ts'

/** Adds commands that only some resources have. */
const extraCommands: Readonly<Record<string, (group: Command, terminal: Terminal) => void>> = {
  apps: addAppCommands,
  'machine-users': addMachineUserCommands,
  pilets: addPiletCommands,
  tokens: addTokenCommands,
  triggers: addTriggerCommands,
}
const helpWidth = 80

/** Creates the command `svc` with all its subcommands. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('svc')
    .description('The command-line client of the Manager.')
    .version(version, '-V, --version', 'print the version of svc')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      // Usage errors quote arguments, which may contain control characters.
      writeErr: (text) => void terminal.stderr.write(escapeLines(text)),
      getOutHelpWidth: () => helpWidth,
      getErrHelpWidth: () => helpWidth,
    })
    .configureHelp({ showGlobalOptions: true, subcommandTerm: (command) => command.name() })
    .addHelpText(
      'after',
      `
Examples:
  $ svc login --url https://manager.example.com
  $ svc projects list
  $ svc apply -f shop.yaml
  $ svc pilet publish shop-cart-1.2.0.tgz -p shop

Exit codes: 0 success, 1 rejected or failed, 2 usage error, 3 not signed in,
4 not found, 5 no connection, 130 interrupted.`,
    )
  addGlobalOptions(program)
  addSignInCommands(program, terminal)
  for (const resource of resources) {
    const group = addResourceCommands(program, terminal, resource)
    extraCommands[resource.name]?.(group, terminal)
  }
  addSettingsCommands(program, terminal)
  addEsbCommands(program, terminal)
  addAuditCommands(program, terminal)
  addApplyCommand(program, terminal)
  addCompletionCommand(program, terminal)
  addHelpCommand(program, terminal)
  return program
}

function addHelpCommand(program: Command, terminal: Terminal): void {
  const command = addCommand(program, {
    name: 'help',
    description: 'Print the help of a command; same as --help.',
    examples: ['help', 'help apps create'],
  }).argument('[command...]', 'the command, such as apps create')
  setAction(command, terminal, (_context, words) => {
    let target = program
    for (const word of words) {
      const subcommand = target.commands.find((candidate) =>
        [candidate.name(), ...candidate.aliases()].includes(word),
      )
      if (subcommand === undefined)
        throw new Failure('usage', `Unknown command: svc ${words.join(' ')}. See: svc help`)
      target = subcommand
    }
    target.outputHelp()
  })
}

function addCompletionCommand(program: Command, terminal: Terminal): void {
  const command = addCommand(program, {
    name: 'completion',
    description: 'Print a shell script that completes commands and options.',
    examples: ['completion bash > ~/.local/share/bash-completion/completions/svc'],
  }).addArgument(new Argument('<shell>', 'your shell').choices(shells))
  setAction(command, terminal, (_context, [shell]) => {
    terminal.stdout.write(createCompletionScript(program, shell as Shell))
  })
}
