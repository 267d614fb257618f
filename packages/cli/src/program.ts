// Defines the command svc. Building the program sends no requests.
import { Argument, Command } from 'commander'
import { commandEntries } from './command-list.ts'
import { type Shell, createCompletionScript, shells } from './completion.ts'
import { addCommand, addGlobalOptions, setAction } from './context.ts'
import { Failure } from './failures.ts'
import { escapeLines } from './printable.ts'
import { formatHelp, helpWidth } from './program-help.ts'
import { version } from './version.ts'
import type { Terminal } from './terminal.ts'

/**
 * Creates the command `svc`. With `args`, loads only the commands that the arguments name; the other commands have only
 * their names. Without `args`, loads all commands.
 */
export async function createProgram(terminal: Terminal, args?: readonly string[]): Promise<Command> {
  const program = new Command('svc')
    .description('The command-line client of the Manager.')
    .usage('[options] <command>')
    .version(version, '-V, --version', 'print the version of svc')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError('To see the commands, run: svc help')
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      // Usage errors quote arguments, which may contain control characters.
      writeErr: (text) => void terminal.stderr.write(escapeLines(text)),
      getOutHelpWidth: () => helpWidth,
      getErrHelpWidth: () => helpWidth,
    })
    .configureHelp({ showGlobalOptions: true, subcommandTerm: (command) => command.name(), formatHelp })
    .addHelpText(
      'after',
      `
Examples:
  $ svc login --url https://manager.example.com
  $ svc help apps create`,
    )
  addGlobalOptions(program)
  await addListedCommands(program, terminal, args)
  addCompletionCommand(program, terminal)
  addHelpCommand(program, terminal)
  return program
}

async function addListedCommands(
  program: Command,
  terminal: Terminal,
  args?: readonly string[],
): Promise<void> {
  const loaded = await Promise.all(
    commandEntries.map(async ({ names, load }) =>
      args === undefined || names.some((name) => args.includes(name)) ? load() : null,
    ),
  )
  for (const [index, { names }] of commandEntries.entries()) {
    const [name, ...aliases] = names
    const add = loaded[index] ?? null
    if (add === null) program.command(name).aliases(aliases)
    else add(program, terminal)
  }
}

function addHelpCommand(program: Command, terminal: Terminal): void {
  const command = addCommand(program, {
    name: 'help',
    description:
      'Print the help of a command, same as --help, or of a topic. To list the topics: svc help topics',
    summary: 'Print the help of a command or a topic.',
    examples: ['help', 'help apps create', 'help variables'],
  }).argument('[command...]', 'the command, such as apps create, or the topic')
  setAction(command, terminal, async (_context, words) => {
    const { findTopic } = await import('./topics.ts')
    const topic = words.length === 1 ? findTopic(words[0] ?? '') : null
    if (topic !== null) return void terminal.stdout.write(topic)
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
  setAction(command, terminal, async (_context, [shell]) => {
    terminal.stdout.write(createCompletionScript(await createProgram(terminal), shell as Shell))
  })
}
