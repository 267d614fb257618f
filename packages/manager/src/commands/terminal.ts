// The environment of the operator CLI: variables, streams and the exit code. Tests replace it to run commands
// in process.
import type { Writable } from 'node:stream'
import type { ConfigSource } from '../config/config.ts'

type Output = Writable & { isTTY?: boolean; columns?: number }

/**
 * Escapes control characters and bidirectional controls, which user-supplied names may contain. In a
 * line of JSON, these escapes do not change the value.
 */
const escapeControls = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

type TerminalOptions = {
  env: ConfigSource['env']
  stdout: Output
  stderr: Output
  /** Exits immediately after help or a usage error, before a write to a closed pipe can fail. */
  exit?: (code: number) => never
}

/** Creates the environment, the standard streams and the exit code of one command. */
export function createTerminal(options: TerminalOptions) {
  const { stdout, stderr } = options
  return {
    ...options,
    /** The exit code if the command does not throw. */
    exitCode: 0,
    /** Prints one line of the result. */
    say: (line: string): void => {
      stdout.write(`${escapeControls(line)}\n`)
    },
    /** Prints one line to standard error, so that standard output stays machine-readable. */
    warn: (line: string): void => {
      stderr.write(`${escapeControls(line)}\n`)
    },
    /** Prints part of a progress display if standard error is a terminal. */
    progress: (text: string): void => {
      if (stderr.isTTY === true) stderr.write(text)
    },
  }
}

export type Terminal = ReturnType<typeof createTerminal>
