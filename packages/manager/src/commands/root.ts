// Setup shared by all operator CLI programs. Creating a program does not read the configuration.
import { Command, CommanderError } from 'commander'
import { ConfigError } from '../config/config.ts'
import type { Terminal } from './terminal.ts'

const defaultWidth = 80

/** Creates a program without commands that prints to the terminal. */
export function createRoot(name: string, terminal: Terminal): Command {
  const { stdout, stderr } = terminal
  return (
    new Command(name)
      .showHelpAfterError()
      // Commands inherit both settings when they are added, so apply the settings before any command is added.
      .exitOverride((error) => {
        terminal.exit?.(error.exitCode)
        throw error
      })
      .configureOutput({
        writeOut: (text) => void stdout.write(text),
        writeErr: (text) => void stderr.write(text),
        getOutHelpWidth: () => stdout.columns ?? defaultWidth,
        getErrHelpWidth: () => stderr.columns ?? defaultWidth,
      })
  )
}

/** Runs one command line, given without the program name, and returns its exit code. */
export async function runProgram(
  program: Command,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' })
    return terminal.exitCode
  } catch (error) {
    // Commander has already printed the help, the version or the usage error.
    if (error instanceof CommanderError) return error.exitCode
    // The message has one line per problem and may quote values, so each line is escaped separately.
    if (error instanceof ConfigError) for (const line of error.message.split('\n')) terminal.warn(line)
    else terminal.warn(`error: ${(error as Error).message}`)
    return 1
  }
}
