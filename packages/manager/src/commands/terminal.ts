// Everything outside the operator CLI, such as its environment and streams. Tests replace it to run commands in
// process.
import type { Writable } from 'node:stream'
import type { ConfigSource } from '../config/config.ts'

type Output = Writable & { isTTY?: boolean; columns?: number }

/**
 * Control characters and bidirectional controls in user-supplied names must not reach the terminal. The JSON escape
 * keeps the value of a JSON line unchanged.
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
  /** Exits immediately after help or a usage error, before a write to a closed pipe can fail. */
  exit?: (code: number) => never
}

/** The environment, the standard streams and the exit code of one command. */
export function createTerminal(surroundings: Surroundings) {
  const { stdout, stderr } = surroundings
  return {
    ...surroundings,
    /** Exit code of a command that does not throw. */
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
