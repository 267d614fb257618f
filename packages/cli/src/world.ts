// Everything outside the program: what a test replaces.
import type { Readable, Writable } from 'node:stream'

export type Output = Writable & { isTTY?: boolean; columns?: number }
export type World = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The home of the person, where their configuration is. */
  readonly home: string
  readonly stdin: Readable & { isTTY?: boolean }
  readonly stdout: Output
  readonly stderr: Output
  /** Fires when the program shall end. */
  readonly signal: AbortSignal
  /** The name of the machine. */
  readonly hostname: string
}

/** Whether a person sits in front of the program, and can be asked. */
export const isInteractive = ({ stdin, stderr }: World): boolean =>
  stdin.isTTY === true && stderr.isTTY === true
