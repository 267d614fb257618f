// The streams and the environment of the program. Tests replace them.
import type { Readable, Writable } from 'node:stream'

export type Output = Writable & { isTTY?: boolean; columns?: number }
export type Terminal = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The home folder of the user, which contains the configuration. */
  readonly home: string
  /** The working folder, which may be linked to a project. */
  readonly cwd: string
  readonly stdin: Readable & { isTTY?: boolean }
  readonly stdout: Output
  readonly stderr: Output
  /** Aborted when the program must stop. */
  readonly signal: AbortSignal
  readonly hostname: string
}

/** Returns whether the program can prompt the user. */
export const isInteractive = ({ stdin, stderr }: Pick<Terminal, 'stdin' | 'stderr'>): boolean =>
  stdin.isTTY === true && stderr.isTTY === true
