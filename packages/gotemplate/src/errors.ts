// Errors and their positions. The engine throws a Failure internally. `parse` and `execute` convert it to a
// TemplateError, the only error that they throw.

/** The limit that stopped a parse or an execution. */
export type Bound = 'length' | 'nesting' | 'nodes' | 'steps' | 'outputBytes' | 'depth'

interface ErrorParts {
  readonly phase: 'parse' | 'exec'
  readonly name: string
  readonly source: string
  readonly position: number
  readonly reason: string
  readonly bound: Bound | null
  readonly missingKey: string | null
  readonly output: string
  readonly cause?: unknown
}

/** A template could not be parsed or executed. The message contains the position and an excerpt of the template. */
export class TemplateError extends Error {
  /** The phase that failed: `parse`, or `exec` after the execution has started. */
  readonly phase: 'parse' | 'exec'
  /** The problem, without the position. */
  readonly reason: string
  /** The line in the template, starting at 1. */
  readonly line: number
  /** The column in that line in characters, starting at 1. */
  readonly column: number
  /** The affected line with a caret under the position. */
  readonly excerpt: string
  /** The exhausted limit or budget, or null if the template itself is at fault. */
  readonly bound: Bound | null
  /** The missing key, if missing keys are errors. Null for every other failure. */
  readonly missingKey: string | null
  /** The output written before the execution failed. */
  readonly output: string

  constructor(parts: ErrorParts) {
    const { line, column, excerpt } = locate(parts.source, parts.position)
    super(`${parts.name}:${line}:${column}: ${parts.reason}\n${excerpt}`, { cause: parts.cause })
    this.name = 'TemplateError'
    this.phase = parts.phase
    this.reason = parts.reason
    this.line = line
    this.column = column
    this.excerpt = excerpt
    this.bound = parts.bound
    this.missingKey = parts.missingKey
    this.output = parts.output
  }
}

const REASON_LENGTH = 300

/** A failure inside the engine. Without a position, it is attributed to the current action. */
export class Failure extends Error {
  readonly position: number | null
  readonly bound: Bound | null

  constructor(reason: string, position: number | null = null, bound: Bound | null = null) {
    // The reason is truncated, because it may quote a long template.
    super(reason.length > REASON_LENGTH ? `${reason.slice(0, REASON_LENGTH)}…` : reason)
    this.position = position
    this.bound = bound
  }
}

/** A key is missing in the data, and missing keys are errors. */
export class MissingKeyFailure extends Failure {
  readonly key: string

  constructor(description: string, key: string, position: number) {
    super(`${description} for key ${JSON.stringify(key)}`, position)
    this.key = key
  }
}

export function fail(reason: string, position: number | null = null): never {
  throw new Failure(reason, position)
}

/** The number of characters shown on each side of a position. */
const EXCERPT_REACH = 40

/** Returns the line and column of a position, and an excerpt of the source. */
export function locate(source: string, position: number): { line: number; column: number; excerpt: string } {
  const start = source.lastIndexOf('\n', position - 1) + 1
  const newline = source.indexOf('\n', position)
  const end = newline === -1 ? source.length : newline
  let line = 1
  for (let i = source.indexOf('\n'); i !== -1 && i < start; i = source.indexOf('\n', i + 1)) line++
  let column = 1
  for (let i = start; i < position; i++) if (!isSecondHalf(source, i)) column++
  // A character has at most two UTF-16 units, so twice as many units contain enough characters.
  const before = Array.from(source.slice(Math.max(start, position - 2 * EXCERPT_REACH), position)).slice(
    -EXCERPT_REACH,
  )
  const after = Array.from(source.slice(position, Math.min(end, position + 2 * EXCERPT_REACH)))
  const margin = before.map((character) => (character === '\t' ? '\t' : ' ')).join('')
  const excerpt = `  ${[...before, ...after.slice(0, EXCERPT_REACH)].join('')}\n  ${margin}^`
  return { line, column, excerpt }
}

/** Returns whether the unit is the second half of a surrogate pair. Sources are well-formed. */
function isSecondHalf(source: string, at: number): boolean {
  const code = source.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}
