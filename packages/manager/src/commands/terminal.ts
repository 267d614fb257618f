// Everything outside the command line. A test replaces it to run commands in its own process.
import type { Writable } from 'node:stream'
import type { ConfigSource } from '../config/config.ts'

type Output = Writable & { isTTY?: boolean; columns?: number }

/**
 * Control characters and characters that change the direction of a text, in names that users typed, must not reach the
 * terminal. The escape is that of JSON, so that a line of JSON stays the same value.
 */
const escapeControls = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

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
      stdout.write(`${escapeControls(line)}\n`)
    },
    /** Prints one line to standard error: standard output stays machine-readable. */
    warn: (line: string): void => {
      stderr.write(`${escapeControls(line)}\n`)
    },
    /** Prints a part of a progress display, only if standard error is a terminal. */
    progress: (text: string): void => {
      if (stderr.isTTY === true) stderr.write(text)
    },
  }
}

export type Terminal = ReturnType<typeof createTerminal>
