// Defines the exit codes, and errors that select one of them. This file imports nothing, because every start loads it.

export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notSignedIn: 3,
  notFound: 4,
  connection: 5,
  interrupted: 130,
  terminated: 143,
} as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** An error whose message is printed unchanged. `kind` selects the exit code. */
export class Failure extends Error {
  readonly kind: keyof typeof exitCodes
  readonly exitCode: ExitCode

  constructor(kind: keyof typeof exitCodes, message: string) {
    super(message)
    this.name = 'Failure'
    this.kind = kind
    this.exitCode = exitCodes[kind]
  }
}
