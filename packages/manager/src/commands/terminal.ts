// Everything outside the command line. A test replaces it to run commands in its own process.
import type { Writable } from 'node:stream'
import type { ConfigSource } from '../config/config.ts'

type Output = Writable & { isTTY?: boolean; columns?: number }

/** Control characters in names that users typed must not reach the terminal. */
const printable = (text: string): string => text.replace(/\p{Cc}/gu, '?')

type Surroundings = {
  env: ConfigSource['env']
  stdout: Output
  stderr: Output
  /** Ends the process after help or a usage error, before it notices that the reader of a pipe is gone. */
  exit?: (code: number) => never
}

/** The environment, the standard streams and the exit code of one command. */
export function createTerminal(surroundings: Surroundings) {
  const { stdout, stderr } = surroundings
  return {
    ...surroundings,
    /** Exit code of a command that ends without an error. */
    exitCode: 0,
    /** Prints one line of the result. */
    say: (line: string): void => {
      stdout.write(`${printable(line)}\n`)
    },
    /** Prints one line to standard error: standard output stays machine-readable. */
    warn: (line: string): void => {
      stderr.write(`${printable(line)}\n`)
    },
    /** Prints a part of a progress display, only if standard error is a terminal. */
    progress: (text: string): void => {
      if (stderr.isTTY === true) stderr.write(text)
    },
  }
}

export type Terminal = ReturnType<typeof createTerminal>
